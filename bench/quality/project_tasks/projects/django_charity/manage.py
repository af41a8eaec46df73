"""Stands for the file by which a Django project is known."""

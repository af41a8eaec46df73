"""Installs components and takes them back."""

"""Finds, runs and downloads embedding models and cross-encoders; everything but a download works offline."""

"""Refreshes the home in the background when a refresh is due."""

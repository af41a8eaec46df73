"""Keeps what was read up to date, in the background and when it is due."""

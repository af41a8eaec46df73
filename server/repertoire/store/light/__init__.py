"""Readers of the database with the standard library alone, for what runs before the environment is there."""

"""Installs components for a person, and undoes installations."""

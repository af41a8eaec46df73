"""Measures retrieval and static checks on labelled sets."""

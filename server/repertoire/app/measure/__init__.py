"""Measures retrieval and trust over labelled sets."""

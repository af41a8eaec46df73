"""Reads sources into the graph and brings it in order: ingest, embed, relate, settle, remove."""

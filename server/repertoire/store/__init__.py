"""Stores the graph (nodes, edges, full text, vectors, events) in one SQLite file; only `store` and `boot` use SQL."""

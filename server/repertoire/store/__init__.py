"""The graph in one SQLite file: nodes, edges, full text, vectors, events; the only room that speaks SQL."""

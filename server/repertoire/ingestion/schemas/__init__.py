"""JSON schemas of the files that components are read from."""

"""Turns the files of a source into components and edges between them: rules only, no I/O."""

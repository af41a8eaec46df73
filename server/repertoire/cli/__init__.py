"""The command line: parses, calls one verb of the app, renders."""

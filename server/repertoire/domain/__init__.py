"""The nouns of Repertoire and its errors: standard library only, no I/O, importable by Python 3.9 hooks."""

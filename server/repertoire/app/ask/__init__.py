"""Answers questions about components: search, recommendation, explanation, combinations and overlaps."""

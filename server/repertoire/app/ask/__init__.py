"""Answers questions: search, recommend, explain, and what goes with what."""

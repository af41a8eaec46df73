"""Traces of solved problems: contributed with consent, found when the error comes back, and voted on."""

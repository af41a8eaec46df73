"""Traces: what was solved once is told with consent, found when its error comes back, and voted on."""

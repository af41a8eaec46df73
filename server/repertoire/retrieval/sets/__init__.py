"""Assembles the set of components that serves a task best, and explains why a candidate is not in it."""

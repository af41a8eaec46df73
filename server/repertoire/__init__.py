"""Repertoire: recommends the smallest set of Claude Code components that fits the task, and learns."""

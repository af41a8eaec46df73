"""Repertoire: recommends the smallest set of Claude Code components that fits the task, and learns."""

__version__ = "0.1.0"  # tests hold it equal to the manifests

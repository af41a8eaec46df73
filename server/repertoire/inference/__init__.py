"""Embedding models: which weights lie on this machine, running them offline, fetching others on request."""

"""Brings sources into the graph and out of it: ingests and embeds them, and relates components of all sources."""

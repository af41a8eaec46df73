"""Reads packages: their manifests, and the tools that the MCP servers in them register."""

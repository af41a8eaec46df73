"""Renders answers as text for a person or a model, and as JSON objects; the CLI and the MCP server share both."""

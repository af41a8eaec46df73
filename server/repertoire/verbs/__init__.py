"""Defines each verb of the CLI and the MCP server once: how it is answered, logged, and rendered as text and JSON."""

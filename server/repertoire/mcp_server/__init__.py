"""Implements the MCP server `graph`: tools for the model, and hook entry points that the model never sees."""

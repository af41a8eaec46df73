"""The text of answers, as a person and a model read them at a glance; the CLI and the MCP server share it."""

"""What packages hold: their manifests, and the tools that MCP servers in them register."""

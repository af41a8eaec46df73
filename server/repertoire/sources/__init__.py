"""Reads the sources of components: folders, repositories, packages, Claude Code's files; nothing is executed."""

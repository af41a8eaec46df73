"""Installs components into Claude Code on this machine, so that each installation can be undone."""

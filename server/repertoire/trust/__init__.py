"""Checks components for dangerous code and prompt injection, and redacts secrets from text that is stored."""

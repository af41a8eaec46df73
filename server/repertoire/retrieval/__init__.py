"""Ranks components for a question and assembles sets of them: one stage a module, pure functions over values."""

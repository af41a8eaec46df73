"""Answers and records the hooks' calls in a session: greeting at the start, hints on prompts, uses and outcomes."""

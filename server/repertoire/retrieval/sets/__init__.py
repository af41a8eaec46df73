"""The smallest set that serves a task: its candidates, how they are put together, why others are not in it."""

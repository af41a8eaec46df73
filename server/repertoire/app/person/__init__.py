"""Keeps a person's decisions: mutes, corrections, feedback, accepted flags; and forgets what was recorded."""

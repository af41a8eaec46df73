"""Changes what Claude Code has on this machine, so that each change can be taken back."""

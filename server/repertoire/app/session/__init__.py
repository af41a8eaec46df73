"""What hooks say and record in a session: greeting, hint, outcome."""

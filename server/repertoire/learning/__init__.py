"""What use teaches: which prompts ask for something, what a session has seen, and which component a call selected."""

"""One module for each thing a user can ask for; wiring alone names concrete parts."""

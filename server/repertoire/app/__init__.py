"""What a user can ask for, by subject; `kernel` is what every verb is handed, and `wiring` alone makes it."""

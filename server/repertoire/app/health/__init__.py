"""Reports the state and faults of the home, the client and the components; repairs a damaged database."""

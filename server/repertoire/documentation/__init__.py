"""Rules of documentation: how documents become sections and facts, and what a pack of them says of itself."""

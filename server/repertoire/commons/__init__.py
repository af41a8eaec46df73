"""The server of a commons: a team's shared traces on PostgreSQL, served over REST, in an environment of its own."""

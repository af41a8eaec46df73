"""The client of a team's commons: what this home sends, what it brings, and what it remembers of both."""

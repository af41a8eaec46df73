"""Rules of project memory: what a file holds, how its names lead to other files, and what follows from tasks."""

"""Use cases of project memory: read a project, search it, and keep notes, tasks and procedures."""

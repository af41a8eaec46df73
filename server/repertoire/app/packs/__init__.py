"""Use cases of knowledge packs: build, list, ask."""

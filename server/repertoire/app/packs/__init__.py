"""Use cases of knowledge packs: build, update, ask, examine, audit, share."""

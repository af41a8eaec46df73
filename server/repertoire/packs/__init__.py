"""Rules of knowledge packs: how documents are read, and what a manifest says."""

"""The rules of traces, without storage: error signatures, hard-won solutions, ranking and trust."""

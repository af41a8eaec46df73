"""Names the ways of asking a project's memory: the modes and kinds of a search, the actions on a symbol."""

from __future__ import annotations

from repertoire.domain.project import CODE, DOCS, ENTRIES, FILE

HYBRID, VECTOR, KEYWORD = "hybrid", "vector", "keyword"
MODES = (HYBRID, VECTOR, KEYWORD)
KINDS = (CODE, DOCS, FILE, *ENTRIES)

FIND, CALLERS, CALLEES, IMPACT, BASES, DERIVED = "find", "callers", "callees", "impact", "bases", "derived"
ACTIONS = (FIND, CALLERS, CALLEES, IMPACT, BASES, DERIVED)

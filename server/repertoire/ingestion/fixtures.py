"""Tells which files of a source belong to its tests: what looks like a component there is a fixture."""

from __future__ import annotations

REASON = "belongs to the tests of its repository"
_TESTS = frozenset(("tests", "__tests__", "fixtures", "__fixtures__", "test-fixtures", "test_fixtures", "testdata"))
# Folders below which "tests" is a name that somebody gave: of a plugin, a namespace of commands, a skill's own part.
_NAMING = frozenset(("skills", "agents", "commands", "hooks", "plugins", "servers"))


def is_fixture(path: str) -> bool:
    """Tell whether a file lies in a folder of tests or fixtures that is no part of a component or plugin."""
    for name in path.split("/")[:-1]:
        if name in _NAMING:
            return False
        if name.lower() in _TESTS:
            return True
    return False

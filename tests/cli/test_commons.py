"""The commands that run the server of a commons, before there is an environment for it."""

from __future__ import annotations

import pytest

from cli.conftest import Run

COMMANDS = (("serve",), ("work",), ("jobs",), ("backfill",), ("key", "team", "ann", "ann.key"))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_a_database_nothing_is_built_before_that_is_told(run: Run, words: tuple[str, ...]) -> None:
    nothing = {"REPERTOIRE_COMMONS_PYTHON": "/nothing/here"}  # looked at first of all where one is to be built
    done = run("commons", *words, **nothing)
    assert done.returncode == 1
    assert done.stderr == (
        "repertoire: DATABASE_URL is not set; name a PostgreSQL with pgvector, or try a commons with --dev\n"
    )
    for more, variables in ((["--dev"], nothing), ([], {**nothing, "DATABASE_URL": "postgresql://nobody@/none"})):
        assert "/nothing/here, which cannot be run" in run("commons", *words, *more, **variables).stderr

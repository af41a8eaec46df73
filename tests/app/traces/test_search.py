"""What a search of traces answers: the newest version before its older ones, and nothing beside what fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.clock import now
from repertoire.app.kernel import Repertoire
from repertoire.app.traces.contribute import amended, confirm, draft
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceAnswer, TraceQuery, search_traces
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.domain.trace import Trace
from repertoire.rendering.traces import found_text

VITE = TraceFields(
    "vite build is killed", "The build dies with exit code 137 in CI.", "Raise the memory limit.", ("vite",)
)
DOCKER = TraceFields(
    "compose cannot reach postgres", "Connection refused on 5432.", "Wait for the health check.", ("docker",)
)


@pytest.fixture
def repertoire(tmp_path: Path) -> Iterator[Repertoire]:
    with open_repertoire(tmp_path, environment={}) as opened:
        yield opened


def keep(repertoire: Repertoire, told: TraceFields) -> Trace:
    drafted = draft(repertoire.store, told, moment=Moment(now(), "s", "/srv/acme"))
    return confirm(repertoire.store, drafted.token, now=now()).trace


def look(repertoire: Repertoire, query: str, *, include_expired: bool = False) -> TraceAnswer:
    wanted = TraceQuery(query, include_expired=include_expired)
    return search_traces(repertoire.traces, wanted, embedder=repertoire.embedder)


@pytest.mark.parametrize("solutions", [("Set 8192.", "Set the limit."), ("Set 4097.", "Split all of the chunks.")])
def test_of_the_versions_of_a_trace_the_newest_comes_first_and_each_older_one_names_it(
    repertoire: Repertoire, solutions: tuple[str, str]
) -> None:
    versions = [keep(repertoire, replace(VITE, solution="Set 4096."))]
    keep(repertoire, DOCKER)
    for solution in solutions:
        versions.append(keep(repertoire, amended(repertoire.store, versions[-1].key, {"solution": solution})))
    asked = "vite build is killed with exit code 137, set 4096"
    found = look(repertoire, asked, include_expired=True)
    assert [hit.trace.key for hit in found.hits[:3]] == [one.key for one in versions[::-1]]
    said = found_text(found)
    assert said.count(f"superseded by {versions[2].key}") == 2
    assert "said the same by" not in said

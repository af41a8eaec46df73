"""What a search of traces answers: the newest version before its older ones, and nothing beside what fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.clock import now
from repertoire.app.kernel import Repertoire
from repertoire.app.traces import reread
from repertoire.app.traces.contribute import amended, confirm, draft
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceAnswer, TraceQuery, search_traces
from repertoire.app.upkeep.refresh import refresh
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.domain.trace import SUPERSEDED, TEXT, Trace
from repertoire.rendering.traces import contribution_text, found_text
from repertoire.verbs.traces import SEARCH_TRACES
from repertoire.verbs.verb import Context

VITE = TraceFields(
    "vite build is killed", "The build dies with exit code 137 in CI.", "Raise the memory limit.", ("vite",)
)
DOCKER = TraceFields(
    "compose cannot reach postgres", "Connection refused on 5432.", "Wait for the health check.", ("docker",)
)
DNS = TraceFields(
    "no name is resolved in a container", "apt-get cannot reach its mirror.", "Set the DNS of the daemon.", ("docker",)
)


@pytest.fixture
def repertoire(tmp_path: Path) -> Iterator[Repertoire]:
    with open_repertoire(tmp_path, environment={}) as opened:
        yield opened


def keep(repertoire: Repertoire, told: TraceFields) -> Trace:
    drafted = draft(repertoire.store, told, moment=Moment(now(), "s", "/srv/acme"))
    return confirm(repertoire.store, drafted.token, now=now()).trace


def look(repertoire: Repertoire, query: str, *, include_expired: bool = False) -> TraceAnswer:
    return SEARCH_TRACES.run(Context.of(repertoire), TraceQuery(query, include_expired=include_expired))


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


def test_beside_a_trace_that_fits_none_is_told_that_solves_something_else(repertoire: Repertoire) -> None:
    kept = [keep(repertoire, one) for one in (VITE, DOCKER, DNS)]
    found = look(repertoire, "vite build is killed, exit code 137 in CI")
    assert found.fits
    assert [hit.trace.key for hit in found.hits] == [kept[0].key]
    other = keep(repertoire, replace(VITE, title="vite runs out of memory in CI", solution="Build in two chunks."))
    found = look(repertoire, "vite build is killed, exit code 137 in CI")
    assert {hit.trace.key for hit in found.hits} == {kept[0].key, other.key}
    nearest = look(repertoire, "how do I centre a div in a flexbox layout")
    assert not nearest.fits
    assert len(nearest.hits) > 1


LOG = "".join(
    f"tests/orders/test_{number}.py::test_it_works PASSED [{number}%] in the database orders\n" for number in range(400)
)
ROLLED_BACK = "E   sqlalchemy.exc.PendingRollbackError: This Session's transaction has been rolled back\n1 failed\n"


def test_of_a_long_log_the_end_is_kept_where_the_error_is_and_its_author_is_told_what_is_not(
    repertoire: Repertoire,
) -> None:
    told = TraceFields("orders roll back", "One test fails.", "Begin anew.\n" * 2_000, error=f"{LOG}{ROLLED_BACK}")
    drafted = draft(repertoire.store, told, moment=Moment(now(), "s", "/srv/acme"))
    shown = contribution_text(drafted)
    assert "shortened: the problem is longer than 20000 characters" in shown
    assert "shortened: the solution is" in shown
    kept = confirm(repertoire.store, drafted.token, now=now()).trace
    assert kept.context.startswith("One test fails.")
    assert kept.context.endswith(ROLLED_BACK.strip())
    assert max(len(kept.context), len(kept.solution)) <= TEXT
    found = SEARCH_TRACES.run(Context.of(repertoire), TraceQuery("", f"{LOG}{ROLLED_BACK}"))
    assert found.hits[0].error.startswith("PendingRollbackError")


def test_what_is_cut_of_a_long_text_is_cut_after_its_secrets_are_gone(repertoire: Repertoire) -> None:
    key = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "\n".join(["MIIEow/IBAAKCAQ" * 4] * 40)
        + "\n-----END RSA PRIVATE KEY-----"
    )
    kept = keep(repertoire, replace(VITE, solution=LOG + key + "\nmore of it" * 1_040))
    assert "left out" in kept.solution
    assert "MIIEow" not in kept.solution


def test_a_refresh_reads_the_errors_of_traces_again_once_where_the_rules_for_them_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    with open_repertoire(tmp_path, environment={}) as opened:
        kept = keep(opened, replace(DOCKER, error="FATAL: sorry, too many clients already"))
        newer = keep(opened, amended(opened.store, kept.key, {"solution": "Raise max_connections."}))
        older = [replace(one, signatures={"signature:exact:old": "as it was"}) for one in opened.store.traces.all()]
        opened.store.traces.read_again(older, "of an older version", now=now())
        asked = TraceQuery("", "FATAL: sorry, too many clients already", include_expired=True)
        assert not search_traces(opened.traces, asked).hits[0].error
        for _ in range(2):
            refresh(opened.store, tmp_path, settings=opened.settings)
            assert all(hit.error for hit in search_traces(opened.traces, asked).hits)
            assert opened.store.traces.get(newer.key) == newer
            assert opened.store.traces.state(kept.key) == SUPERSEDED
            monkeypatch.setattr(reread, "signatures_of", None)  # what is read once is not read again
        assert not opened.store.traces.showing(["signature:exact:old"])


def test_another_message_of_the_same_exception_is_no_sure_answer_and_the_same_one_is(repertoire: Repertoire) -> None:
    crowded = "psycopg.OperationalError: connection failed: FATAL:  sorry, too many clients already"
    context, solution = "The API fails under load.", "Use pgbouncer and set pool_size=5."
    kept = keep(repertoire, TraceFields("Postgres says too many connections", context, solution, error=crowded))
    for other in (VITE, DNS):
        keep(repertoire, other)
    for printed, fits in (
        ("connection failed: Connection refused", False),
        ("FATAL: sorry, too many clients already", True),
    ):
        asked = TraceQuery("", f"psycopg.OperationalError: {printed}")
        found = SEARCH_TRACES.run(Context.of(repertoire), asked)
        assert (found.hits[0].trace.key, found.fits) == (kept.key, fits)
    unread = SEARCH_TRACES.run(Context.of(repertoire), replace(asked, without=frozenset({"signatures"})))
    assert not unread.hits[0].error
    assert not unread.hits[0].evidence.other_message

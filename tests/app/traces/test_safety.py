"""Traces outlast damage to the database, and what is forgotten of them lies nowhere in the home any more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from repertoire.app.clock import now
from repertoire.app.health.rescue import mend
from repertoire.app.kernel import Repertoire
from repertoire.app.person.forget import ALL, PROJECT, TRACE, forget
from repertoire.app.person.mute import mute
from repertoire.app.session.spool import record_events
from repertoire.app.traces.cache import TraceCache
from repertoire.app.traces.contribute import amended, confirm, draft
from repertoire.app.traces.embed import embed_traces
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.app.traces.voting import NewVote, vote
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import StoreError, UnknownComponent
from repertoire.domain.event import SHOWN, Event, Moment
from repertoire.domain.trace import ACTIVE, DRAFT, SUPERSEDED, Trace
from repertoire.store.database import Store
from store.damages import PAGE, overwrite, spoil_tables
from store.samples import start
from store.test_privacy import READ_ON

HERE, THERE = "/srv/heliotrope/here", "/srv/marigold/there"
FIRST = TraceFields(
    "The xylophone is out of tune",
    "ValueError: no xylophone string number 7",
    "Replace the zither string.",
    uses=("capability:xylophone-tuning",),
)
OTHER = TraceFields("The bassoon is silent", "OSError: no bassoon reed in the box", "Soak the quokka reed.")


def keep(store: Store, told: TraceFields, project: str) -> Trace:
    return confirm(store, draft(store, told, moment=Moment(now(), "s", project)).token, now=now()).trace


def said(repertoire: Repertoire, trace: Trace, note: str, project: str) -> None:
    vote(repertoire.traces, NewVote(trace.key, up=True, note=note), moment=Moment(now(), "s", project))


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    """Return a home with a trace that was amended, voted on, shown and muted, another one, a draft, and a backup."""
    with open_repertoire(tmp_path, environment={}) as repertoire:
        store = repertoire.store
        first, other = keep(store, FIRST, HERE), keep(store, OTHER, THERE)
        said(repertoire, first, "worked with the dulcimer", HERE)
        said(repertoire, other, "worked with the piccolo", THERE)
        keep(store, amended(store, first.key, {"solution": "Replace the lyre string."}), HERE)
        draft(
            store,
            TraceFields("Draft of the ocarina", "It broke.", "Glue it."),
            moment=Moment(now(), "s", HERE),
            token="t",
        )
        record_events(store, [Event(now(), SHOWN, "s", HERE, node=first.key)])
        mute(store, first.key, project="", now=now())
        assert repertoire.embedder is not None
        embed_traces(store, repertoire.embedder)
        store.backup.write(now=now())
        (tmp_path / "repertoire.db.making").write_bytes(b"half a xylophone, half a bassoon")
    return tmp_path


def left(home: Path, *words: str) -> list[str]:
    """Return the words that lie anywhere in the home's files."""
    content = b"".join(file.read_bytes() for file in home.rglob("*") if file.is_file())
    return [word for word in words if word.encode() in content]


def vectors(home: Path) -> int:
    with open_repertoire(home, environment={}) as repertoire:
        assert repertoire.embedder is not None
        return sum(len(space.ids) for space in repertoire.traces.spaces(repertoire.embedder.model))


WORDS = ("xylophon", "zither", "lyre", "dulcim")  # as the full text holds them too
OTHERS = ("bassoon", "quokka", "piccolo")


def test_one_forgotten_trace_is_nowhere_any_more_nor_its_earlier_versions_and_the_others_stay(traced: Path) -> None:
    keys = [key for key in key_by_title(traced) if key.startswith("trace:")]
    with Store.open(traced / "repertoire.db") as store:
        newest = next(trace for trace in store.traces.all(ACTIVE) if trace.title == FIRST.title)
        forget(store, TRACE, trace=newest.key)
        assert [trace.title for trace in store.traces.all(ACTIVE)] == [OTHER.title]
        assert store.preferences.muted() == {}
    gone = [key for key, title in key_by_title(traced, keys).items() if not title]
    assert len(gone) == 2
    assert left(traced, *WORDS, *gone, "heliotrope") == ["heliotrope"], "its draft stays, another trace"
    assert left(traced, *OTHERS, "ocarina") == [*OTHERS, "ocarina"]
    assert vectors(traced) == 2


def key_by_title(home: Path, keys: list[str] | None = None) -> dict[str, str]:
    with Store.open(home / "repertoire.db") as store:
        named = {trace.key: trace.title for trace in store.traces.all()}
    return named if keys is None else {key: named.get(key, "") for key in keys}


def test_an_earlier_version_is_forgotten_alone_and_the_newer_one_names_it_no_more(traced: Path) -> None:
    with Store.open(traced / "repertoire.db") as store:
        old = next(trace for trace in store.traces.all(SUPERSEDED))
        forget(store, TRACE, trace=old.key)
        newest = next(trace for trace in store.traces.all(ACTIVE) if trace.title == FIRST.title)
        assert newest.supersedes == ""
    assert left(traced, old.key, "zither", "dulcimer", "lyre") == ["lyre"]


def test_a_forgotten_project_takes_its_traces_and_drafts_out_of_every_file(traced: Path) -> None:
    with Store.open(traced / "repertoire.db") as store:
        forget(store, PROJECT, project=HERE)
    assert left(traced, *WORDS, "ocarina", "heliotrope") == []
    assert left(traced, *OTHERS) == [*OTHERS]
    assert vectors(traced) == 2


def test_when_all_is_forgotten_no_file_holds_a_trace(traced: Path) -> None:
    with Store.open(traced / "repertoire.db") as store:
        forget(store, ALL)
    assert left(traced, *WORDS, *OTHERS, "ocarina", "heliotrope", "marigold") == []
    assert vectors(traced) == 0


def test_what_another_session_kept_of_a_forgotten_trace_goes_when_the_same_is_asked_again(traced: Path) -> None:
    file, log = traced / "repertoire.db", traced / "repertoire.db-wal"
    reader = start(READ_ON, file)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "inside\n"
    with Store.open(file, wait=0.05) as store:
        newest = next(trace for trace in store.traces.all(ACTIVE) if trace.title == FIRST.title)
        with pytest.raises(StoreError, match=r"traces are left .* run the same command again"):
            forget(store, TRACE, trace=newest.key)
        assert log.stat().st_size > 0
        reader.communicate("go on\n", timeout=60)
        with pytest.raises(UnknownComponent):
            forget(store, TRACE, trace=newest.key)
        assert log.stat().st_size == 0


def test_what_is_no_trace_is_not_forgotten_and_that_is_said(traced: Path) -> None:
    with Store.open(traced / "repertoire.db") as store, pytest.raises(UnknownComponent, match="there is no trace"):
        forget(store, TRACE, trace="trace:000000000000")


@pytest.mark.parametrize("damage", ["a table of components", "traces", "everything"])
def test_a_rescue_brings_traces_votes_and_drafts_from_the_damaged_file_or_the_backup(traced: Path, damage: str) -> None:
    path = traced / "repertoire.db"
    before = key_by_title(traced)
    if damage == "everything":
        overwrite(path, 0, random.Random(1).randbytes(PAGE))
    else:
        spoil_tables(path, *(("trace", "event") if damage == "traces" else ("component",)))
    assert mend(traced) is not None
    assert key_by_title(traced) == before
    with open_repertoire(traced, environment={}) as repertoire:
        store = repertoire.store
        assert sorted(cast.note for cast in store.traces.votes()) == [
            "worked with the dulcimer",
            "worked with the piccolo",
        ]
        assert store.traces.counts() == {ACTIVE: 2, DRAFT: 1, SUPERSEDED: 1}
        found = search_traces(TraceCache(store), TraceQuery("", OTHER.context), embedder=repertoire.embedder)
        assert found.hits[0].error, "found by its error"
        assert search_traces(TraceCache(store), TraceQuery("bassoon reed")).hits[0].words, "found by its words"
        assert confirm(store, "t", now=now()).trace.title == "Draft of the ocarina"

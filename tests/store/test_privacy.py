"""Forgetting leaves no byte behind: not in the tables, not in free pages, not in the log."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

from repertoire.domain.answer import REQUEST_SPACE
from repertoire.domain.component import CONFLICTS_WITH, MENTIONS, Edge, SourceInfo
from repertoire.domain.errors import StoreBusy
from repertoire.domain.event import Event
from repertoire.store.database import Store
from repertoire.store.sketches import TextSummary
from store.samples import NOW, SOURCE, component, record, start

MODEL = "m"
HERE, THERE = "/home/me/heliotrope", "/home/me/marigold"


def vector(seed: int) -> np.ndarray:
    row = np.random.default_rng(seed).normal(size=384).astype(np.float32)
    return row / np.linalg.norm(row)


def traces(path, *needles: bytes) -> list[bytes]:
    """Return the needles that lie anywhere in the files, read by another process: reading here would drop our locks."""
    code = """
import sys
from pathlib import Path
content = b''.join(file.read_bytes() for file in Path(sys.argv[1]).parent.iterdir())
print(' '.join(needle for needle in sys.argv[2:] if bytes.fromhex(needle) in content))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, path, *(needle.hex() for needle in needles)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [bytes.fromhex(needle) for needle in done.stdout.split()]


def use(store: Store, project: str, word: str, seed: int) -> int:
    """Ask, select and remember in a project; every trace of it carries the word."""
    key = f"request:{word}"
    store.events.append(
        [
            Event(NOW, "asked", f"session-{word}", project, key, data={"text": f"please {word} the prompt"}),
            Event(NOW, "selected", f"session-{word}", "", key, "acme:a", {"name": f"{word}-event"}),
        ]
    )
    node = store.requests.record(
        key, text=f"please {word} the text", project=project, session=f"session-{word}", now=NOW
    )
    store.requests.select(key, "acme:a", evidence=f"{word} evidence", now=NOW)
    store.vectors.put(REQUEST_SPACE, MODEL, [(node, "request")], vector(seed)[None, :])
    return node


@pytest.fixture
def path(tmp_path):
    return tmp_path / "repertoire.db"


@pytest.fixture
def store(path):
    with Store.open(path) as store:
        store.sources.write(SOURCE, [record("f", component("acme:a", "public"))], (), derived=(), now=NOW)
        (node,) = store.graph.topology().ids.tolist()
        store.vectors.put("body", MODEL, [(node, "h")], vector(0)[None, :])
        use(store, HERE, "xylophone", 1)
        use(store, THERE, "zeppelin", 2)
        yield store


def test_what_is_stored_can_be_found_in_the_file(store, path):
    needles = (b"xylophone", b"zeppelin", vector(1).tobytes()[:64], vector(2).tobytes()[:64])
    assert traces(path, *needles) == list(needles)


def test_forgetting_requests_leaves_no_trace_of_any(store, path):
    store.sources.set_edges(
        [Edge("acme:a", "acme:z", "co_occurs_with", evidence="xylophone")], now=NOW, file="learned:use"
    )
    revision, vectors = store.graph.revision(), store.vectors.revision()
    assert store.privacy.forget_requests() == 4
    store.privacy.scrub()
    gone = (b"xylophone", b"zeppelin", *(vector(seed).tobytes()[at : at + 64] for seed in (1, 2) for at in (0, 700)))
    assert traces(path, *gone) == []
    assert traces(path, b"public", vector(0).tobytes()[:64]) == [b"public", vector(0).tobytes()[:64]]
    assert store.graph.counts() == {"skill": 1, "components": 1, "nodes": 1, "edges": 0, "capabilities": 0}
    assert store.requests.count() == 0
    assert store.vectors.matrix(REQUEST_SPACE, MODEL)[0].tolist() == []
    assert store.graph.revision() > revision
    assert store.vectors.revision() > vectors


def test_forgetting_a_project_leaves_no_trace_of_it_and_all_of_the_others(store, path):
    other = next(event.request for event in store.events.recent() if event.project == THERE)
    private = SourceInfo(f"project:{HERE}", "project", HERE)
    store.sources.write(private, [record("p", component("p:a", "quixotic words"))], (), derived=(), now=NOW)
    store.preferences.mute("acme:b", "component", now=NOW)
    assert store.privacy.forget_project(HERE) == 2
    store.privacy.scrub()
    gone = (b"xylophone", b"heliotrope", b"quixot", vector(1).tobytes()[:64], vector(1).tobytes()[700:764])
    assert traces(path, *gone) == []
    assert [row.info.key for row in store.sources.all()] == [SOURCE.key]
    assert {event.request for event in store.events.recent()} == {other}
    assert store.events.recent(limit=1)[0].id > 0
    (node,), (kept,) = store.vectors.matrix(REQUEST_SPACE, MODEL)
    assert kept.tolist() == vector(2).tolist()
    assert store.graph.data("request")[node]["text"] == "please zeppelin the text"
    assert [link.other for link in store.graph.links(other)] == ["acme:a"]
    assert store.preferences.muted() == {"acme:b": "component"}


@pytest.mark.parametrize("relation", [CONFLICTS_WITH, MENTIONS])
def test_forgetting_a_project_takes_along_what_its_components_were_compared_to(store, path, relation):
    private = SourceInfo(f"project:{HERE}", "project", HERE)
    mine = component(f"project:{HERE}:a", "quixotic words")
    store.sources.write(private, [record("p", mine)], (), derived=(), now=NOW)
    store.sources.set_edges([Edge(mine.id, "acme:a", relation, 1.0, "says: quixotic")], now=NOW, file="conflicts")
    store.preferences.dismiss((mine.id, "acme:a"), CONFLICTS_WITH, content="1:2", now=NOW)
    (node,) = [summary.node_id for summary in store.graph.summaries() if summary.id == mine.id]
    carried = TextSummary(node, "stamp", "5e1f" * 16, 9, (("conflict", "quixotic"),))
    store.similarities.put([carried], {carried.text_hash: np.arange(128, dtype=np.uint32)})
    store.privacy.forget_project(HERE)
    store.privacy.scrub()
    assert traces(path, b"quixot", HERE.encode(), b"5e1f5e1f", np.arange(128, dtype="<u4").tobytes()) == []
    assert store.preferences.dismissed() == {}


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_no_page_keeps_a_stale_copy_of_what_was_between_other_things(path, seed):
    rng = random.Random(seed)
    with Store.open(path) as store:
        for number in range(1500):
            project, word = rng.choice([(HERE, "xylophone "), (THERE, "zeppelin ")])
            data = {"text": word * rng.randrange(1, 40)}
            store.events.append([Event(NOW, "asked", "s", project, f"request:{number}", data=data)])
        store.privacy.forget_project(HERE)
        store.privacy.scrub()
        assert traces(path, b"xylophone", b"heliotrope", b"zeppelin") == [b"zeppelin"]


def test_what_is_taken_back_leaves_no_trace_once_the_log_is_written(path):
    with Store.open(path) as store:
        store.preferences.mute("acme:xylophone", "component", now=NOW)
    with Store.open(path) as store:
        store.preferences.unmute("acme:xylophone")
    assert b"xylophone" not in path.read_bytes()


def test_a_request_that_was_asked_in_two_projects_goes_with_either(store, path):
    store.requests.record("request:xylophone", project=THERE, now=NOW)
    store.privacy.forget_project(THERE)
    store.privacy.scrub()
    assert traces(path, b"xylophone the text", b"marigold") == []
    assert store.events.count("asked") == 0


def test_forgetting_a_project_that_nobody_knows_changes_nothing(store):
    revision = store.graph.revision()
    assert store.privacy.forget_project("/nowhere") == 0
    assert store.graph.revision() == revision
    assert store.events.count("asked") == 2


def test_forgetting_everything_leaves_an_empty_store_that_goes_on(store, path):
    store.preferences.mute("acme:muted", "component", now=NOW)
    store.preferences.correct("acme:a", ["correction"], now=NOW)
    revision = store.graph.revision()
    assert store.privacy.forget_all() == 4
    store.privacy.scrub()
    needles = (b"xylophone", b"zeppelin", b"public", b"acme", b"muted", b'correction"', vector(0).tobytes()[:64])
    assert traces(path, *needles) == []
    assert store.sources.all() == []
    assert store.preferences.muted() == {}
    assert store.graph.revision() > revision
    store.sources.write(SOURCE, [record("f", component("acme:a", "public"))], (), derived=(), now=NOW)
    assert len(store.graph.match(["public"], limit=5, weights=(1, 1, 1))) == 1


def test_numbers_of_forgotten_events_are_not_given_again(store):
    newest = store.events.recent(limit=1)[0].id
    store.privacy.forget_requests()
    store.events.append([Event(NOW, "asked")])
    assert [event.kind for event in store.events.since(newest)] == ["asked"]


def test_events_cannot_be_deleted_afterwards(store):
    store.privacy.forget_requests()
    store.events.append([Event(NOW, "asked")])
    with pytest.raises(Exception, match="append-only"):
        store._connection.execute("DELETE FROM event")


READ_ON = """
store = Store.open(Path(sys.argv[1]))
with store.snapshot():
    store.events.count('asked')
    print('inside', flush=True)
    sys.stdin.readline()
store.close()
"""


def test_traces_that_another_session_keeps_in_the_log_are_named_and_go_the_next_time(store, path):
    reader = start(READ_ON, path)
    assert reader.stdout.readline() == "inside\n"
    with Store.open(path, wait=0.05) as impatient:
        impatient.privacy.forget_requests()
        with pytest.raises(StoreBusy, match=r"traces are left .* run the same command again"):
            impatient.privacy.scrub()
        assert impatient.events.count("asked") == 0
        reader.communicate("go on\n", timeout=60)
        impatient.privacy.scrub()
        assert traces(path, b"xylophone", b"zeppelin") == []

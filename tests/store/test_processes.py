"""Several processes share one file: nothing is lost, readers never wait, a killed writer leaves a whole state."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from repertoire.domain.errors import StoreBusy
from repertoire.domain.event import Event
from repertoire.store.database import Store
from store.samples import NOW, in_process, start

SAMPLES = "sys.path.insert(0, sys.argv[2]); from store.samples import SOURCE, component, record\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "repertoire.db"


def test_four_processes_that_start_at_once_make_one_store_and_lose_no_event(path):
    code = """
sys.stdin.readline()  # all of them wait for one signal
with Store.open(Path(sys.argv[1])) as store:
    for number in range(100):
        store.events.append([Event('now', 'asked', session=sys.argv[2], data={'number': number})])
"""
    writers = [start(code, path, name) for name in "abcd"]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert (writer.returncode, said) == (0, "")
    with Store.open(path) as store:
        assert store.events.count("asked") == 400
        for name in "abcd":
            numbers = [event.data["number"] for event in store.events.recent(session=name, limit=200)]
            assert numbers == list(reversed(range(100)))


def test_a_file_that_several_processes_make_at_the_same_moment_opens_for_each(tmp_path):
    code = """
import time
for number in range(40):
    time.sleep(max(0, float(sys.argv[2]) + number / 20 - time.time()))
    Store.open(Path(sys.argv[1]) / f'{number}.db').close()
"""
    makers = [start(code, tmp_path, time.time() + 2) for _ in range(4)]
    assert [maker.communicate(timeout=120)[1] for maker in makers] == [""] * 4
    assert {file.name.partition(".db")[0] for file in tmp_path.iterdir()} == {str(number) for number in range(40)}


def test_threads_with_a_store_each_lose_nothing(path):
    def work(name: str) -> list[int]:
        with Store.open(path) as store:
            for _ in range(50):
                store.events.append([Event(NOW, "asked", session=name)])
            return [event.id for event in store.events.recent(session=name, limit=100)]

    with ThreadPoolExecutor(4) as pool:
        numbers = [number for found in pool.map(work, "abcd") for number in found]
    assert sorted(numbers) == list(range(1, 201))


def test_two_processes_that_ingest_at_once_lose_nothing(path):
    code = """
from repertoire.domain.component import Edge, SourceInfo
name = sys.argv[3]
with Store.open(Path(sys.argv[1])) as store:
    for number in range(10):
        key = f'{name}:{number}'
        edge = Edge(key, 'capability:shared', 'provides')
        store.sources.write(SourceInfo(name, 'git', name), [record(f'{number}', component(key, 'text'), edges=(edge,))],
                            (), derived=(), now='now')
"""
    here = str(__file__).rpartition("/store/")[0]
    writers = [start(SAMPLES + code, path, here, name) for name in ("one", "two")]
    for writer in writers:
        _, said = writer.communicate(timeout=120)
        assert (writer.returncode, said) == (0, "")
    with Store.open(path) as store:
        assert store.graph.counts()["components"] == 20
        assert store.graph.counts()["edges"] == 20
        assert store.graph.revision() == 20


HOLD = """
store = Store.open(Path(sys.argv[1]))
with store.transaction():
    store.events.append([Event('now', 'asked')] * 500)
    print('inside', flush=True)
    sys.stdin.readline()
print('done', flush=True)
store.close()
"""


def test_a_reader_is_not_held_up_by_a_writer_and_a_second_writer_is_told(path):
    Store.open(path).close()
    writer = start(HOLD, path)
    assert writer.stdout.readline() == "inside\n"
    with Store.open(path, wait=0.05) as store:
        assert store.events.count("asked") == 0
        with pytest.raises(StoreBusy, match=f"{path} is locked by another process; try again"):
            store.events.append([Event(NOW, "asked")])
        writer.communicate("go on\n", timeout=60)
        assert store.events.count("asked") == 500
        store.events.append([Event(NOW, "asked")])


def test_a_writer_waits_for_another_and_then_goes_on(path):
    Store.open(path).close()
    first = start(HOLD, path)
    assert first.stdout.readline() == "inside\n"
    second = start("store = Store.open(Path(sys.argv[1]))\nstore.events.append([Event('now', 'second')])", path)
    first.communicate("go on\n", timeout=60)
    assert second.wait(timeout=60) == 0
    second.communicate()
    with Store.open(path) as store:
        assert (store.events.count("asked"), store.events.count("second")) == (500, 1)


def test_a_writer_that_is_killed_leaves_the_last_committed_state(path):
    with Store.open(path) as store:
        store.events.append([Event(NOW, "before")])
    writer = start(HOLD.replace("] * 500", "] * 20000"), path)  # enough to spill into the log before the commit
    assert writer.stdout.readline() == "inside\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=60)
    with Store.open(path, wait=0.5) as store:
        assert (store.events.count("before"), store.events.count("asked")) == (1, 0)
        store.events.append([Event(NOW, "after")])
    with Store.open(path) as store:
        assert [event.kind for event in store.events.recent()] == ["after", "before"]


def test_a_process_that_is_killed_while_it_makes_the_store_leaves_one_that_opens(path):
    # Before the first migration commits: the file is ours, its schema is not there yet.
    code = """
import os
from repertoire.store import graph_file
from repertoire.store.connection import Connection
def killed(*_): os.kill(os.getpid(), 9)
graph_file.migrate = killed
Store.open(Path(sys.argv[1]))
"""
    done = in_process(code, path, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.exists()
    with Store.open(path) as store:
        store.events.append([Event(NOW, "asked")])
        assert store.events.count("asked") == 1

"""Documents, programs and other files are read beside each other: none waits for another, in one process or two."""

from __future__ import annotations

import threading
import time

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.projects import turns
from repertoire.app.projects.index import index_project
from repertoire.app.projects.queues import held, queue_of
from repertoire.app.projects.watch import Watcher
from repertoire.app.wiring import open_project
from repertoire.boot.filelock import is_free
from repertoire.domain.errors import StoreBusy
from repertoire.domain.project import CODE, DOCS
from repertoire.domain.project import FILES as OTHERS


@pytest.fixture
def many(tmp_path):
    """A project with more programs than one turn reads."""
    more = {f"many/m{number}.py": f"def many_{number}():\n    return 1\n" for number in range(300)}
    return write(tmp_path / "kiln-project", {**FILES, **more})


def test_every_file_has_one_queue_by_its_name():
    named = ("README.md", "a/b.mdx", "kiln/heat.py", "web/app.tsx", "Oven.java", "Makefile", "notes.txt", "logo.png")
    assert [queue_of(path) for path in named] == [DOCS, DOCS, CODE, CODE, CODE, OTHERS, OTHERS, OTHERS]


def test_documents_are_found_while_programs_are_still_read_and_what_changes_in_them_is_read_meanwhile(many, tmp_path):
    seen = list[tuple[int, int, bool]]()
    with begin(tmp_path / "home", many) as memory, open_project(memory.path) as other:

        def between():
            counts = other.counts()
            # the documents are there, and their queue is free
            if counts.sections == 2 and not seen and is_free(memory.path.with_name(f"{memory.path.name}.docs.lock")):
                write(many, {"README.md": "# Kiln\n\n## Firing\n\nSlowly.\n\n## Glazing\n\nThinly.\n"})
                done = index_project(other, most_files=1_000, among={"README.md"}, queues=[DOCS], wait_s=0)
                found = other.items.by_key("section:README.md#glazing")
                seen.append((done.read, counts.symbols, found is not None))
                with pytest.raises(StoreBusy, match="code"):
                    index_project(other, most_files=1_000, among={"many/m1.py"}, queues=[CODE], wait_s=0)

        index_project(memory, most_files=1_000, between=between)
        (read_again, symbols, found) = seen[0]
        assert (read_again, found) == (1, True)
        assert symbols < 300 < memory.counts().symbols
        assert not memory.is_unresolved()
        assert memory.items.by_key("section:README.md#glazing") is not None


def test_a_queue_that_another_process_reads_is_waited_for_and_no_other(many, tmp_path):
    with begin(tmp_path / "home", many) as memory:
        read(memory)
        write(many, {"kiln/clay.py": "def knead(): pass\n", "README.md": "# Kiln\n\n## Drying\n\nLong.\n"})
        with held(memory.path, CODE):
            for queue in (DOCS, OTHERS):
                index_project(memory, most_files=1_000, queues=[queue], wait_s=0)
            with pytest.raises(StoreBusy):
                index_project(memory, most_files=1_000, wait_s=0)
        assert memory.items.by_key("section:README.md#drying") is not None
        assert memory.items.by_key("symbol:kiln/clay.py::knead") is None
        read(memory)
        assert memory.items.by_key("symbol:kiln/clay.py::knead") is not None


def test_an_interrupted_reading_of_programs_is_ended_by_the_next_and_reasons_of_other_queues_are_kept(many, tmp_path):
    write(many, {"big.md": "x" * 1_100_000, "big.py": "x = 1\n" * 200_000})

    def stop():
        raise KeyboardInterrupt

    with begin(tmp_path / "home", many) as memory:
        with pytest.raises(KeyboardInterrupt):
            index_project(memory, most_files=1_000, between=stop)
        assert not memory.indexed_at()
        read(memory)
        assert {"big.md", "big.py", ".env"} <= {*memory.skipped()}
        write(many, {"big.py": "def small(): pass\n"})
        assert index_project(memory, most_files=1_000, among={"big.py"}, queues=[CODE]).read == 1
        assert {*memory.skipped()} & {"big.md", "big.py", ".env"} == {"big.md", ".env"}
        assert memory.items.node_id("symbol:kiln/clay.py::weigh") is not None


def test_a_file_that_is_renamed_into_another_queue_keeps_what_is_noted_of_it(many, tmp_path):
    write(many, {"notes.txt": "# Clay\n\nFrom the river.\n"})
    with begin(tmp_path / "home", many) as memory:
        read(memory)
        node = memory.items.node_id("file:notes.txt")
        (many / "notes.txt").rename(many / "notes.md")
        assert read(memory).moved == 1
        assert memory.items.node_id("file:notes.md") == node


def test_a_document_that_changes_while_a_watcher_reads_many_programs_does_not_wait_for_them(
    many, tmp_path, monkeypatch
):
    monkeypatch.setattr(turns, "_TURN_S", 0.05)
    read_quickly = turns.read_file

    def slowly(entry, **more):  # as a program of a few thousand lines is read
        time.sleep(0.005 if entry.path.startswith("many/") else 0.0)
        return read_quickly(entry, **more)

    order, stop, looked = list[str](), threading.Event(), threading.Semaphore(0)
    with begin(tmp_path / "home", many) as memory:
        read(memory)
        monkeypatch.setattr(turns, "read_file", slowly)

        def told(done):
            looked.release()
            if done.read == 1:
                found = memory.items.by_key("section:README.md#clay")
                order.append("document" if found is not None else "nothing")
            elif done.read:
                order.append("programs")
                stop.set()

        def change():
            for _ in range(2):  # the watcher looks at all files twice before it trusts what it is told
                looked.acquire(timeout=30)
            write(many, {f"many/m{number}.py": f"def other_{number}(): pass\n" for number in range(300)})
            time.sleep(0.6)
            write(many, {"README.md": "# Kiln\n\n## Clay\n\nIt comes from the riverbank.\n"})
            stop.wait(30)
            stop.set()

        threading.Thread(target=change, daemon=True).start()
        Watcher(memory, most_files=1_000, told=told).run(stop)
    assert order == ["document", "programs"]

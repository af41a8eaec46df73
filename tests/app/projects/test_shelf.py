"""The memories of several projects that are open at once hold no more vectors than there is room for."""

from __future__ import annotations

import pytest

from app.projects.small_project import begin, read, write
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_project
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled


@pytest.fixture(scope="module")
def embedder():
    return load(bundled())


def test_the_project_that_was_asked_longest_ago_lets_its_vectors_go_and_still_answers(tmp_path, embedder):
    roots = [write(tmp_path / name, {f"{name}.py": f"def {name}_oven():\n    return 1\n"}) for name in ("one", "two")]
    for root in roots:
        with begin(tmp_path / "home", root) as memory:
            read(memory, embedder)
    shelf = ProjectShelf(tmp_path / "home", open_project, room=9_000)  # bytes: one of them takes 6,144

    def found(root):
        return search_memory(shelf.open(str(root)), MemoryQuery("oven"), embedder=embedder).hits[0].item.title

    assert found(roots[0]) == "one_oven"
    assert found(roots[1]) == "two_oven"
    second, first = (shelf.open(str(root)) for root in reversed(roots))
    assert second.bytes_held() == 6_144
    assert first.bytes_held() == 0
    assert found(roots[0]) == "one_oven"
    shelf.close()

"""Open memories keep what an edit left as it was, and hold no more vectors than there is room for."""

from __future__ import annotations

import pytest

from app.projects.small_project import begin, read, write
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_project
from repertoire.domain.project import CODE, FILE
from repertoire.retrieval import sections
from repertoire.retrieval.sign_codes import AVAILABLE


def test_the_project_that_was_asked_longest_ago_lets_its_vectors_go_and_still_answers(tmp_path, embedder):
    roots = [write(tmp_path / name, {f"{name}.py": f"def {name}_oven():\n    return 1\n"}) for name in ("one", "two")]
    for root in roots:
        with begin(tmp_path / "home", root) as memory:
            read(memory, embedder)
    shelf = ProjectShelf(tmp_path / "home", open_project, room=4_500)  # bytes: one of them takes 3,072

    def found(root):
        return search_memory(shelf.open(str(root)), MemoryQuery("oven"), embedder=embedder).hits[0].item.title

    assert found(roots[0]) == "one_oven"
    assert found(roots[1]) == "two_oven"
    second, first = (shelf.open(str(root)) for root in reversed(roots))
    assert second.bytes_held() == 3_072
    assert first.bytes_held() == 0
    assert found(roots[0]) == "one_oven"
    shelf.close()


@pytest.mark.skipif(not AVAILABLE, reason="numpy before 2.0 counts no bits")
def test_an_edit_that_leaves_the_vectors_as_they_are_leaves_their_codes_too(tmp_path, embedder, monkeypatch):
    monkeypatch.setattr(sections, "_MANY", 0)
    root = write(tmp_path / "pots", {"kiln.py": "def fire():\n    return 1\n"})
    with begin(tmp_path / "home", root) as memory:
        read(memory, embedder)
    shelf = ProjectShelf(tmp_path / "home", open_project)

    def index():
        return shelf.open(str(root)).index(CODE, embedder.model)

    before = index()
    write(root, {"clay.py": "def dig():\n    return 1\n"})
    with open_project(shelf.open(str(root)).store.path) as memory:
        read(memory)
        edited = index()
        assert edited is not before
        assert len(edited) > len(before)
        assert edited.chunk_codes is not None
        assert edited.chunk_codes is before.chunk_codes
        read(memory, embedder)
    assert index().chunk_codes.codes.shape[1] > before.chunk_codes.codes.shape[1]
    shelf.close()


@pytest.mark.parametrize("meant", [True, False])
def test_a_folder_of_a_large_project_is_asked_for_its_own_best_however_much_fits_better_elsewhere(
    tmp_path, embedder, meant
):
    elsewhere = {f"libs/lib{n}/refund_invoice.py": "def refund_invoice():\n    return 1\n" for n in range(12)}
    own = {"apps/shop/pay.py": "def pay_back():\n    '''Refund what was paid.'''\n", "apps/shop/refund.md": "# Money\n"}
    root = write(tmp_path / "mono", {**elsewhere, **own})
    model = embedder if meant else None
    with begin(tmp_path / "home", root) as memory:
        read(memory, model)
    shelf = ProjectShelf(tmp_path / "home", open_project)

    def found(**more):
        asked = MemoryQuery("refund invoice", limit=2, **more)
        return [hit.item.path for hit in search_memory(shelf.open(str(root)), asked, embedder=model).hits]

    assert "apps/shop/pay.py" in found(below="apps/shop", kinds=(CODE,))
    assert found(below="apps/shop", kinds=(FILE,)) == ["apps/shop/refund.md"]
    assert found(language="markdown", kinds=(FILE,)) == ["apps/shop/refund.md"]
    assert found(below="apps/nothing", kinds=(CODE,)) == []
    shelf.close()

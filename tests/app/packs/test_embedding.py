"""The vectors of a pack do not depend on how many threads made them, and an equal text is embedded once."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from app.packs.documentation import WILLOW, build, write
from repertoire.app.packs.documents import open_source, read_documents
from repertoire.app.packs.embedding import embed_pack, workers_beside
from repertoire.domain.pack import CHUNK_SPACE, HEADING_SPACE
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled
from repertoire.settings import Settings
from repertoire.store.pack_file import PackStore


def vectors(place, folder, workers):
    opened = open_source(place, str(folder), settings=Settings(), report=lambda *_: None)
    embedder = load(bundled())
    with PackStore.new(place / f"{workers}.db") as store:
        store.add(read_documents(opened, report=lambda *_: None).articles)
        made = embed_pack(store, embedder, workers=workers)
        spaces = [store.vectors.matrix(space, embedder.model) for space in (HEADING_SPACE, CHUNK_SPACE)]
    return made, spaces


def test_several_threads_make_the_same_vectors_as_one(tmp_path):
    many = {f"{number}.md": f"# Rod {number}\n\nSoak rod {number} for {number} days.\n" for number in range(70)}
    folder = write(tmp_path / "docs", {**WILLOW, **many})
    (alone, one), (together, three) = (vectors(tmp_path, folder, workers) for workers in (1, 3))
    assert alone == together
    for (ids, matrix), (others, other) in zip(one, three, strict=True):
        assert ids.tolist() == others.tolist()
        assert np.array_equal(matrix, other)


def test_a_text_that_stands_in_many_places_is_embedded_once(tmp_path):
    folder = write(tmp_path / "docs", {f"{number}.md": "# Soaking\n\nSeven days.\n" for number in range(40)})
    made, spaces = vectors(tmp_path, folder, 2)
    assert made == 2
    assert [len(ids) for ids, _ in spaces] == [40, 40]
    assert all(np.array_equal(matrix, np.repeat(matrix[:1], 40, axis=0)) for _, matrix in spaces)


def test_threads_and_texts_at_once_share_the_cores():
    assert workers_beside(1) >= workers_beside(2) >= workers_beside(1000) == 1


def test_a_build_that_was_killed_goes_on_with_the_vectors_that_it_made(tmp_path, embedder):
    files = {f"{number}.md": f"# Rod {number}\n\nRod {number} soaks for {number} days.\n" for number in range(40)}
    docs = write(tmp_path / "docs", files)
    program = (
        "import os, sys; from pathlib import Path\n"
        "from repertoire.app.packs.build import BuildRequest, build_pack\n"
        "from repertoire.app.wiring import open_new_pack\n"
        "from repertoire.inference.embedder import load\n"
        "from repertoire.inference.weights import bundled\n"
        "from repertoire.settings import Settings\n"
        "def die(label, done, total):\n"
        "    if label.startswith('vectors (chunks'): os._exit(9)\n"
        "build_pack(Path(sys.argv[1]), BuildRequest('rods', sys.argv[2]), open_new_pack, embedder=load(bundled()),\n"
        "           settings=Settings(), report=die)\n"
    )
    home = tmp_path / "home"
    assert subprocess.run([sys.executable, "-c", program, str(home), str(docs)], check=False).returncode == 9
    [kept] = (home / "packs" / ".vectors").iterdir()
    with kept.open("ab") as file:
        file.write(b"half of a row")
    again = build(home, "rods", docs, embedder)
    whole = build(tmp_path / "other", "rods", docs, embedder)
    assert 0 < again.embedded < whole.embedded == 80
    assert again.manifest.hashes == whole.manifest.hashes
    assert list((home / "packs" / ".vectors").iterdir()) == []

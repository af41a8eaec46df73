"""What is read change by change is what a first reading would have found, whatever changed."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.projects.index import index_project
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.projects.show import FileQuery, files_in
from repertoire.app.projects.symbols import SymbolQuery, code_symbols
from repertoire.app.wiring import open_project
from repertoire.domain.project import CODE, DOCS
from repertoire.domain.project import FILES as FILES_VIEW
from repertoire.rendering.projects import files_text, symbols_text

_MORE = {
    "kiln/all.py": "from kiln.clay import *\nfrom kiln.heat import Kiln\n",
    "kiln/user.py": (
        "from kiln.all import Kiln, weigh\nfrom kiln import clay\n\n\ndef use(kiln: Kiln) -> None:\n"
        "    kiln.fire()\n    weigh(kiln.pot)\n    clay.Pot().harden()\n    clay.glaze()\n"
    ),
    "cmd/other.go": "package main\n\nfunc more() int { return helper() }\n",
}
# One word for another in a file: other bodies, signatures, names, bases, imports and types.
_EDITS = (
    ("kiln/clay.py", "return 1", "return 2"),
    ("kiln/clay.py", "def weigh", "def glaze"),
    ("kiln/clay.py", "harden", "stiffen"),
    ("kiln/clay.py", "class Pot(Thing)", "class Pot"),
    ("kiln/clay.py", "class Thing", "class Matter"),
    ("kiln/heat.py", "def fire", "def burn"),
    ("kiln/heat.py", "pot: Pot", "pot: object"),
    ("kiln/heat.py", "import clay as material", "import user as material"),
    ("kiln/all.py", "import *", "import weigh"),
    ("kiln/user.py", "clay.glaze", "clay.weigh"),
    ("web/draw.ts", "draw", "paint"),
    ("cmd/main.go", "helper", "hand"),
)
_FILES = {**FILES, **_MORE, "file": "Read by nobody.\n"}
# "file" stands in the key of every file, before its path
_RENAMES = (("kiln/clay.py", "kiln/mud.py"), ("web/draw.ts", "web/paint.ts"), ("file", "notes"))
_STEPS = st.one_of(
    st.tuples(st.just("edit"), st.sampled_from(_EDITS)),
    st.tuples(st.just("toggle"), st.sampled_from(sorted(path for path in _FILES if not path.startswith("."))[:12])),
    st.tuples(st.just("rename"), st.sampled_from(_RENAMES)),
)


def edges(memory):
    found = set()
    for view in (FILES_VIEW, CODE, DOCS):
        read = memory.graph.topology(view)
        ends = zip(read.source.tolist(), read.relation, read.target.tolist(), read.weight.tolist(), strict=True)
        found |= {(read.keys[source], kind, read.keys[target], weight) for source, kind, target, weight in ends}
    # a guess by the only method of a name is made anew with the file that calls it
    return {edge for edge in found if edge[3] == 1.0}


def apply(root, kind, what):
    """Change the files; return the paths that a watcher would tell."""
    if kind == "edit":
        path, old, new = what
        if (root / path).exists():
            text = (root / path).read_text(encoding="utf-8")
            (root / path).write_text(text.replace(old, new) if old in text else text.replace(new, old))
        return {path}
    if kind == "toggle":
        if (root / what).exists():
            (root / what).unlink()
        else:
            write(root, {what: _FILES[what]})
        return {what}
    old, new = what if (root / what[0]).exists() else what[::-1]
    if (root / old).exists():
        (root / old).rename(root / new)
    return {old, new}


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_STEPS, min_size=1, max_size=3), st.booleans())
def test_reading_changes_finds_the_edges_that_reading_everything_finds(steps, told):
    folder = Path(tempfile.mkdtemp())
    try:
        root = write(folder / "project", _FILES)
        with begin(folder / "home", root) as memory:
            index_project(memory, most_files=100)
            for number, (kind, what) in enumerate(steps):
                paths = apply(root, kind, what)
                index_project(memory, most_files=100, among=paths if told else None)
                with begin(folder / f"home{number}", root) as anew:
                    index_project(anew, most_files=100)
                    assert {*memory.known()} == {*anew.known()}
                    assert edges(memory) == edges(anew)
    finally:
        shutil.rmtree(folder)


def test_a_document_that_went_and_came_back_is_linked_to_again(tmp_path):
    root = write(tmp_path / "project", {"README.md": "See [how](docs/how.md).\n", "docs/how.md": "# How\n\nSlowly.\n"})
    with begin(tmp_path / "home", root) as memory:
        read(memory)
        linked = edges(memory)
        assert ("file:README.md", "links_to", "file:docs/how.md", 1.0) in linked
        (root / "docs/how.md").unlink()  # as on another branch
        assert read(memory).removed == 1
        write(root, {"docs/how.md": "# How\n\nSlowly.\n"})
        read(memory)
        assert edges(memory) == linked
        write(root, {"README.md": "See nothing.\n"})
        (root / "docs/how.md").unlink()
        read(memory)
        assert memory.items.node_id("file:docs/how.md") is None


def test_a_renamed_file_is_found_by_its_new_name_and_no_more_by_its_old_one(tmp_path):
    root = write(tmp_path / "project", {"notes/quarry.md": "# Stone\n\nIs cut.\n", "other.md": "# Other\n\nText.\n"})
    with begin(tmp_path / "home", root) as memory:
        read(memory)
        (root / "archive").mkdir()
        (root / "notes/quarry.md").rename(root / "archive/pit.md")
        assert read(memory).moved == 1
        found = {word: memory.graph.holders(word, FILES_VIEW).size for word in ("stone", "quarry", "notes")}
        assert found == {"stone": 1, "quarry": 0, "notes": 0}
        assert all(memory.graph.holders(word, FILES_VIEW).size == 1 for word in ("pit", "archive"))


def test_what_a_backup_restores_with_its_old_date_and_size_is_read_and_a_change_of_rights_alone_reads_nothing(tmp_path):
    root = write(tmp_path / "kiln-project", FILES)
    clay, dated = root / "kiln/clay.py", 1_700_000_000_000_000_000  # as an archive dates each of its files
    os.utime(clay, ns=(dated, dated))
    with begin(tmp_path / "home", root) as memory:
        read(memory)
        for word in ("glaze", "carve"):
            clay.write_text(FILES["kiln/clay.py"].replace("weigh", word), encoding="utf-8")
            os.utime(clay, ns=(dated, dated))
            assert read(memory).read == 1
            assert f"symbol:kiln/clay.py::{word}" in memory.graph.topology(CODE).keys
        clay.chmod(0o600)
        assert read(memory).read == 0
        assert memory.known(["kiln/clay.py"])["kiln/clay.py"].mtime == clay.stat().st_ctime_ns


def test_of_a_project_with_too_many_files_each_answer_says_where_the_reading_ended(tmp_path):
    root = write(tmp_path / "mono", {f"{name}/deep/main.py": f"def {name}():\n    pass\n" for name in ("a", "b", "c")})
    with begin(tmp_path / "home", root) as memory:
        index_project(memory, most_files=2)
    reason = "more than 2 files: reading ended at c (setting `max_files`)"
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        mono = shelf.open(str(root))
        assert reason in search_memory(mono, MemoryQuery("a"), embedder=None).degraded
        assert reason in symbols_text(code_symbols(mono, SymbolQuery("c")))
        assert reason in files_text(files_in(mono, FileQuery("c/deep/main.py")))

"""A project is read once it was begun, what changed alone the next time; calls lead across files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from repertoire.app.person.forget import forget
from repertoire.app.projects.current import GONE
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.projects.show import show_item
from repertoire.app.projects.symbols import SymbolQuery, code_symbols
from repertoire.app.wiring import open_project
from repertoire.domain.errors import InvalidRequest, ProjectRefused
from repertoire.domain.project import CODE, DOCS
from repertoire.projects.code import read_code
from repertoire.rendering.person import forgotten_text
from repertoire.rendering.projects import item_text, symbols_text
from repertoire.store.database import Store
from repertoire.syntax import JAVASCRIPT

SERVER = Path(__file__).resolve().parents[3] / "server"
SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


# Reads a program again and again, in forty processes with as many limits, and tells how each ended.
INTERRUPTED = """
import os
from repertoire import syntax
from repertoire.app.sources.cpu_limit import cpu_limit
from repertoire.domain.errors import TooSlow
from repertoire.projects.code import read_code

text = "".join(f"def f{n}(a: int) -> int:\\n    return a.b(f{n}(1)).c()\\n" for n in range(500))
read_code("a.py", text, "python")
for number in range(40):
    child = os.fork()
    if not child:
        try:
            with cpu_limit(0.01 + 0.0021 * number):
                while True:
                    read_code("a.py", text, "python")
        except TooSlow:
            os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def kiln(tmp_path):
    """Return the home, the folder and the open memory of the small project."""
    root = write(tmp_path / "kiln-project", FILES)
    with begin(tmp_path / "home", root) as memory:
        read(memory)
        yield tmp_path / "home", root, memory


def ends(memory, relation, key):
    return {item.key for item in memory.items.related(key, (relation,), incoming=False, limit=20)}


def test_what_is_ignored_is_not_known_and_what_holds_secrets_has_a_row_with_the_reason(kiln):
    _, _, memory = kiln
    assert {*memory.known()} == {*FILES} - {"build/out.py", "noise.log"}
    assert memory.skipped() == {".env": "it is made to hold secrets"}


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
@pytest.mark.parametrize("front", ["", "---\ntitle: Kiln\n---\n\n"])
def test_a_section_has_the_lines_that_it_stands_in_however_its_file_begins_and_ends(kiln, front, end):
    _, root, memory = kiln
    text = f"{front}# Kiln\n\nFires pots.\n\n## Ash\n\nSweep it.{end}"
    write(root, {"ash.md": text})
    read(memory)
    lines = text.split("\n")
    told = {key: memory.items.by_key(f"section:ash.md#{key}") for key in ("kiln", "ash")}
    assert {key: lines[item.start - 1] for key, item in told.items()} == {"kiln": "# Kiln", "ash": "## Ash"}
    assert {key: lines[item.end - 1] for key, item in told.items()} == {"kiln": "Fires pots.", "ash": "Sweep it."}


def test_calls_lead_to_definitions_in_other_files_and_through_attributes_and_bases(kiln):
    _, _, memory = kiln
    assert ends(memory, "calls", "symbol:kiln/heat.py::Kiln.fire") == {
        "symbol:kiln/heat.py::Kiln.warm",
        "symbol:kiln/clay.py::Thing.harden",
        "symbol:kiln/clay.py::weigh",
    }
    assert ends(memory, "calls", "symbol:kiln/clay.py::weigh") == {"symbol:kiln/clay.py::Thing.harden"}
    assert ends(memory, "calls", "symbol:web/app.ts::App.show") == {"symbol:web/draw.ts::draw"}
    assert ends(memory, "calls", "symbol:web/app.ts::App.run") == {"symbol:web/app.ts::App.show"}
    assert ends(memory, "calls", "symbol:cmd/main.go::main") == {"symbol:cmd/main.go::helper"}
    assert ends(memory, "calls", "symbol:src/lib.rs::start") == {"symbol:src/pot.rs::turn"}
    assert ends(memory, "calls", "symbol:Oven.java::Oven.open") == {"symbol:Oven.java::Oven.close"}
    assert ends(memory, "extends", "symbol:kiln/clay.py::Pot") == {"symbol:kiln/clay.py::Thing"}
    assert "file:kiln/clay.py" in ends(memory, "imports", "file:kiln/heat.py")
    assert ends(memory, "contains", "file:README.md") == {"section:README.md#kiln", "section:README.md#cooling"}


def test_the_first_line_of_a_file_is_found_once_where_a_definition_has_it(kiln):
    _, root, memory = kiln
    write(root, {"kiln/glaze.py": "def dissolve_oxides(slip):\n    return slip.stir()\n"})
    read(memory)
    found = [node_id for node_id, _ in memory.graph.match(["oxides"], limit=9, weights=(2, 1, 1), view=CODE)]
    assert [memory.items.by_id([one])[one].key for one in found] == ["symbol:kiln/glaze.py::dissolve_oxides"]


def test_a_section_that_begins_with_code_is_told_by_its_first_line_of_it(kiln):
    _, root, memory = kiln
    write(root, {"docs/use.md": "# Use\n\n```sh\nkiln fire\n```\n\n## Again\n\n~~~\nkiln cool\n~~~\n"})
    read(memory)
    assert [memory.items.by_key(f"section:docs/use.md#{one}").line for one in ("use", "again")] == [
        "kiln fire",
        "kiln cool",
    ]


def test_what_is_nested_without_end_is_a_part_of_what_is_told_apart():
    told = read_code("deep.js", "function a() {\n" * 2_000 + "}\n" * 2_000, JAVASCRIPT)[0]
    assert 30 < len(told) < 40
    assert max(len(symbol.qualname) for symbol in told) < 100


def test_calls_that_begin_at_one_place_are_told_from_the_outer_to_the_inner():
    chained = "".join(f".step{number}()" for number in range(40))
    _, facts = read_code("kiln.js", f"kiln{chained};\n", JAVASCRIPT)
    assert [call.target[-1] for call in facts.calls] == [f"step{number}" for number in reversed(range(40))]


def test_a_second_reading_changes_nothing_and_a_change_reads_one_file(kiln):
    _, root, memory = kiln
    before = memory.graph.revision("code")
    again = read(memory)
    assert (again.read, again.removed, memory.graph.revision("code")) == (0, 0, before)
    write(root, {"kiln/clay.py": FILES["kiln/clay.py"].replace("harden", "stiffen")})
    assert read(memory).read == 1
    # the attribute has no such method any more, and whoever imports the file was resolved again
    assert "symbol:kiln/clay.py::Thing.harden" not in ends(memory, "calls", "symbol:kiln/heat.py::Kiln.fire")
    assert ends(memory, "calls", "symbol:kiln/clay.py::weigh") == {"symbol:kiln/clay.py::Thing.stiffen"}


def test_a_renamed_file_keeps_its_nodes_and_a_deleted_one_goes(kiln):
    _, root, memory = kiln
    node_id = memory.items.node_id("symbol:web/draw.ts::draw")
    (root / "web/draw.ts").rename(root / "web/paint.ts")
    (root / "Oven.java").unlink()
    done = read(memory)
    assert (done.moved, done.removed) == (1, 1)
    assert memory.items.node_id("symbol:web/paint.ts::draw") == node_id
    assert memory.items.node_id("symbol:Oven.java::Oven") is None


def test_a_file_that_was_edited_where_it_was_renamed_keeps_its_nodes_and_one_with_another_main_does_not(kiln):
    _, root, memory = kiln
    before = memory.items.node_id("symbol:kiln/heat.py::Kiln.fire")
    moved = (root / "kiln" / "heat.py").read_text().replace("from kiln.clay", "from kiln.parts.clay") + "\n\nLATE = 1\n"
    write(
        root, {"kiln/parts/warmth.py": moved, "cmd/other.go": "package main\n\nfunc main() { " + "x(); " * 50 + "}\n"}
    )
    (root / "kiln" / "heat.py").unlink()
    (root / "cmd" / "main.go").unlink()
    done = read(memory)
    assert (done.moved, done.removed) == (1, 1)
    assert memory.items.node_id("symbol:kiln/parts/warmth.py::Kiln.fire") == before
    write(root, {"web/other.ts": "export class App {\n  run(): void {\n    1;\n  }\n  show() {\n    2;\n  }\n}\n"})
    (root / "web" / "app.ts").unlink()
    assert read(memory).moved == 0  # the same names, and nothing else


def test_a_file_renamed_to_what_a_document_links_to_is_what_it_links_to(kiln):
    _, root, memory = kiln
    write(root, {"README.md": "See [how](new.md).\n", "old.md": "# How\n\nSlowly. See [this](new.md).\n"})
    read(memory)
    node_id = memory.items.node_id("file:old.md")
    (root / "old.md").rename(root / "new.md")
    assert read(memory).moved == 1
    assert memory.items.node_id("file:new.md") == node_id
    assert ends(memory, "links_to", "file:README.md") == {"file:new.md"}
    assert ends(memory, "links_to", "file:new.md") == set()


def test_a_secret_in_a_program_is_neither_found_nor_shown(tmp_path):
    root = write(tmp_path / "p", {"a.py": f'TOKEN = "{SECRET}"\n\n\ndef use():\n    return "{SECRET}"\n'})
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    shelf = ProjectShelf(tmp_path / "home", open_project)
    shown = show_item(shelf.open(str(root)), "symbol:a.py::use")
    shelf.close()
    assert "def use" in shown.body
    assert SECRET not in shown.body
    assert not [file for file in (tmp_path / "home/projects").iterdir() if SECRET.encode() in file.read_bytes()]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("config.yaml", "  password: {}"),
        ("deploy/app.ini", "password = {}"),
        ("application.properties", "spring.datasource.password={}"),
        ("set_up.sh", "export DB_PASSWORD={}"),
        ("compose.yml", "      - POSTGRES_PASSWORD={}"),
    ],
)
def test_a_secret_that_a_file_of_settings_writes_without_quotes_is_not_stored(tmp_path, file, line):
    root = write(tmp_path / "p", {file: f"# settings\n{line.format('Tr0ub4dor&3xyz')}\nkept: 12\n"})
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    assert not [path for path in (tmp_path / "home/projects").iterdir() if b"r0ub4dor" in path.read_bytes()]


def test_what_cannot_be_read_stops_nothing_and_links_that_leave_the_project_are_not_followed(tmp_path):
    write(tmp_path, {"outside.py": "def outside(): pass\n"})
    root = write(
        tmp_path / "p", {"good.py": "def good(): pass\n", "broken.py": "def (:\n" * 3, "wide.js": "a;" * 9_000}
    )
    (root / "binary.py").write_bytes(b"\x00\x01")
    (root / "large.py").write_bytes(b"#" * 1_000_001)
    (root / "away.py").symlink_to(tmp_path / "outside.py")
    with begin(tmp_path / "home", root) as memory:
        skipped = read(memory).skipped
        assert memory.items.named("good", limit=5)
        assert not memory.items.named("outside", limit=5)
    assert skipped["away.py"] == "a link that leaves the source"
    assert {"binary.py", "large.py", "wide.js"} <= {*skipped}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no signals that interrupt")
def test_a_reading_may_be_interrupted_at_any_moment():
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=SERVER)
    assert done.stdout.split() == ["0"] * 40


def test_a_folder_without_a_memory_is_refused_and_a_folder_inside_a_project_is_not(kiln):
    home, root, _ = kiln
    shelf = ProjectShelf(home, open_project)
    with pytest.raises(ProjectRefused, match="project init"):
        shelf.open(str(root.parent))
    assert shelf.open(str(root / "kiln")).root == str(root)
    shelf.close()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let nobody read a folder for a while."""
    folder.chmod(0)
    try:
        if os.access(folder, os.R_OK):
            pytest.skip("THIS USER READS EVERY FOLDER")
        yield
    finally:
        folder.chmod(0o700)


def test_what_lies_in_a_folder_that_cannot_be_read_now_is_still_known(kiln):
    _, root, memory = kiln
    before = set(memory.known())
    with locked(root / "kiln"):
        assert read(memory).removed == 0
    assert set(memory.known()) == before


def test_a_folder_that_cannot_be_read_is_refused_and_its_memory_stays(kiln):
    _, root, memory = kiln
    with locked(root), pytest.raises(ProjectRefused, match="cannot be read; change its permissions"):
        read(memory)
    assert memory.known()


def test_forgetting_a_project_or_everything_deletes_its_memory(tmp_path):
    root = write(tmp_path / "p", {"a.py": "def a(): pass\n"})
    home = tmp_path / "home"
    for what in ("project", "all"):
        memory = begin(home, root)
        memory.close()
        shutil.copy(memory.path, memory.path.with_stem(f"{memory.path.stem}-1"))  # as one that was set aside
        with Store.open(home / "repertoire.db") as store:
            done = forget(store, what, project=str(root))
            assert (done.memories, what == "all" or "1 that were set aside" in forgotten_text(done)) == (2, True)
            assert forget(store, what, project=str(root)).memories == 0
        assert not list((home / "projects").iterdir())


def test_bases_what_derives_from_a_type_and_what_overrides_a_method_are_told_over_several_steps(tmp_path):
    home = tmp_path / "home"
    root = write(
        tmp_path / "shapes",
        {
            "shapes.py": "class Shape:\n    def area(self):\n        return 0\n\n\nclass Box(Shape):\n    pass\n",
            "flat.py": (
                "from shapes import Box\n\n\nclass Square(Box):\n    def area(self):\n        return 1\n\n\n"
                "def tell(shape: Square):\n    return shape.area()\n"
            ),
            "draw.ts": (
                "abstract class Drawn {\n  abstract draw(): void;\n}\nclass Line extends Drawn {\n  draw() {}\n}\n"
            ),
        },
    )
    with begin(home, root) as memory:
        read(memory)
    shelf = ProjectShelf(home, open_project)
    project = shelf.open(str(root))

    def asked(name, action, depth=2):
        found = code_symbols(project, SymbolQuery(name, action, depth=depth))
        return {one.item.title: one.distance for one in found.related}

    assert asked("Square", "bases") == {"Box": 1, "Shape": 2}
    assert asked("Shape", "derived", depth=1) == {"Box": 1}
    assert asked("Shape", "derived") == {"Box": 1, "Square": 2}
    assert asked("Shape.area", "derived") == {"Square.area": 1}
    assert asked("Drawn", "derived") == {"Line": 1}
    assert asked("Drawn.draw", "derived") == {"Line.draw": 1}
    assert asked("Shape.area", "impact") == {"Square.area": 1, "tell": 2}
    shelf.close()


def test_callers_callees_and_what_a_change_reaches_are_told_and_an_unknown_name_is_an_error(kiln):
    home, root, _ = kiln
    shelf = ProjectShelf(home, open_project)
    project = shelf.open(str(root))

    def asked(name, action):
        return {one.item.title: one.distance for one in code_symbols(project, SymbolQuery(name, action)).related}

    assert asked("Thing.harden", "callers") == {"Kiln.fire": 1, "weigh": 1}
    assert asked("weigh", "callees") == {"Thing.harden": 1}
    assert asked("draw", "impact") == {"App.show": 1, "App.run": 2}
    assert [one.title for one in code_symbols(project, SymbolQuery("kiln.clay.weigh")).symbols] == ["weigh"]
    with pytest.raises(InvalidRequest, match="no symbol is called"):
        code_symbols(project, SymbolQuery("nobody", "callers"))
    shelf.close()


def test_the_languages_of_snippets_are_known_and_asked_for(kiln):
    home, root, memory = kiln
    told = (
        "# Glaze\n\n## Mixing\n\n```python\nmix()\n```\n\n~~~ {.sh}\nmix now\n~~~\n\n"
        "## Firing glaze\n\n````md\n```rust\nno snippet of its own\n```\n````\n"
    )
    write(root, {"docs/glaze.md": told})
    read(memory)
    mixing = memory.items.by_key("section:docs/glaze.md#mixing")
    assert mixing.snippets == ("python", "shell")
    assert memory.items.by_key("section:docs/glaze.md#firing-glaze").snippets == ("markdown",)
    with closing(ProjectShelf(home, open_project)) as shelf:
        asked = MemoryQuery("glaze", (DOCS,), language="python")
        hits = search_memory(shelf.open(str(root)), asked, embedder=None).hits
    assert [hit.item.key for hit in hits] == [mixing.key]
    assert "with python, shell" in item_text(hits[0].item)


def test_a_file_name_that_is_not_utf_8_is_told_and_the_rest_is_read(tmp_path):
    root = write(tmp_path / "project", {".gitignore": "*.log\n", "ok.py": "def brew():\n    pass\n"})
    for name in (b"caf\xe9.py", b"caf\xe9.log", b"caf\xe9/inside.py", b"caf\xe9/inside.log"):
        path = Path(os.fsdecode(bytes(root) + b"/" + name))
        path.parent.mkdir(exist_ok=True)
        path.write_text("def lost():\n    pass\n")
    with begin(tmp_path / "home", root) as memory:
        done = read(memory)
        assert done.skipped == dict.fromkeys(("caf?.py", "caf?/inside.py"), "the file name is not UTF-8")
        assert set(memory.known()) == {".gitignore", "ok.py"}


def test_a_symbol_whose_file_was_changed_since_is_shown_where_it_is_now(project):
    root = Path(project.root)
    write(
        root, {"kiln/clay.py": f"# {'a new head' * 3}\n\n\n{FILES['kiln/clay.py']}", "README.md": "Moved.\n\n# Kiln\n"}
    )
    shown = show_item(project, "symbol:kiln/clay.py::weigh")
    assert (shown.body, shown.item.start) == ("def weigh(pot: Pot) -> int:\n    return pot.harden()", 13)
    assert show_item(project, "section:README.md#cooling").body == GONE
    write(root, {"kiln/clay.py": "def weight():\n    pass\n"})
    assert show_item(project, "symbol:kiln/clay.py::weigh").body == GONE
    assert show_item(project, "file:kiln/clay.py").body.startswith("def weight")


def test_a_file_name_with_a_line_end_is_shown_in_one_line(tmp_path):
    root = write(
        tmp_path / "project", {"a\n2. [function] faked.py": "def brew():\n    pass\n\n\ndef pour():\n    brew()\n"}
    )
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        opened = shelf.open(str(root))
        key = "symbol:a\n2. [function] faked.py::brew"
        assert "\n" not in item_text(show_item(opened, key).item)
        told = symbols_text(code_symbols(opened, SymbolQuery("brew", "callers")))
        assert [line for line in told.split("\n") if line.startswith("2.")] == []

"""Who calls what is told of every way to call, and of all definitions of a name together."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from app.projects.small_project import begin, read, write
from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.app.projects.symbols import SymbolQuery, code_symbols
from repertoire.app.wiring import open_project
from repertoire.domain.project import ABOUT, NOTE

OVERLOADED = (
    "from typing import overload\n\n\n@overload\ndef ask(x: int) -> int: ...\n@overload\ndef ask(x: str) -> str: ...\n"
    "def ask(x):\n    def helper(y):\n        return y\n    return helper(x)\n\n\n"
    "class Desk:\n    @overload\n    def sit(self, x: int) -> int: ...\n    def sit(self, x):\n        return x\n"
)
USES = (
    "from lib import Desk, ask\n\n\ndef one():\n    return ask(1)\n\n\ndef two(desk: Desk):\n    return desk.sit(2)\n"
)
PANEL = "export function Panel() { return <p/> }\nexport const Menu = { Item() { return <b/> } };\n"
PAGE = 'import { Panel } from "./panel";\nexport function Page() { return <div><Panel title="a"/></div>; }\n'
DECORATED = (
    "def deco(f): return f\n\n\ndef route(path): return deco\n\n\n"
    "@deco\ndef a1(): ...\n\n\n@route('/x')\ndef b1(): ...\n"
)


@pytest.fixture
def project(tmp_path: Path):
    """Return the open memory of a project with overloads, elements and decorators."""
    files = {
        "lib.py": OVERLOADED,
        "use.py": USES,
        "web/panel.tsx": PANEL,
        "web/page.tsx": PAGE,
        "web.py": DECORATED,
        "docs/animals.rst": "Animals\n=======\n\nPangolins roll up at night.\n",
        "words.txt": "pangolins\n" * 30_000,
    }
    root = write(tmp_path / "project", files)
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        yield shelf.open(str(root))


def related(project: OpenProject, name: str, action: str = "callers") -> list[str]:
    found = code_symbols(project, SymbolQuery(name, action=action))
    return sorted(one.item.key.partition("::")[2] or one.item.key for one in found.related)


@pytest.mark.parametrize("name", ["ask", "ask#3", "symbol:lib.py::ask#3"])
def test_all_definitions_of_an_overloaded_function_are_asked_together(project, name):
    assert related(project, name) == ["one"]
    assert related(project, "ask", "callees") == ["ask#3.helper"]


def test_an_overloaded_method_and_what_lies_in_an_overload_have_the_callers_that_are_theirs(project):
    assert related(project, "Desk.sit") == ["two"]
    assert related(project, "helper") == ["ask#3"]
    assert related(project, "one", "callees") == ["ask#3"]
    assert "one" in related(project, "ask", "impact")


def test_a_note_about_an_overloaded_function_is_kept_with_the_definition_that_runs(project):
    saved = save_entry(project, SaveRequest(NOTE, title="Ask politely", links=((ABOUT, "ask"),)), embedder=None)
    assert "symbol:lib.py::ask#3" in {link.target for link in saved.links}


def test_a_component_is_called_by_the_element_that_names_it_and_a_decorator_by_what_it_decorates(project):
    assert related(project, "Panel") == ["Page"]
    assert related(project, "deco") == ["a1"]
    assert related(project, "route") == ["b1"]


def test_what_other_rules_read_is_read_again_once(project):
    assert read(project.store).read == 0
    with project.store.transaction():
        project.store._db.set_meta("rules", "1")
    assert read(project.store).read == 7
    assert read(project.store).read == 0


def test_a_text_is_searched_by_its_lines_and_a_list_of_words_is_not(project):
    found = search_memory(project, MemoryQuery("pangolins"), embedder=None)
    assert {hit.item.path for hit in found.hits} == {"docs/animals.rst"}


def test_of_a_name_that_a_whole_monorepo_shares_each_package_has_its_own_and_all_are_counted(tmp_path):
    program = "from lib.log import write\n\n\ndef main():\n    return write(1)\n"
    files = {f"services/s{n:03}/main.py": program for n in range(220)}
    root = write(tmp_path / "mono", {**files, "lib/log.py": "def write(x):\n    return x\n"})
    with begin(tmp_path / "home", root) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        mono = shelf.open(str(root))
        (own,) = code_symbols(mono, SymbolQuery("main", below="services/s217")).symbols
        assert own.path == "services/s217/main.py"
        assert code_symbols(mono, SymbolQuery("s217.main.main")).symbols == (own,)
        assert code_symbols(mono, SymbolQuery("main", limit=20)).more == 200
        assert code_symbols(mono, SymbolQuery("write", action="callers", limit=20)).more == 200
        assert len(code_symbols(mono, SymbolQuery("main", action="callees")).symbols) == 50

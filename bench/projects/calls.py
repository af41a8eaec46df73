"""Compare the call edges of a Python project with those that jedi resolves: precision and recall.

    python bench/projects/calls.py FOLDER [--files 40]

Every call of some files of the folder, evenly spread, is looked up with jedi (`goto`, imports followed). An edge leads
from the definition around a call to the definition in the folder that it reaches. jedi is the measure, not the truth:
where it finds nothing and we do, that counts against our precision; the second figure leaves such calls out.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import jedi  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.projects.lines import clean
from repertoire.domain.project import CALLS, CodeFacts, Definition, Symbol, symbol_key
from repertoire.projects.code import read_code
from repertoire.projects.resolve import Resolver
from repertoire.syntax import PYTHON, Unparsable

Edge = tuple[str, str]


class HeldPrograms:
    """Programs that are held in memory."""

    def __init__(self, definitions: Iterable[Definition], facts: Mapping[str, tuple[str, CodeFacts]]) -> None:
        self.languages = {path: language for path, (language, _) in facts.items()}
        self._facts = {path: told for path, (_, told) in facts.items()}
        self._of: dict[str, list[Definition]] = defaultdict(list)
        self._named: dict[str, list[Definition]] = defaultdict(list)
        for one in definitions:
            self._of[one.path].append(one)
            self._named[one.name].append(one)

    def facts(self, path: str) -> CodeFacts:
        return self._facts.get(path, CodeFacts())

    def definitions(self, path: str) -> Sequence[Definition]:
        return self._of.get(path, ())

    def named(self, kinds: Sequence[str], name: str) -> Sequence[Definition]:
        return [one for one in self._named.get(name, ()) if one.kind in kinds]


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", type=Path)
    args.add_argument("--files", type=int, default=40)
    args.add_argument("--show", type=int, default=0, help="print so many differences of each sort")
    asked = args.parse_args()
    root = asked.folder.resolve()
    symbols, facts = read(root)
    definitions = [
        Definition(path, one.qualname, one.name, one.kind, one.container) for path, of in symbols.items() for one in of
    ]
    resolver = Resolver(HeldPrograms(definitions, {path: (PYTHON, told) for path, told in facts.items()}))
    chosen = sorted(facts)[:: max(1, len(facts) // asked.files)][: asked.files]
    project = jedi.Project(root, sys_path=[str(root)], smart_sys_path=False)
    ours, theirs, known = set[Edge](), set[Edge](), set[str]()
    for number, path in enumerate(chosen, 1):
        print(f"{number}/{len(chosen)} {path}", file=sys.stderr, flush=True)
        ours |= {(e.source, e.target) for e in resolver.edges(path) if e.relation == CALLS and e.source != e.target}
        for source, name, targets in looked_up(root, path, symbols, project):
            theirs |= {(source, target) for target in targets if target != source}
            if targets != {""}:
                known.add(f"{source} {name}")
    theirs = {edge for edge in theirs if edge[1]}
    both = ours & theirs
    told = {edge for edge in ours if f"{edge[0]} {edge[1].rpartition('.')[2].rpartition(':')[2]}" in known} | both
    print(f"{len(chosen)} files: ours {len(ours)}, jedi {len(theirs)}, both {len(both)}")
    print(
        f"precision {len(both) / max(len(ours), 1):.3f} ({len(both) / max(len(told), 1):.3f} where jedi finds anything)"
    )
    print(f"recall {len(both) / max(len(theirs), 1):.3f}")
    for name, edges in (("ours alone", ours - theirs), ("jedi alone", theirs - ours)):
        for edge in sorted(edges)[: asked.show]:
            print(f"{name}: {edge[0]} -> {edge[1]}")


def read(root: Path) -> tuple[dict[str, tuple[Symbol, ...]], dict[str, CodeFacts]]:
    symbols, facts = {}, {}
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root).as_posix()
        try:
            symbols[path], facts[path] = read_code(path, clean(file.read_text(encoding="utf-8"), path), PYTHON)
        except (Unparsable, UnicodeDecodeError) as error:
            print(f"left out {path}: {error}", file=sys.stderr)
    return symbols, facts


def looked_up(
    root: Path, path: str, symbols: dict[str, tuple[Symbol, ...]], project: jedi.Project
) -> Iterator[tuple[str, str, set[str]]]:
    """Yield for each call: the symbol around it, the called name, and the symbols that jedi finds ("": outside)."""
    text = (root / path).read_text(encoding="utf-8")
    script = jedi.Script(text, path=root / path, project=project)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        line = node.func.end_lineno or node.lineno
        column = len(
            (text.split("\n")[line - 1].encode()[: (node.func.end_col_offset or 1) - len(name.encode())]).decode()
        )
        try:
            found = script.goto(line, column, follow_imports=True)
        except Exception as error:  # noqa: BLE001 - jedi fails on some programs; they are not counted
            print(f"jedi failed at {path}:{line}: {error}", file=sys.stderr)
            continue
        targets = {symbol_of(root, one, symbols) for one in found if one.type in ("function", "class")}
        yield around(path, node.lineno, symbols[path]), name, targets


def around(path: str, line: int, symbols: tuple[Symbol, ...]) -> str:
    inside = [one for one in symbols if one.start <= line <= one.end and one.kind not in ("module", "lines")]
    # a decorator stands in the lines of what it decorates, and is called by what is around that
    innermost = max(inside, key=lambda one: (one.start, -one.end), default=None)
    return symbol_key(path, innermost.qualname if innermost else "")


def symbol_of(root: Path, found: jedi.api.classes.Name, symbols: dict[str, tuple[Symbol, ...]]) -> str:
    place = Path(found.module_path) if found.module_path else None
    if place is None or not place.is_relative_to(root):
        return ""
    path = place.relative_to(root).as_posix()
    fits = [
        one for one in symbols.get(path, ()) if one.name == found.name and one.start <= (found.line or 0) <= one.end
    ]
    best = max(fits, key=lambda one: one.start, default=None)
    return symbol_key(path, best.qualname) if best else ""


if __name__ == "__main__":
    main()

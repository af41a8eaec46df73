"""Count the tokens until a right place is read: the memory's answers beside grep and reading files.

    python bench/projects/tokens.py SET_DIR [--cache FOLDER]
    python bench/projects/tokens.py --callers FOLDER

SET_DIR is a set for `repertoire eval --kind code`. The memory answers with its usual eight results, of which the texts
are read in order until one shares a line with a right place. The other way names the files that hold the question's
words (as ripgrep's list of files does, at most 250), those with most of them first, and reads them whole (at most 2,000
lines, as the client's Read does) until a right one is read. With --callers it is asked who calls each of 200 functions
of a folder of Python: `code_symbols` beside all lines with the name. A token is four characters. Where nothing right
comes among the first eight, all that was read counts, and the question counts as not found.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.measure.labelled import CachedEmbedder, read_queries
from repertoire.app.measure.projects import places_of, touches, unpack
from repertoire.app.projects.index import begin_memory, index_project
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.app.projects.show import show_item
from repertoire.app.projects.symbols import SymbolQuery, code_symbols
from repertoire.app.wiring import open_project
from repertoire.domain.project import CODE, DOCS
from repertoire.domain.text import content_words
from repertoire.inference.embedder import load
from repertoire.inference.weights import bundled
from repertoire.rendering.projects import memory_answer_text, shown_item_text, symbols_text
from repertoire.store.project_file import ProjectStore

_FIRST, _LISTED, _LINES, _CALLERS = 8, 250, 2_000, 200
_TEXT = re.compile(r"[^\W_]+")


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("set_dir", type=Path, nargs="?")
    args.add_argument("--cache", type=Path)
    args.add_argument("--callers", type=Path)
    asked = args.parse_args()
    with tempfile.TemporaryDirectory(prefix="repertoire-tokens-") as folder:
        if asked.callers:
            print(json.dumps(callers(asked.callers.resolve(), Path(folder)), indent=1))
        else:
            print(json.dumps(questions(asked.set_dir, Path(folder), asked.cache), indent=1))


def questions(set_dir: Path, folder: Path, cache: Path | None) -> dict[str, Any]:
    root, home = folder / "project", folder / "home"
    root.mkdir()
    labelled, queries = read_queries(set_dir, "dev", needs_corpus=False)
    named = unpack(set_dir, root)
    embedder = CachedEmbedder(load(bundled()), cache)
    with open_project(begin_memory(home, str(root), open_project)) as memory:
        index_project(memory, most_files=100_000, embedder=embedder)
    texts = {path.relative_to(root).as_posix(): path.read_text(errors="replace") for path in files_of(root)}
    held = {path: {word.lower() for word in _TEXT.findall(text)} for path, text in texts.items()}
    shelf = ProjectShelf(home, open_project)
    rows: dict[str, list[tuple[int, bool]]] = {"memory": [], "grep and read": []}
    for query in queries:
        places = places_of(labelled.gold[query["id"]], named)
        kind = DOCS if query.get("mode") == DOCS else CODE
        rows["memory"].append(by_memory(shelf.open(str(root)), str(query["text"]), kind, places, embedder))
        rows["grep and read"].append(by_grep(str(query["text"]), texts, held, {path for path, _, _ in places}))
    shelf.close()
    return {"questions": len(queries), **{name: summed(found) for name, found in rows.items()}}


def by_memory(
    project: OpenProject, question: str, kind: str, places: Sequence[tuple[str, int, int]], embedder: CachedEmbedder
) -> tuple[int, bool]:
    answer = search_memory(project, MemoryQuery(question, (kind,), limit=_FIRST), embedder=embedder)
    read = len(memory_answer_text(answer))
    for hit in answer.hits:
        read += len(shown_item_text(show_item(project, hit.item.key)))
        if any(touches(hit.item, place) for place in places):
            return read // 4, True
    return read // 4, False


def by_grep(question: str, texts: Mapping[str, str], held: Mapping[str, set[str]], right: set[str]) -> tuple[int, bool]:
    words = {*content_words(question)}
    found = sorted((path for path in texts if words & held[path]), key=lambda path: (-len(words & held[path]), path))
    read = sum(len(path) + 1 for path in found[:_LISTED])
    for path in found[:_FIRST]:
        lines = texts[path].split("\n")[:_LINES]
        read += sum(len(line) + 8 for line in lines)  # the client numbers lines
        if path in right:
            return read // 4, True
    return read // 4, False


def callers(root: Path, home: Path) -> dict[str, Any]:
    with ProjectStore.open(begin_memory(home, str(root), open_project)) as memory:
        index_project(memory, most_files=100_000)
    programs = [path for path in files_of(root) if path.suffix == ".py"]
    texts = {path.relative_to(root).as_posix(): path.read_text(errors="replace") for path in programs}
    shelf = ProjectShelf(home, open_project)
    project = shelf.open(str(root))
    rows: dict[str, list[tuple[int, bool]]] = {"code_symbols": [], "grep": []}
    names = sorted({item.title.rpartition(".")[2] for path in texts for item in functions(project, path)})
    for name in names[:: max(len(names) // _CALLERS, 1)][:_CALLERS]:
        answer = code_symbols(project, SymbolQuery(name, "callers"))
        rows["code_symbols"].append((len(symbols_text(answer)) // 4, bool(answer.symbols)))
        word = re.compile(rf"\b{re.escape(name)}\b")
        lines = [
            f"{path}:{number}:{line}"
            for path, text in texts.items()
            if name in text
            for number, line in enumerate(text.split("\n"), 1)
            if word.search(line)
        ]
        rows["grep"].append((sum(len(line) + 1 for line in lines) // 4, bool(lines)))
    shelf.close()
    return {"functions": len(rows["grep"]), **{name: summed(found) for name, found in rows.items()}}


def functions(project: OpenProject, path: str) -> Iterator[Any]:
    return (item for item in project.store.items.in_file(path, limit=1_000) if item.kind in ("function", "method"))


def files_of(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file() and path.stat().st_size < 1_000_000)


def summed(found: Sequence[tuple[int, bool]]) -> dict[str, float]:
    tokens = np.array([one for one, _ in found])
    return {
        "found_percent": round(100 * float(np.mean([right for _, right in found])), 1),
        "tokens_median": int(np.median(tokens)),
        "tokens_mean": int(np.mean(tokens)),
    }


if __name__ == "__main__":
    main()

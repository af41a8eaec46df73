"""Measure reading, changing and searching a large project: time, memory, and searches beside FTS5 and numpy.

    python bench/projects/scale.py FOLDER… [--json FILE] [--keep HOME]

Each folder is read as a project into a new home, without the model: the vectors of its texts are random unit vectors,
which cost as much as real ones and say nothing about quality. A question is answered by the search, by FTS5 alone, and
by FTS5 and two products of numpy over all vectors; all three in turn, in the same process, each embedding the question
where it needs that. An edit adds a function to a program: to one that nobody imports, and to the one that most others
import; it is put back. The time of an edit is that until a question finds the function, beside a process that watches.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.boot.threads import one_thread

one_thread()  # before numpy is imported, as in a server
# ruff: noqa: E402

import numpy as np

from repertoire.app.projects.index import begin_memory
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import OpenProject, ProjectShelf
from repertoire.app.projects.symbols import SymbolQuery, code_symbols
from repertoire.app.wiring import open_embedder, open_project
from repertoire.domain.project import CODE
from repertoire.domain.text import content_words
from repertoire.inference.embedder import IdleEmbedder
from repertoire.retrieval.project import spaces_of
from repertoire.settings import Settings
from repertoire.store.project_file import ProjectStore

_QUESTIONS = 60
_ROUNDS = 3
_IDLE_S = 20.0
_PATIENCE_S = 60.0


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folders", type=Path, nargs="+")
    args.add_argument("--json", type=Path)
    args.add_argument("--keep", type=Path, help="a home that is kept, and used if it is there already")
    asked = args.parse_args()
    with tempfile.TemporaryDirectory(prefix="repertoire-scale-") as folder:
        home = asked.keep or Path(folder)
        embedder, _ = open_embedder(home, Settings())
        if embedder is None:
            sys.exit("there is no model to embed the questions with")
        found: dict[str, Any] = {
            "machine": f"{os.cpu_count()} x {platform.processor() or platform.machine()}",
            "load": round(os.getloadavg()[0], 1),
            "projects": {one.name: measured(one.resolve(), home, embedder) for one in asked.folders},
            "open_together_mb": together(home, [str(one.resolve()) for one in asked.folders], embedder),
        }
    text = json.dumps(found, indent=1)
    print(text)
    if asked.json:
        asked.json.write_text(text + "\n", encoding="utf-8")


def measured(root: Path, home: Path, embedder: IdleEmbedder) -> dict[str, Any]:
    print(root, file=sys.stderr, flush=True)
    found: dict[str, Any] = {"first": in_a_process(root, home), "again": in_a_process(root, home)}
    with open_project(begin_memory(home, str(root), open_project)) as memory:
        give_vectors(memory, embedder)
        counts = memory.counts(embedder.model)
        found |= {"files": counts.files, "symbols": counts.symbols, "calls": counts.calls, "texts": counts.to_embed}
        found["megabytes"] = round(memory.path.stat().st_size / 1e6, 1)
        leaf, hub = programs_of(memory)
    shelf = ProjectShelf(home, ProjectStore.open)
    try:
        found["search"] = searches(shelf.open(str(root)), embedder)
        with watching(root, home) as process:
            found["edit_s"] = [edit(shelf, root, leaf), edit(shelf, root, leaf)]
            found["edit_of_what_most_import_s"] = [edit(shelf, root, hub)]
            time.sleep(_IDLE_S / 2)
            before = used(process.pid)
            time.sleep(_IDLE_S)
            found["idle_percent"] = round(100 * (used(process.pid) - before) / _IDLE_S, 2)
            found["watch_mb"] = resident_mb(process.pid)
    finally:
        shelf.close()
    return found


def in_a_process(root: Path, home: Path) -> dict[str, float]:
    """Read a project in a process of its own, as `project init --no-vectors` does."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, __file__.replace("scale.py", "read_once.py"), str(root), str(home)]
    told = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(time.perf_counter() - started, 1), "cpu_s": round(cpu, 1), **told}


def give_vectors(memory: ProjectStore, embedder: IdleEmbedder) -> None:
    numbers = np.random.default_rng(0)
    waiting = [row for rows in memory.pending(embedder.model).values() for row in rows]
    for space in {row[2] for row in waiting}:
        of_space = [(row[0], row[3]) for row in waiting if row[2] == space]
        for start in range(0, len(of_space), 4_000):
            part = of_space[start : start + 4_000]
            vectors = numbers.standard_normal((len(part), embedder.dimensions)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            memory.vectors.put(space, embedder.model, part, vectors)


def programs_of(memory: ProjectStore) -> tuple[str, str]:
    """Return a program into which no other's names lead, and the one into which those of most do."""
    programs = memory.programs()
    plain = [path for path, language in sorted(programs.languages.items()) if language in ("python", "typescript")]
    led = programs.referring(plain)
    alone = [path for path in plain if len(led.get(path, ())) <= 1 and programs.definitions(path)]
    return alone[len(alone) // 2], max(plain, key=lambda path: len(led.get(path, ())))


def searches(project: OpenProject, embedder: IdleEmbedder) -> dict[str, Any]:
    names = project.store.items.files(limit=2_000)[0]
    words = [one.title.replace("_", " ").rpartition(".")[0] or one.title for one in names][:: 2_000 // _QUESTIONS]
    questions = [f"where is {one} handled" for one in words[:_QUESTIONS]]
    index = project.index(CODE, embedder.model)
    chunks, headings = (project.store.vectors.matrix(space, embedder.model)[1] for space in spaces_of(CODE))

    def fts5(question: str) -> None:
        project.store.graph.match(content_words(question), limit=400, weights=(2.0, 1.0, 1.0), view=CODE)

    def plain(question: str) -> None:
        fts5(question)
        vector = embedder.embed_passages([question])[0]
        for matrix in (chunks, headings):
            scores = matrix @ vector
            np.argpartition(-scores, 200)

    ways: dict[str, Callable[[str], object]] = {
        "search": lambda question: search_memory(project, MemoryQuery(question, (CODE,)), embedder=embedder),
        "fts5": fts5,
        "fts5_and_numpy": plain,
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for number in range(_ROUNDS + 1):
        for question in questions:
            for name, ask in ways.items():
                started, cpu = time.perf_counter(), time.process_time()
                ask(question)
                if number:
                    times[name].append((time.perf_counter() - started, time.process_time() - cpu))
    found: dict[str, Any] = {"rows": len(index)}
    for name, taken in times.items():
        wall, cpus = (np.array(part) * 1_000 for part in zip(*taken, strict=True))
        found[name] = {
            "p50_ms": round(float(np.percentile(wall, 50)), 1),
            "p95_ms": round(float(np.percentile(wall, 95)), 1),
            "p95_cpu_ms": round(float(np.percentile(cpus, 95)), 1),
        }
    found["p95_ratio"] = round(found["search"]["p95_ms"] / found["fts5_and_numpy"]["p95_ms"], 2)
    return found


@contextlib.contextmanager
def watching(root: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Let a process watch a project, as a server does, from the time when it has looked at all files."""
    line = [sys.executable, "-m", "repertoire", "project", "watch", "--while-input", "--quiet"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "server"),
        "REPERTOIRE_HOME": str(home),
        "CLAUDE_PROJECT_DIR": str(root),
        "REPERTOIRE_MODEL": "none/at-all",
        "REPERTOIRE_MAX_FILES": "100000",
    }
    with subprocess.Popen(line, env=environment, cwd=root, stdin=subprocess.PIPE) as process:
        time.sleep(12.0)
        yield process
        if process.stdin is not None:
            process.stdin.close()
        process.wait(_PATIENCE_S)


def edit(shelf: ProjectShelf, root: Path, path: str) -> float:
    """Return the seconds from a change of a program until a question finds what was added, and put it back."""
    file, name = root / path, f"added_{time.time_ns()}"
    before = file.read_text(encoding="utf-8")
    comment = f"def {name}():\n    return 1\n" if path.endswith(".py") else f"export function {name}() {{ return 1 }}\n"
    try:
        started = time.perf_counter()
        file.write_text(f"{before}\n\n{comment}", encoding="utf-8")
        while time.perf_counter() - started < _PATIENCE_S:
            project = shelf.open(str(root))
            if code_symbols(project, SymbolQuery(name)).symbols:
                answer = search_memory(project, MemoryQuery(name, (CODE,)), embedder=None)
                if answer.hits and answer.hits[0].item.title == name:
                    return round(time.perf_counter() - started, 2)
            time.sleep(0.02)
        return _PATIENCE_S
    finally:
        file.write_text(before, encoding="utf-8")
        time.sleep(6.0)


def together(home: Path, roots: list[str], embedder: IdleEmbedder) -> dict[str, float]:
    """Return the memory of a process that answers from one project after the other, all of them open."""
    line = [sys.executable, __file__.replace("scale.py", "read_once.py"), "--ask", str(home), *roots]
    del embedder
    return dict(json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout))


def used(pid: int) -> float:
    """Return the processor time of a process in seconds."""
    parts = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return round(int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024, 1)


if __name__ == "__main__":
    main()

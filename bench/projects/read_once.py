"""Read a project into a home, or answer from several projects, in a process of its own; print what it took as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.projects.index import begin_memory, index_project
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.wiring import open_embedder, open_project
from repertoire.settings import Settings
from repertoire.store.project_file import ProjectStore


def peak_mb() -> float:
    return _status_mb("VmHWM")  # not `getrusage`, which begins with what the parent had at the fork


def now_mb() -> float:
    return _status_mb("VmRSS")


def _status_mb(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return round(int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024, 1)


def main() -> None:
    if sys.argv[1] != "--ask":
        root, home = sys.argv[1], Path(sys.argv[2])
        with open_project(begin_memory(home, root, open_project)) as memory:
            done = index_project(memory, most_files=100_000)
        print(json.dumps({"peak_mb": peak_mb(), "read": done.read}))
        return
    home, roots = Path(sys.argv[2]), sys.argv[3:]
    embedder, _ = open_embedder(home, Settings())
    shelf = ProjectShelf(home, ProjectStore.open)
    for root in roots * 2:
        search_memory(shelf.open(root), MemoryQuery("how is a request handled"), embedder=embedder)
    print(json.dumps({"peak": peak_mb(), "now": now_mb()}))
    shelf.close()


if __name__ == "__main__":
    main()

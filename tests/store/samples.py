"""Small components and sources for the store's tests, and processes that use a store from outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from repertoire.domain.component import Component, Edge, FileRecord, Node, SourceInfo

SERVER = Path(__file__).parents[2] / "server"
NOW = "2026-01-01T00:00:00Z"
LATER = "2026-01-02T00:00:00Z"
SOURCE = SourceInfo("github.com/acme/skills", "git", "https://github.com/acme/skills", "acme/skills", "abc")


def component(key: str, text: str = "", **fields: object) -> Component:
    values = {"name": key.rpartition("/")[2], "description": text, "content_hash": f"hash of {text}", **fields}
    return Component(key, "skill", **values)  # type: ignore[arg-type]


def record(path: str, *components: Component, edges: tuple[Edge, ...] = (), nodes: tuple[Node, ...] = ()) -> FileRecord:
    return FileRecord(path, f"{path} {components} {edges} {nodes}", components, nodes, edges)


def in_process(code: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run code with the package on its path, in a process of its own."""
    return subprocess.run(command(code, *arguments), capture_output=True, text=True, check=check, timeout=120)


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Start code in a process of its own, its standard streams connected."""
    return subprocess.Popen(
        command(code, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def command(code: str, *arguments: object) -> list[str]:
    prelude = (
        f"import sys; sys.path.insert(0, {str(SERVER)!r})\n"
        "from pathlib import Path\n"
        "from repertoire.store.database import Store\n"
        "from repertoire.domain.event import Event\n"
    )
    return [sys.executable, "-c", prelude + code, *map(str, arguments)]

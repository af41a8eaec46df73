"""Writes a small project in several languages, and reads it into a memory."""

from __future__ import annotations

from pathlib import Path

from repertoire.app.projects.index import Indexed, begin_memory, index_project
from repertoire.app.wiring import open_project
from repertoire.ports import Embedder
from repertoire.store.project_file import ProjectStore

FILES = {
    ".gitignore": "build/\n*.log\n",
    "README.md": "# Kiln\n\nFires pots.\n\n## Cooling\n\nThe kiln cools slowly so that no glaze cracks.\n",
    "kiln/__init__.py": "",
    "kiln/heat.py": (
        '"""Heating."""\nfrom kiln.clay import Pot\nfrom . import clay as material\n\n\n'
        "class Kiln:\n    def __init__(self, pot: Pot) -> None:\n        self.pot = pot\n\n"
        '    def fire(self) -> None:\n        """Heat the pot until it is hard."""\n        self.warm()\n'
        "        self.pot.harden()\n        material.weigh(self.pot)\n\n    def warm(self) -> None:\n        pass\n"
    ),
    "kiln/clay.py": (
        "class Thing:\n    def harden(self) -> int:\n        return 1\n\n\nclass Pot(Thing):\n    pass\n\n\n"
        "def weigh(pot: Pot) -> int:\n    return pot.harden()\n"
    ),
    "web/app.ts": (
        'import { draw } from "./draw";\nexport class App {\n  run(): void { this.show(); }\n  show() { draw(); }\n}\n'
    ),
    "web/draw.ts": "export const draw = () => 1;\n",
    "cmd/main.go": "package main\n\nfunc helper() int { return 1 }\n\nfunc main() { helper() }\n",
    "src/lib.rs": "pub mod pot;\npub fn start() { pot::turn(); }\n",
    "src/pot.rs": "/// Turns the pot.\npub fn turn() {}\n",
    "Oven.java": "class Oven {\n  void open() { close(); }\n  void close() {}\n}\n",
    ".env": "KILN_TOKEN=abcdefgh12345678\n",
    "build/out.py": "def built(): pass\n",
    "noise.log": "noise\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    """Write files below a folder, and return the folder."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def begin(home: Path, root: Path) -> ProjectStore:
    """Return the new memory of a project, open."""
    return open_project(begin_memory(home, str(root), open_project))


def read(memory: ProjectStore, embedder: Embedder | None = None) -> Indexed:
    """Read what changed into a memory."""
    return index_project(memory, most_files=1_000, embedder=embedder)

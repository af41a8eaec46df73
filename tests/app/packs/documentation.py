"""Writes small documentation for tests, and builds packs of it."""

from __future__ import annotations

from pathlib import Path

from repertoire.app.packs.build import BuildRequest, BuiltPack, build_pack
from repertoire.app.wiring import open_new_pack
from repertoire.ports import Embedder
from repertoire.settings import Settings

WILLOW = {
    "README.md": "# Willow baskets\n\nHow to weave. See [soaking](guide/soak.md).\n",
    "guide/soak.md": "# Soaking\n\nWillow rods lie in water for a week before weaving.\n\n## How long\n\nSeven days.\n",
    "guide/tools.md": "# Tools\n\nA bodkin opens the weave; a rapping iron closes it.\n",
}
LEDGER = {"ledger.md": "# Ledgers\n\nCompare each entry of the ledger with the statement of the bank.\n"}


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder, and return the folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def build(home: Path, name: str, origin: Path, embedder: Embedder | None = None, **more) -> BuiltPack:
    """Build a pack into a home."""
    asked = BuildRequest(name, str(origin), **more)
    return build_pack(home, asked, open_new_pack, embedder=embedder, settings=Settings(), report=lambda *_: None)

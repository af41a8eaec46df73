#!/usr/bin/env python3
"""Draws the components of the labelled set by chance: the same seed and the same files give the same rows."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SEED = 20260317
QUOTAS = {"skill": 60, "agent": 35, "command": 20, "plugin": 12, "mcp_server": 13, "hook": 9, "setting": 1}
_KINDS = {"skill": "skill", "agent": "agent", "command": "command", "plugin": "plugin", "mcp": "mcp_server"}
_NAMED = re.compile(r"^name:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Candidate:
    """One component of one file."""

    repository: str
    path: str
    name: str
    type: str
    sha256: str


def candidates(root: Path) -> list[Candidate]:
    """List every component that the manifests name, once: copies of a file and of a name count as one."""
    found: dict[tuple[str, str, str], Candidate] = {}
    for manifest in sorted((root / "manifests").glob("*.json")):
        folder = root / manifest.stem
        for entry in json.loads(manifest.read_text("utf-8"))["files"]:
            for candidate in _of_file(folder, manifest.stem.replace("+", "/", 1), entry):
                key = (candidate.repository, candidate.type, candidate.name.lower())
                other = found.get(key)
                if other is None or (len(candidate.path), candidate.path) < (len(other.path), other.path):
                    found[key] = candidate
    unique: dict[str, Candidate] = {}
    for candidate in sorted(found.values()):
        unique.setdefault(f"{candidate.sha256}:{candidate.name}", candidate)
    return list(unique.values())


def _of_file(folder: Path, repository: str, entry: dict[str, Any]) -> Iterator[Candidate]:
    file = folder / entry["path"]
    if not file.is_file():
        return
    content = file.read_bytes()
    kind = _KINDS.get(entry["type"], "")
    text = content.decode("utf-8", "replace")
    if entry["type"] == "hook":
        kind = "setting" if "/settings/" in entry["path"] else "hook"
    if not kind or (kind in ("hook", "setting") and '"hooks"' not in text):
        return
    for name in _names(kind, file, text):
        yield Candidate(repository, entry["path"], name, kind, hashlib.sha256(content).hexdigest())


def _names(kind: str, file: Path, text: str) -> list[str]:
    if kind == "command":
        return [file.stem]
    if kind in ("skill", "agent"):
        front = text.split("\n---", 1)[0] if text.startswith("---") else ""
        named = _NAMED.search(front)
        fallback = file.parent.name if kind == "skill" else file.stem.removesuffix(".agent")
        return [named.group(1).strip("'\"") if named else fallback]
    if kind in ("hook", "setting"):
        return [file.stem if file.stem != "hooks" else _owner(file)]
    if file.suffix == ".yaml":
        named = _NAMED.search(text)
        return [named.group(1).strip("'\"")] if named else []
    return _names_in_json(kind, text)


def _owner(file: Path) -> str:
    above = file.parent if file.parent.name != "hooks" else file.parent.parent
    for manifest in (above / ".claude-plugin" / "plugin.json", above / "plugin.json"):
        if manifest.is_file():
            return str(json.loads(manifest.read_text("utf-8"))["name"])
    return above.name


def _names_in_json(kind: str, text: str) -> list[str]:
    try:
        data = json.loads(text)
    except ValueError:
        return []
    if not isinstance(data, dict):
        return []
    if kind == "plugin":
        return [data["name"]] if isinstance(data.get("name"), str) else []
    servers = data.get("mcpServers", data.get("servers", data))
    return [name for name, server in servers.items() if isinstance(server, dict) and {"command", "url"} & set(server)]


def draw(pool: Sequence[Candidate], quota: int, chance: random.Random) -> list[Candidate]:
    """Draw a type's components, from each repository in proportion to the square root of what it has."""
    by_repository: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(pool):
        by_repository[candidate.repository].append(candidate)
    for listed in by_repository.values():
        chance.shuffle(listed)
    taken: dict[str, int] = dict.fromkeys(by_repository, 0)
    for _ in range(min(quota, len(pool))):
        # Highest averages: the next one comes from where the square root per component taken so far is largest.
        left = [name for name, listed in by_repository.items() if taken[name] < len(listed)]
        taken[max(left, key=lambda name: (math.sqrt(len(by_repository[name])) / (taken[name] + 0.5), name))] += 1
    return [candidate for name in sorted(taken) for candidate in by_repository[name][: taken[name]]]


def _identity(row: dict[str, Any]) -> tuple[str, ...]:
    return row["repository"], row["path"], row["name"]


def main() -> int:
    """Print the drawn rows, one JSON object a line."""
    data = os.environ.get("REPERTOIRE_COMPONENTS_DATA")
    if not data:
        print("set REPERTOIRE_COMPONENTS_DATA to the folder of the repositories and manifests/", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--share", type=float, default=1.0, help="of each type's quota, at least one component")
    parser.add_argument("--without", type=Path, action="append", default=[], help="labels that are not drawn again")
    asked = parser.parse_args()
    taken = {_identity(json.loads(line)) for path in asked.without for line in path.read_text("utf-8").splitlines()}
    chance = random.Random(asked.seed)
    pool = [item for item in candidates(Path(data)) if _identity(asdict(item)) not in taken]
    for kind, quota in QUOTAS.items():
        share = max(1, round(quota * asked.share))
        for candidate in draw([item for item in pool if item.type == kind], share, chance):
            print(json.dumps(asdict(candidate), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Finds and reads the files that make up the plugin's surface."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SERVER = "plugin:repertoire:graph"
TOOL_PREFIX = "mcp__plugin_repertoire_graph__"

SKILLS = sorted(ROOT.glob("skills/*/SKILL.md"))
COMMANDS = sorted(ROOT.glob("commands/*.md"))
AGENTS = sorted(ROOT.glob("agents/*.md"))
PROSE = [*SKILLS, *COMMANDS, *AGENTS]


@dataclass(frozen=True, slots=True)
class Document:
    """One Markdown file of the surface, split into front matter and body."""

    front: dict[str, Any]
    body: str

    @property
    def tools(self) -> set[str]:
        """Return the short names of our MCP tools that the document names anywhere."""
        return set(re.findall(rf"{TOOL_PREFIX}(\w+)", f"{self.front} {self.body}"))

    @property
    def granted(self) -> list[str]:
        """Return what the front matter allows or hands to an agent, one tool an item."""
        listed = self.front.get("allowed-tools") or self.front.get("tools") or ""
        return [name.strip() for name in listed.split(",") if name.strip()]


def document(path: Path) -> Document:
    """Return a file's front matter and body; a file without front matter is an error."""
    opening, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert opening == "", f"{path} does not start with front matter"
    return Document(yaml.safe_load(front), body)


def read_json(name: str) -> Any:
    """Return a JSON file of the repository."""
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def project_field(name: str) -> str:
    """Return a text field of the project file."""
    found = re.search(rf'(?m)^{name} = "([^"]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert found is not None, f"pyproject.toml has no {name}"
    return found[1]


def label(path: Path) -> str:
    """Return a file's path inside the repository, for test ids."""
    return path.relative_to(ROOT).as_posix()

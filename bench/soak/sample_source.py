"""Writes repositories of components for soak runs to read, as they are and as they are a commit later."""

from __future__ import annotations

import random
from pathlib import Path

TOPICS = (
    ("pdf", "Fills the fields of PDF forms from a spreadsheet"),
    ("changelog", "Writes release notes and a changelog from the commits of a git repository"),
    ("ledger", "Audits an accounting ledger for postings that do not balance"),
    ("postgres", "Runs SQL queries against a PostgreSQL database and explains slow ones"),
    ("browser", "Drives a real browser for end-to-end tests with screenshots"),
    ("kubernetes", "Deploys services to Kubernetes with Helm charts and rollbacks"),
)
WORDS = "check draft gather list measure name order plan quote read sort test trace verify weigh write".split()


def write_source(folder: Path, number: int, size: int, *, changed: bool) -> None:
    """Write a repository of skills, agents, commands, hooks and a server; `changed`: as it is a commit later."""
    draw = random.Random(f"{number}")
    _write(folder / ".claude-plugin/plugin.json", f'{{"name": "kit{number}", "version": "1.{int(changed)}.0"}}')
    for item in range(size):
        topic, text = TOPICS[(item + number) % len(TOPICS)]
        words = " ".join(draw.choices(WORDS, k=40))
        path = folder / ("agents" if item % 4 == 1 else "commands" if item % 4 == 2 else f"skills/{topic}-{item}")
        path = path / ("SKILL.md" if item % 4 in (0, 3) else f"{topic}-{item}.md")
        path.unlink(missing_ok=True)
        if changed and item % 5 == 4:  # gone
            continue
        body = f"# {topic}\n\nUse the {topic} skill. {words}\n" + (
            "Now with more.\n" if changed and item % 3 == 0 else ""
        )
        _write(path, f"---\nname: {topic}-{item}\ndescription: {text}, kind {item} of kit {number}.\n---\n\n{body}")
    if changed:
        _write(folder / "skills/new/SKILL.md", "---\nname: new\ndescription: Came a commit later.\n---\n\nNew.\n")
    _write(
        folder / "hooks/hooks.json", '{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "ruff"}]}]}}'
    )
    _write(folder / ".mcp.json", f'{{"mcpServers": {{"server{number}": {{"command": "npx", "args": ["-y", "a"]}}}}}}')


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

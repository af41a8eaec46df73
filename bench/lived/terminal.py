"""Asks a home through the command line with --json, and judges what it prints by the schemas of the tools."""

from __future__ import annotations

import json
from collections.abc import Sequence

from click.testing import CliRunner
from doors import Doors

from repertoire.cli.main import cli

_TOOL = {"recommend": "recommend_set", "search": "search_components"}
_ALONE = (("status",), ("stats",), ("review",), ("overlaps",), ("stale",), ("sources",), ("advisories",))


def run_all(doors: Doors, texts: Sequence[str], components: Sequence[str]) -> None:
    """Ask texts and explain components as a person does in a terminal, and everything that needs no words."""
    for text in texts:
        for verb in _TOOL:
            _run(doors, verb, text)
    for component in components:
        _run(doors, "explain", component)
        doors.tool("explain_component", id=component)
    for words in _ALONE:
        _run(doors, *words)
    for tool in ("status", "list_tags", "list_packs"):
        doors.tool(tool)


def _run(doors: Doors, *words: str) -> None:
    done = CliRunner().invoke(cli, [*words, "--json"])
    try:
        data = json.loads(done.stdout)
    except ValueError:
        doors.tally.failures.append(f"repertoire {' '.join(words)}: {done.exception!r} {done.output[-300:]}")
        return
    if words[0] in _TOOL:
        doors.judge(_TOOL[words[0]], words, data, door=f"repertoire {words[0]}")
    else:
        doors.tally.answered[f"repertoire {words[0]} answered"] += 1

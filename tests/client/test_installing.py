"""What `repertoire install` puts there the real client lists, and what `--undo` takes away it lists no more."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from client.machine import Completed, Machine, Settle

REPERTOIRE = Path(__file__).resolve().parents[2] / "bin" / "repertoire"
SKILL, SCRIPT = "pebble-counting", "scripts/count.sh"
KIT = {"name": "kit", "version": "1.0.0", "description": "Pebbles.", "dependencies": ["tide"], "defaultEnabled": False}
TIDE = {"name": "tide", "version": "1.0.0", "description": "Waves."}
LISTED = {
    "name": "shelf",
    "owner": {"name": "o"},
    "plugins": [{"name": n, "source": f"./{n}"} for n in ("kit", "tide")],
}

pytestmark = pytest.mark.client


@pytest.fixture
def machine(settle: Settle, interpreter: str, binary: Path, tmp_path: Path) -> Machine:
    """Return a machine with the client on PATH, the plugin not installed, and a home of its own."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "claude").symlink_to(binary)
    machine = settle(REPERTOIRE_PYTHON=interpreter, REPERTOIRE_HOME=str(tmp_path / "data"), REPERTOIRE_BACKGROUND="no")
    return machine.also(PATH=f"{place}{os.pathsep}{machine.env['PATH']}")


def repertoire(machine: Machine, *words: str) -> Completed:
    done = machine.run(REPERTOIRE, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def own(machine: Machine) -> dict[str, bytes]:
    """Return what a person's components, settings and plugin lists hold, byte for byte."""
    root = machine.home / ".claude"
    kept = [root / "settings.json", root / "plugins/known_marketplaces.json", root / "plugins/installed_plugins.json"]
    kept += [path for kind in ("skills", "agents", "commands") for path in (root / kind).rglob("*") if path.is_file()]
    return {str(path): path.read_bytes() for path in kept if path.exists()}


def test_a_skill_stands_in_the_listing_once_installed_and_is_gone_byte_for_byte_once_undone(
    machine: Machine, tmp_path: Path
) -> None:
    shelf = tmp_path / "a shelf"
    write(
        shelf / "skills" / SKILL / "SKILL.md", f"---\nname: {SKILL}\ndescription: Counts pebbles.\n---\nCount them.\n"
    )
    write(shelf / "skills" / SKILL / SCRIPT, "echo 3\n")
    repertoire(machine, "ingest", str(shelf))
    before = own(machine)

    repertoire(machine, "install", SKILL, "--yes")

    assert SKILL in machine.session("hello").init["skills"]
    assert (machine.home / ".claude/skills" / SKILL / SCRIPT).is_file()

    repertoire(machine, "install", "--undo")

    assert own(machine) == before
    assert not (machine.home / ".claude/skills" / SKILL).exists()
    assert SKILL not in machine.session("hello").init["skills"]


def test_a_plugins_skill_comes_and_goes_with_its_plugin_and_what_that_depends_on_and_a_server_with_its_line(
    machine: Machine, tmp_path: Path
) -> None:
    market = tmp_path / "market"
    write(market / ".claude-plugin/marketplace.json", json.dumps(LISTED))
    write(market / "kit/.claude-plugin/plugin.json", json.dumps(KIT))
    write(market / "tide/.claude-plugin/plugin.json", json.dumps(TIDE))
    write(
        market / "tide/skills/wave-counting/SKILL.md", "---\nname: wave-counting\ndescription: Counts.\n---\nWaves.\n"
    )
    write(market / "kit/skills" / SKILL / "SKILL.md", f"---\nname: Odd name\ndescription: Counts.\n---\n{SKILL}.\n")
    write(market / "mcp.json", '{"mcpServers": {"sea.bed": {"command": "no-such-program", "env": {"SEA_KEY": "x"}}}}\n')
    repertoire(machine, "ingest", str(market))
    before = own(machine)

    repertoire(machine, "install", f"kit:{SKILL}", "sea.bed", "--yes")

    opening = machine.session("hello").init
    assert {f"kit:{SKILL}", "tide:wave-counting"} <= {*opening["skills"]}
    assert "sea-bed" in [server["name"] for server in opening["mcp_servers"]]

    repertoire(machine, "install", "--undo")

    opening = machine.session("hello").init
    assert own(machine) == before
    assert not {f"kit:{SKILL}", "tide:wave-counting"} & {*opening["skills"]}
    assert "sea-bed" not in [server["name"] for server in opening["mcp_servers"]]

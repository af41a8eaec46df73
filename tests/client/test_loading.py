"""Which files of plugins, settings and projects the client loads, and under which name: the graph has the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from client.machine import REPOSITORY, Machine, Settle
from repertoire.domain.component import AGENT, COMMAND, SKILL, Component
from repertoire.sources.installed import switched_off
from repertoire.store.database import Store

pytestmark = pytest.mark.client

MANIFESTS = {  # plugin -> its manifest; None where it has none
    "default": {},
    "none": None,
    "instead": {"commands": ["./more/named.md"], "agents": ["./more/one.md"], "skills": ["./more"]},
    "nothing": {"commands": []},
    "top": {},
    "strange": {},
    "entry": None,
    "both": {"commands": ["./more/named.md"]},
    "elsewhere": None,  # its manifest lies where Claude Code looks for none
}
ENTRIES = {  # plugin -> what its entry in the marketplace says besides
    "entry": {"strict": False, "commands": ["./more/named.md"], "skills": ["./more/x"]},
    "both": {"commands": ["./more/listed.md"]},
}
FILES = {
    "default": ("commands/usual.md", "commands/deep/er.md", "agents/deep/er.md", "skills/usual", "skills/deep/er"),
    "none": ("commands/usual.md", "skills/usual"),
    "instead": (
        "commands/usual.md",
        "agents/usual.md",
        "skills/usual",
        "more/named.md",
        "more/one.md",
        "more/x/y/deep",
    ),
    "nothing": ("commands/usual.md", "skills/usual"),
    "top": (".",),
    "strange": ("skills/two words", "skills/Größe", "skills/a.b", "commands/two words.md"),
    "entry": ("commands/usual.md", "agents/usual.md", "skills/usual", "more/named.md", "more/x"),
    "both": ("commands/usual.md", "more/named.md", "more/listed.md", "more/not.md"),
    "elsewhere": ("commands/usual.md", "more/named.md"),
}
LOADED = {
    *("default:usual", "default:deep:er", "none:usual", "instead:named", "instead:one", "instead:usual"),
    *("nothing:usual", "top:topmost", "strange:two-words", "strange:Gr--e", "strange:a-b", "strange:two words"),
    *("entry:usual", "entry:named", "entry:x", "both:named", "both:listed", "elsewhere:usual"),
}


def give(place: Path, **fields: str) -> None:
    """Write a skill into a folder, or an agent or a command into a Markdown file."""
    file = place if place.suffix == ".md" else place / "SKILL.md"
    header = "".join(f"{key}: {value}\n" for key, value in {"description": f"Paints {place.stem}.", **fields}.items())
    write(file, f"---\n{header}---\nPaint {place.stem}.\n")


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def settled(settle: Settle, interpreter: str) -> Machine:
    machine = settle(REPERTOIRE_PYTHON=interpreter)
    return machine.also(REPERTOIRE_HOME=str(machine.root / "data"))


def plug(machine: Machine, plugins: Sequence[str], *, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Install plugins from a marketplace in a folder."""
    listed = [{"name": name, "source": f"./{name}", **entries.get(name, {})} for name in plugins]
    box = {"name": "box", "owner": {"name": "x"}, "plugins": listed}
    write(machine.root / "kit" / ".claude-plugin" / "marketplace.json", json.dumps(box))
    for step in (["marketplace", "add", str(machine.root / "kit")], *(["install", f"{name}@box"] for name in plugins)):
        done = machine.command("plugin", *step)
        assert done.returncode == 0, done.stdout + done.stderr


def in_use(machine: Machine) -> list[Component]:
    """Read the machine, and return the skills, commands and agents that the graph has as in use in its project."""
    done = machine.run(REPOSITORY / "bin" / "repertoire", "refresh")
    assert done.returncode == 0, done.stdout + done.stderr
    off = switched_off(machine.env, machine.project)
    with Store.open(Path(machine.env["REPERTOIRE_HOME"]) / "repertoire.db") as store:
        unused = store.graph.of_plugins(off) | store.sources.elsewhere(str(machine.project))
        rows = [row.node_id for row in store.graph.summaries() if row.installed and not {row.id, row.source} & unused]
        found = [entry.component for entry in store.graph.components(rows).values()]
    return [one for one in found if one.type in (SKILL, COMMAND, AGENT)]


def loaded(machine: Machine) -> set[str]:
    """Return the skills, commands and agents that the client says it has."""
    init = machine.session("hello", at_once=True).init
    return {name for key in ("skills", "slash_commands", "agents") for name in init[key]}


def test_a_plugin_has_what_its_manifest_and_its_marketplace_have_the_client_load(
    settle: Settle, interpreter: str
) -> None:
    machine = settled(settle, interpreter)
    kit = machine.root / "kit"
    for name, manifest in MANIFESTS.items():
        if manifest is not None:
            write(kit / name / ".claude-plugin" / "plugin.json", json.dumps({"name": name, **manifest}))
        for path in FILES[name]:
            give(kit / name / path, **({"name": "topmost"} if path == "." else {"name": Path(path).stem}))
    write(kit / "elsewhere" / "plugin.json", json.dumps({"name": "other", "commands": ["./more/named.md"]}))
    plug(machine, tuple(MANIFESTS), entries=ENTRIES)
    of_plugins = {name for name in loaded(machine) if name.partition(":")[0] in MANIFESTS}
    assert {one.call_name for one in in_use(machine) if one.plugin} == of_plugins == LOADED

"""Which files of plugins, settings and projects the client loads, and under which name: the graph has the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from client.belongings import link_worktree
from client.machine import REPOSITORY, Machine, Settle
from repertoire.domain.component import AGENT, COMMAND, SKILL, Component
from repertoire.sources.withheld import switched_off
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


def plug(
    machine: Machine,
    plugins: Sequence[str],
    *,
    entries: Mapping[str, Mapping[str, object]],
    listed: Sequence[str] = (),
) -> None:
    """Install plugins from a marketplace in a folder, which lists others too."""
    rows = [{"name": name, "source": f"./{name}", **entries.get(name, {})} for name in (*plugins, *listed)]
    box = {"name": "box", "owner": {"name": "x"}, "plugins": rows}
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
        unused |= store.graph.shadowed(unused)
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


def test_in_a_folder_of_a_repository_the_client_loads_what_lies_above_it_there(
    settle: Settle, interpreter: str
) -> None:
    machine = settled(settle, interpreter)
    top, machine.project = machine.project, machine.project / "apps" / "web"
    (top / ".git").mkdir()
    above, beside, below = top.parent, top / "apps" / "api", machine.project / "deep"
    (top / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for place in (above, top, top / "apps", beside, machine.project, below):
        mark, claude = place.name, place / ".claude"
        give(claude / "skills" / f"skill-{mark}")
        give(claude / "commands" / f"command-{mark}.md")
        give(claude / "agents" / f"agent-{mark}.md", name=f"agent-{mark}")
        for kind in ("skills/same", "commands/same-command.md", "agents/same-agent.md"):
            name = {"name": "same-agent"} if kind.startswith("agents") else {}
            give(claude / kind, description=f"Paints from {mark}.", **name)
    there = {f"{kind}-{mark}" for kind in ("skill", "command", "agent") for mark in ("project", "apps", "web")}
    same = {"same", "same-command", "same-agent"}
    assert {
        name for name in loaded(machine) if name.startswith(("skill-", "command-", "agent-", "same"))
    } == there | same
    found = [one for one in in_use(machine) if one.id.startswith("project:")]
    assert {one.call_name for one in found} == there | same
    told = machine.session("hello", at_once=True).main_requests[0].text
    assert all(f"- {name}: Paints from web." in told for name in same)
    assert {one.description for one in found if one.call_name in same} == {"Paints from web."}
    machine.project = top
    assert {one.call_name for one in in_use(machine) if one.id.startswith("project:")} == same | {
        f"{kind}-project" for kind in ("skill", "command", "agent")
    }


def test_in_a_folder_and_a_worktree_of_a_repository_its_local_plugins_are_loaded(
    settle: Settle, interpreter: str
) -> None:
    machine = settled(settle, interpreter)
    scopes = {"shared": "project", "local": "local", "general": "user", "off-shared": "user", "off-local": "user"}
    (machine.project / ".git").mkdir()
    (machine.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in (*scopes, "of-tree"):
        write(machine.root / "kit" / name / ".claude-plugin" / "plugin.json", json.dumps({"name": name}))
        give(machine.root / "kit" / name / "skills" / "usual")
    plug(machine, (), entries={}, listed=(*scopes, "of-tree"))
    steps = [("install", name, scope) for name, scope in scopes.items()]
    for verb, name, scope in (*steps, ("disable", "off-shared", "project"), ("disable", "off-local", "local")):
        done = machine.command("plugin", verb, f"{name}@box", "--scope", scope)
        assert done.returncode == 0, done.stdout + done.stderr
    top, below, tree = machine.project, machine.project / "web", machine.root / "tree"
    below.mkdir()
    link_worktree(top, tree)
    machine.project = tree
    done = machine.command("plugin", "install", "of-tree@box", "--scope", "local")
    assert done.returncode == 0, done.stdout + done.stderr
    for machine.project, expected in (
        (top, {"shared", "local", "general", "of-tree"}),
        (below, {"local", "general", "off-shared", "of-tree"}),
        (tree, {"local", "general", "off-shared", "of-tree"}),
    ):
        of_plugins = {name for name in loaded(machine) if name.endswith(":usual")}
        assert {one.call_name for one in in_use(machine) if one.plugin} == of_plugins
        assert of_plugins == {f"{name}:usual" for name in expected}


def test_of_one_name_in_several_places_the_graph_has_what_runs(settle: Settle, interpreter: str) -> None:
    machine = settled(settle, interpreter)
    own, project, kit = machine.home / ".claude", machine.project / ".claude", machine.root / "kit" / "kit"
    places = {  # name -> the files that bear it; the first one runs
        "two-skills": (own / "skills/two-skills", project / "skills/two-skills"),
        "two-commands": (own / "commands/two-commands.md", project / "commands/two-commands.md"),
        "own-skill": (own / "skills/own-skill", project / "commands/own-skill.md"),
        "its-skill": (project / "skills/its-skill", own / "commands/its-skill.md"),
        "one-place": (own / "skills/one-place", own / "commands/one-place.md"),
        "two-agents": (project / "agents/two-agents.md", own / "agents/two-agents.md"),
        "kit:both": (kit / "commands/both.md", kit / "skills/both"),
        "kit:apart": (kit / "skills/apart",),
        "apart": (own / "skills/apart",),
    }
    for name, files in places.items():
        for file in files:
            give(file, description=f"Paints from {file}.", name=name.rpartition(":")[2])
    write(kit / ".claude-plugin" / "plugin.json", json.dumps({"name": "kit"}))
    plug(machine, ["kit"], entries={})
    told = machine.session("hello", at_once=True).main_requests[0].text
    runs = {name: files[0] for name, files in places.items()}
    assert {name: told.count(f"- {name}: Paints from {file}.") for name, file in runs.items()} == dict.fromkeys(runs, 1)
    assert told.count("Paints from ") == len(runs)
    found = [one for one in in_use(machine) if one.call_name in runs]
    assert sorted((one.call_name, one.description) for one in found) == sorted(
        (name, f"Paints from {file}.") for name, file in runs.items()
    )

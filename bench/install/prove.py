"""Runs install lines in the real client, offline, against local clones, and looks for each component in its listing.

A machine for each marketplace and each folder: a HOME that is thrown away, nothing to reach but loopback, and no
program on PATH but git, so that no server of a component starts; hooks are switched off. See README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), str(ROOT / "tests")]

from client.client_binary import CLIENT_VERSION, client_binary  # noqa: E402
from client.machine import Machine  # noqa: E402
from client.session import Session  # noqa: E402
from repertoire.boot.home import database_path  # noqa: E402
from repertoire.catalogue import reading  # noqa: E402
from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, SKILL, is_pointer  # noqa: E402
from repertoire.ingestion import servers  # noqa: E402
from repertoire.installing import merging  # noqa: E402
from repertoire.installing.steps import AddMarketplace, AddServer, CopyIn, MergeInto, SetPlugin, read  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

KINDS = (SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING)
PROVEN, WRONG, NO_CLONE, NO_LISTING, BY_HAND = "proven", "wrong", "no clone", "no listing", "by hand"
GITHUB = "https://github.com/"
TOLD_COPY = re.compile(r"Copy (the folder )?(\S+) of https://(\S+) to (\S+)")
TOLD_MERGE = re.compile(r'Merge the "hooks" object of (\S+) of https://(\S+) into (\S+)')
LACKING = re.compile(r"does not appear to be a git repository|Source path does not exist")  # of the clones here
PLACES = re.compile(r"/(?:[^/\s']+/)+")
TOOLS = ("git", "sh", "mkdir", "cp", "sed")
BATCH = 60  # components of one folder on one machine


@dataclass
class Case:
    """A component, its lines, and what became of them."""

    id: str
    type: str
    name: str
    plugin: str
    marketplace: str
    repository: str
    path: str
    body: str
    install: tuple[str, ...]
    found: str = ""
    why: str = ""


def main() -> None:
    """Prove, print a table and the failures, and write all of it."""
    parsed = _arguments()
    cases = [
        *(_of_catalogue() if parsed.catalogue else ()),
        *_drawn(parsed.home, parsed.clones, parsed.draw, parsed.seed),
    ]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="prove-", dir=parsed.scratch) as scratch:
        world = World(Path(scratch), parsed.clones)
        for group in _groups(cases, parsed.clones):
            world.prove(group)
            print(f"{time.monotonic() - started:6.0f} s  {_counted(group)}  {group[0].id[:90]}", flush=True)
    _tell(cases)
    if parsed.out:
        parsed.out.write_text(json.dumps(_artefact(cases, parsed), indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clones", type=Path, help="a folder with a git clone OWNER+NAME of each repository")
    parser.add_argument("--home", type=Path, help="a home that has read these clones; components are drawn from it")
    parser.add_argument("--catalogue", action="store_true", help="every component of the shipped catalogue")
    parser.add_argument("--draw", type=int, default=0, help="how many components are drawn from the home")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scratch", type=Path, help="where the machines are made")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _of_catalogue() -> Iterator[Case]:
    for entry in reading.load().components:
        yield Case(
            entry.id,
            entry.type,
            entry.name,
            entry.plugin,
            entry.marketplace,
            entry.repository,
            entry.path,
            entry.description,
            entry.install,
        )


def _drawn(home: Path | None, clones: Path, count: int, seed: int) -> Iterator[Case]:
    if home is None or not count:
        return
    with Store.open(database_path(home), read_only=True) as store:
        rows = [row for row in store.graph.summaries() if row.source != "catalogue" and row.type in KINDS]
        rows = [row for row in rows if not is_pointer(row.id)]
        stored = store.graph.components(row.node_id for row in random.Random(seed).sample(rows, len(rows)))
    for row in random.Random(seed).sample(sorted(stored), len(stored)):
        component = stored[row].component
        elsewhere = component.type == PLUGIN and not _clone(component.repository, clones).is_dir()
        if count and component.install and not elsewhere:
            count -= 1
            yield Case(
                component.id,
                component.type,
                component.name,
                component.plugin,
                component.marketplace,
                component.repository,
                component.path,
                component.body,
                component.install,
            )


def _groups(cases: Iterable[Case], clones: Path) -> Iterator[list[Case]]:
    """Yield cases that can share a machine: those of one marketplace, and some of one repository otherwise."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        kind = "plugins" if case.install[0].startswith("/plugin") else "loose"
        found.setdefault((_market(case), kind), []).append(case)
    for (repository, kind), group in sorted(found.items()):
        if kind == "plugins" and not _clone(repository, clones).is_dir():
            for case in group:
                case.found, case.why = NO_CLONE, f"no clone of {repository} lies here"
        size = BATCH if kind == "loose" else len(group)
        yield from (group[at : at + size] for at in range(0, len(group), size))


def _market(case: Case) -> str:
    """Return the repository of the marketplace that a case's lines add, else its own."""
    for step in read(case.install):
        if isinstance(step, AddMarketplace):
            return f"github.com/{step.address}" if step.address.count("/") == 1 else step.address
    return case.repository


def _clone(repository: str, clones: Path) -> Path:
    return clones / repository.removeprefix("github.com/").replace("/", "+")


class World:
    """Makes machines whose github.com is a folder of clones."""

    def __init__(self, scratch: Path, clones: Path) -> None:
        self._scratch, self._clones, self._made = scratch, clones.resolve(), 0
        self._binary = client_binary()
        self._mirror = scratch / "mirror"
        for clone in sorted(self._clones.iterdir()):
            owner, _, name = clone.name.partition("+")
            if name and (clone / ".git").exists():
                (self._mirror / owner).mkdir(parents=True, exist_ok=True)
                (self._mirror / owner / f"{name}.git").symlink_to(clone)
        self._path = scratch / "path"
        self._path.mkdir()
        for tool in TOOLS:
            (self._path / tool).symlink_to(shutil.which(tool) or f"/usr/bin/{tool}")
        (self._path / "claude").symlink_to(self._binary)

    def prove(self, group: Sequence[Case]) -> None:
        """Install the components of a group on a new machine and look for each of them in its listing."""
        open_cases = [case for case in group if not case.found]
        if not open_cases:
            return
        machine = self._machine()
        done: dict[str, str] = {}
        for case in open_cases:
            for line in case.install:
                if line not in done:
                    done[line] = self._run(machine, case, line)
                if done[line]:
                    case.found, case.why = (BY_HAND if done[line] == BY_HAND else WRONG), f"{line}: {done[line]}"
                    if LACKING.search(done[line]):
                        case.found = NO_CLONE
                    break
        left = [case for case in open_cases if not case.found]
        if left:
            session = machine.session("hello")
            for case in left:
                case.found, case.why = _seen(machine, case, session)
        shutil.rmtree(machine.root)

    def _machine(self) -> Machine:
        self._made += 1
        machine = Machine(self._binary, self._scratch / f"m{self._made}", {"PATH": str(self._path)})
        config = "".join(
            f'[url "{self._mirror.as_uri()}/"]\n\tinsteadOf = {address}\n'
            for address in (GITHUB, "git@github.com:", "ssh://git@github.com/")
        )
        (machine.home / ".gitconfig").write_text(config)
        settings = machine.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text('{"disableAllHooks": true}\n')
        return machine

    def _run(self, machine: Machine, case: Case, line: str) -> str:
        """Do what a line says; return what went wrong, or nothing."""
        told = TOLD_COPY.fullmatch(line) or TOLD_MERGE.fullmatch(line)
        if told:
            return self._told(machine, told, line)
        [step] = read((line,))
        if isinstance(step, (AddMarketplace, SetPlugin)):
            words = line.removeprefix("/plugin ").split(" ", 2 if isinstance(step, AddMarketplace) else 1)
            done = machine.command("plugin", *words)
            return "" if done.returncode == 0 else " ".join((done.stdout + done.stderr).split())[-300:]
        if isinstance(step, MergeInto):
            return _merge(machine, case, Path(step.source))
        if isinstance(step, (CopyIn, AddServer)) or line.startswith("mkdir -p "):
            ran = machine.run("sh", "-c", line)
            return "" if ran.returncode == 0 else (ran.stdout + ran.stderr).strip()[-300:]
        return BY_HAND

    def _told(self, machine: Machine, told: re.Match[str], line: str) -> str:
        """Do what a line in words says."""
        *_, path, repository, target = told.groups()
        source = self._mirror / f"{repository.removeprefix('github.com/')}.git" / path
        goal = machine.home / target[2:] if target.startswith("~/") else machine.project / target
        if not source.exists():
            return f"{path} is not in {repository}"
        goal.parent.mkdir(parents=True, exist_ok=True)
        if line.startswith("Merge"):
            offered = json.loads(source.read_text(encoding="utf-8"))
            found, _ = merging.with_hooks(_json(goal), offered)
            goal.write_bytes(merging.as_json(found))
        elif source.is_dir():
            shutil.copytree(source, goal, dirs_exist_ok=True)
        else:
            shutil.copy(source, goal)
        return ""


def _merge(machine: Machine, case: Case, source: Path) -> str:
    offered = json.loads(source.read_text(encoding="utf-8"))
    settings = machine.home / ".claude" / "settings.json"
    listed = machine.project / ".mcp.json"
    try:
        if case.type == MCP_SERVER:
            found, _ = merging.with_server(_json(listed), case.name, servers.servers_in(offered)[case.name])
            listed.write_bytes(merging.as_json(found))
        else:
            merge = merging.with_hooks if case.type == HOOK else merging.with_settings
            settings.write_bytes(merging.as_json(merge(_json(settings), offered)[0]))
    except Exception as error:  # noqa: BLE001 - whatever it is, the line did not do what it says
        return f"{type(error).__name__}: {error}"
    return ""


def _json(path: Path) -> dict[str, object]:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _seen(machine: Machine, case: Case, session: Session) -> tuple[str, str]:
    """Look for a component, by its name, in what the client lists."""
    if case.type in (HOOK, SETTING):
        return _configured(machine, case)
    init, names = session.init, _names(case)
    listed = {
        SKILL: init["skills"],
        COMMAND: init["slash_commands"],
        AGENT: init["agents"],
        MCP_SERVER: [one["name"] for one in init["mcp_servers"]],
        PLUGIN: [one["name"] for one in init["plugins"]],
    }[case.type]
    # beyond its room the listing names a skill without a description
    shown = {line[2:].partition(": ")[0] for line in session.main_requests[0].text.splitlines() if line[:2] == "- "}
    if names & set(listed):
        return PROVEN, ""
    if case.type == SKILL and names & shown:
        return PROVEN, "for the model alone"
    return _otherwise(machine, case, listed)


def _otherwise(machine: Machine, case: Case, listed: Sequence[str]) -> tuple[str, str]:
    """Tell why a component may be in no listing of this machine."""
    of_plugin = case.install[0].startswith("/plugin")
    if of_plugin and case.name in _inventory(machine, case.install[-1].split()[-1], case.type):
        return PROVEN, "in its plugin's inventory: its author hides it, or another plugin here has the same"
    if case.type == SKILL and _is_hidden(machine, case):
        return NO_LISTING, "its author keeps it from the person and from the model"
    if case.type == PLUGIN and case.install[0].startswith("Copy"):
        return BY_HAND, "the client refuses its manifest; its commands and agents are copied"
    near = [one for one in listed if one.rpartition(":")[2] == case.name or Path(case.path).parent.name in one]
    return WRONG, f"not in the listing as {', '.join(_names(case))}; near: {', '.join(near[:3]) or 'nothing'}"


def _names(case: Case) -> set[str]:
    """Return the names under which the client may list a component: its own, after its plugin's where it has one."""
    [*_, step] = read(case.install)
    if case.type == PLUGIN:
        return {case.name}
    if isinstance(step, AddServer):
        return {step.name}
    if isinstance(step, SetPlugin):
        name = f"{step.plugin.partition('@')[0]}:{case.name}"
        return {f"plugin:{name}" if case.type == MCP_SERVER else name}
    return {case.name, f"{case.plugin}:{case.name}"}  # a plugin may lie among the skills


def _is_hidden(machine: Machine, case: Case) -> bool:
    """Tell whether a skill's own front matter keeps it out of every listing."""
    for file in machine.home.glob(f".claude/skills/**/{case.name}/SKILL.md"):
        text = file.read_text(encoding="utf-8")
        return "user-invocable: false" in text and "disable-model-invocation: true" in text
    return False


def _inventory(machine: Machine, plugin: str, kind: str) -> list[str]:
    told = machine.command("plugin", "details", plugin).stdout
    heads = {SKILL: "Skills", COMMAND: "Skills", AGENT: "Agents", MCP_SERVER: "MCP servers"}
    found = re.search(rf"^\s*{heads.get(kind, 'none')} \(\d+\)\s+(.*)$", told, re.MULTILINE)
    return found[1].split(", ") if found else []


def _configured(machine: Machine, case: Case) -> tuple[str, str]:
    """Look for a hook in the inventory of its plugin; one in settings is in no listing of a headless client."""
    if case.install[0].startswith("/plugin"):
        told = machine.command("plugin", "details", case.install[-1].split()[-1]).stdout
        found = re.search(r"^\s*Hooks \((\d+)\)\s*(.*)$", told, re.MULTILINE)
        events = {line.partition(" ")[0].partition(":")[0] for line in case.body.splitlines() if line}
        if case.type == HOOK and found and int(found[1]):
            return PROVEN, found[2][:80]
        return WRONG, f"no hook in its inventory: {found[0].strip() if found else told[:200]} ({', '.join(events)})"
    settings = [machine.home / ".claude" / "settings.json", machine.project / ".claude" / "settings.json"]
    there = any(set(_json(path)) - {"disableAllHooks"} for path in settings)
    return (
        (NO_LISTING, "stands in the settings that the client reads; a headless client lists none")
        if there
        else (
            WRONG,
            "not in the settings",
        )
    )


def _counted(cases: Iterable[Case]) -> str:
    return ", ".join(f"{count} {what}" for what, count in Counter(case.found for case in cases).most_common())


def _artefact(cases: Sequence[Case], parsed: argparse.Namespace) -> dict[str, object]:
    """Return the counts, and each component that is not proven with the reason, without this machine's folders."""
    shipped = {entry.id for entry in reading.load().components} if parsed.catalogue else set()
    first = len(shipped)
    parts = {"catalogue": cases[:first], "drawn": cases[first:]}
    return {
        "client": CLIENT_VERSION,
        "seed": parsed.seed,
        "counts": {
            name: {kind: dict(Counter(case.found for case in part if case.type == kind)) for kind in KINDS}
            for name, part in parts.items()
        },
        "not_proven": [
            {"id": case.id, "type": case.type, "found": case.found, "why": PLACES.sub("…/", case.why)}
            for case in cases
            if case.found != PROVEN
        ],
    }


def _tell(cases: Sequence[Case]) -> None:
    print(f"\n| kind | {' | '.join((PROVEN, WRONG, NO_LISTING, BY_HAND, NO_CLONE))} |\n|---|---|---|---|---|---|")
    for kind in (*KINDS, ""):
        counts = Counter(case.found for case in cases if not kind or case.type == kind)
        if counts:
            row = " | ".join(str(counts[what]) for what in (PROVEN, WRONG, NO_LISTING, BY_HAND, NO_CLONE))
            print(f"| {kind or 'all'} | {row} |")
    for case in cases:
        if case.found in (WRONG, BY_HAND):
            print(f"{case.found}: {case.type} {case.id}\n    {case.why[:300]}")


if __name__ == "__main__":
    os.environ.pop("CLAUDE_CONFIG_DIR", None)
    main()

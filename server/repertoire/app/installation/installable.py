"""Plans the installation of one component: files, settings, client commands, and other components of its plugin."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repertoire.app.installation.dependencies import Dependencies
from repertoire.app.installation.plugin_inside import refuse_plugin_inside
from repertoire.domain.component import (
    AGENT,
    CATALOGUE,
    COMMAND,
    HOOK,
    MCP_SERVER,
    OF_PLUGIN,
    PLUGIN,
    SETTING,
    SKILL,
    Component,
)
from repertoire.domain.errors import InstallRefused, SourceError
from repertoire.domain.trust import INSTALLABLE, Flag, rank
from repertoire.ingestion import hooks, servers
from repertoire.installing import merging
from repertoire.installing.changing import PlannedFile
from repertoire.installing.client_objects import PRUNING
from repertoire.installing.files import ComponentFile, gather
from repertoire.installing.journal import ClientCommand, Journal, digest, read_content
from repertoire.installing.places import InstallPaths
from repertoire.installing.steps import (
    SERVERS,
    AddMarketplace,
    AddServer,
    ByHand,
    CopyIn,
    MergeInto,
    SetPlugin,
    Step,
    read,
)
from repertoire.ports import StoredComponent
from repertoire.sources import client_files
from repertoire.sources.installed import Machine
from repertoire.trust.scan import is_checked, scan

_UNDO = {"install": "uninstall", "enable": "disable"}
_FOLDERS = {SKILL: "~/.claude/skills", AGENT: "~/.claude/agents", COMMAND: "~/.claude/commands"}
_LISTED = (SKILL, AGENT, COMMAND, HOOK, MCP_SERVER, SETTING)


AcceptedFlag = tuple[str, str]  # the rule, and the file's path in the source, empty for the component's own


@dataclass(frozen=True)
class InstallPart:
    """The changes that install one component, and the components that come along."""

    component: Component
    files: tuple[PlannedFile, ...] = ()
    adds: tuple[str, ...] = ()  # additions to settings: the key and its new value
    commands: tuple[ClientCommand, ...] = ()
    runs: tuple[str, ...] = ()  # programs that sessions will start because of it
    along: tuple[Component, ...] = ()  # further components of the same plugin
    notes: tuple[str, ...] = ()
    read: str = ""  # the source that was read for it
    relies: tuple[str, ...] = ()  # installations that have added what it brings too
    unread: bool = False  # its files were not fetched yet, so that its changes are not known

    @property
    def changes(self) -> bool:
        """Return whether anything changes for it."""
        return bool(self.files or self.adds or self.commands or self.relies)


@dataclass
class InstallContext:
    """The data that plans of components share, and the planned contents of files so far."""

    places: InstallPaths
    machine: Machine
    servers: frozenset[str]  # names of configured MCP servers
    root: Callable[[str], Path]  # returns the folder of a source by its key
    unit: Callable[[Component], Sequence[StoredComponent]]  # returns all components of the same plugin
    depends: Callable[[Component], Dependencies]  # returns the other plugins that come with a plugin
    accepted: Callable[[StoredComponent], frozenset[AcceptedFlag]]  # none if it changed since a person accepted it
    journal: Journal
    flagged: bool = False  # a person allows flagged components
    alone: bool = False  # copy the component without its plugin
    written: Mapping[str, str] = field(default_factory=dict)  # path -> digest of what stands installed there
    overlay: dict[Path, bytes] = field(default_factory=dict)  # planned contents by path

    def content(self, path: Path) -> bytes | None:
        """Return a file's content after the plans so far; None if it does not exist."""
        return self.overlay.get(path, read_content(path))


def plan_component(context: InstallContext, stored: StoredComponent) -> InstallPart:
    """Return the changes that install a component.

    Raises:
        InstallRefused: the component cannot be installed from here; the message says what a person can do.
    """
    component = stored.component
    if component.installed:
        return InstallPart(component, notes=("it is installed already",))
    steps = read(component.install)
    if not steps:
        parts = ", as a whole; its parts can be installed one by one" if component.type == PLUGIN else ""
        message = f"no way to install {component.name} is known ({component.id}){parts}"
        raise InstallRefused(message)
    for step in steps:
        if isinstance(step, ByHand):
            own = f", with your value in place of {step.own_value}" if step.own_value else ""
            message = f"{component.name} is installed by hand{own}: {step.line}"
            raise InstallRefused(message)
    _refuse_flagged(context, component, component.flags)
    if context.alone:
        steps = (_by_itself(context, stored, steps),)
    if any(isinstance(step, (AddMarketplace, SetPlugin)) for step in steps):
        return _of_plugin(context, stored, steps)
    [step] = steps
    if isinstance(step, AddServer):
        return _of_server(context, stored, step)
    if isinstance(step, CopyIn):
        return _copied(context, stored, step)
    if isinstance(step, MergeInto):
        return _merged(context, stored, step)
    message = f"{component.name} is installed by hand: {' '.join(component.install)}"
    raise InstallRefused(message)


def _by_itself(context: InstallContext, stored: StoredComponent, steps: Sequence[Step]) -> Step:
    """Return the step that copies a component out of its plugin; without a plugin, its only install step."""
    component, folder = stored.component, _FOLDERS.get(stored.component.type)
    if not any(isinstance(step, SetPlugin) for step in steps) and len(steps) == 1:
        return steps[0]
    if folder is None:
        message = f"a {component.type.replace('_', ' ')} comes with its plugin as a whole; leave --alone out"
        raise InstallRefused(message)
    if OF_PLUGIN in component.body:
        message = f"{component.name} starts files of its plugin, and works only as a part of it; leave --alone out"
        raise InstallRefused(message)
    file = context.root(stored.source) / component.path
    if component.type == SKILL:
        return CopyIn(str(file.parent), folder, file.parent.name, whole=True)
    return CopyIn(str(file), folder)


def _refuse_flagged(context: InstallContext, component: Component, flags: Sequence[Flag]) -> None:
    grave = [flag for flag in flags if rank(flag.severity) > INSTALLABLE]
    if grave and not context.flagged:
        message = (
            f"the checks found something {grave[0].severity} in {component.name}: {grave[0].reason}. "
            f"Look at it (`repertoire trust show {component.id}`); then accept it, or say --flagged"
        )
        raise InstallRefused(message)


def _of_plugin(context: InstallContext, stored: StoredComponent, steps: Sequence[Step]) -> InstallPart:
    component = stored.component
    if any(isinstance(step, SetPlugin) and _is_on_for_team(context, step.plugin) for step in steps):
        return InstallPart(component, notes=("it is installed already: the project's settings turn it on",))
    along = [other for other in context.unit(component) if other.component.id != component.id]
    plugin = next((one.component for one in (stored, *along) if one.component.type == PLUGIN), component)
    others = context.depends(plugin)
    along += [part for one in others.read for part in context.unit(one.component)]
    for other in along:
        _refuse_flagged(context, other.component, other.component.flags)
    commands = [command for step in steps if (command := _command(context, component, step, others)) is not None]
    if not commands:  # since it was read last: the store says otherwise
        return InstallPart(component, notes=("it is installed already",))
    unread = stored.source_kind == CATALOGUE or (component.type == PLUGIN and not along)
    members = [component, *(other.component for other in along)]
    unchecked = "the plugin's other parts were neither read nor checked, and what sessions will start is not known yet"
    return InstallPart(
        component,
        commands=tuple(commands),
        runs=() if unread else tuple(line for member in members for line in _runs(member)),
        along=tuple(other.component for other in along if other.component.type in _LISTED),
        notes=(*((unchecked,) if unread else ()), *others.notes()),
    )


def _is_on_for_team(context: InstallContext, plugin: str) -> bool:
    """Tell whether a plugin is to be installed for a project that has it: an undo would turn it off for its team."""
    team = client_files.enabled_plugins([context.places.settings("project")])
    return context.places.for_project and team.get(plugin, False)


def _command(context: InstallContext, component: Component, step: Step, others: Dependencies) -> ClientCommand | None:
    scope = ("--scope", "project") if context.places.for_project else ()
    if isinstance(step, AddMarketplace):
        if component.marketplace in context.machine.known_marketplaces:
            return None
        add = ("plugin", "marketplace", "add", *scope, step.address)
        return ClientCommand(add, ("plugin", "marketplace", "remove", component.marketplace))
    if not isinstance(step, SetPlugin) or (step.verb == "install" and step.plugin in context.machine.installed_plugins):
        return None
    undo = ("plugin", _UNDO[step.verb], *scope, *(PRUNING if others and step.verb == "install" else ()), step.plugin)
    return ClientCommand(("plugin", step.verb, *scope, step.plugin), undo)


def _runs(component: Component) -> Iterator[str]:
    """Yield what sessions start because of a component; never a server's description, which may read like a command."""
    if component.type == HOOK:
        yield from (f"{component.name}: {line}" for line in component.body.splitlines() if line.strip())
    elif component.type == MCP_SERVER:
        stated = component.front_matter
        line = servers.command_line(stated) or str(stated.get("url", ""))
        yield from (f"{component.name}: {line}",) if line else ()
    elif isinstance(held := component.front_matter.get("hooks"), Mapping):
        yield from (f"{component.name}, while it is used: {line}" for line in hooks.summarise(held).text.splitlines())


def _of_server(context: InstallContext, stored: StoredComponent, step: AddServer) -> InstallPart:
    if step.name in context.servers:
        message = f"there is an MCP server called {step.name} already; `claude mcp remove {step.name}` removes it"
        raise InstallRefused(message)
    scope = "project" if context.places.for_project else "user"  # the client's own default is this project alone
    add = ClientCommand(
        ("mcp", "add", "--scope", scope, *step.arguments), ("mcp", "remove", "--scope", scope, step.name)
    )
    return InstallPart(stored.component, commands=(add,), runs=(f"{step.name}: {step.started}",))


def _copied(context: InstallContext, stored: StoredComponent, step: CopyIn) -> InstallPart:
    component = stored.component
    found, links = gather(Path(step.source), context.root(stored.source), whole=step.whole)
    refuse_plugin_inside(component, found)
    _check(context, stored, found, step)
    inside = list(_inside(context, stored, step)) if step.whole else []
    for other in inside:
        _refuse_flagged(context, other, other.flags)
    target = context.places.of(step.folder, step.name)
    files = []
    for one in found:
        path = target / one.path if step.whole or not step.name else target
        context.places.of(step.folder, path.relative_to(context.places.of(step.folder)).as_posix())
        before = context.content(path)
        if before not in (None, one.content) and not _is_ours(context, path, before):
            message = f"{path} exists already with other content: nothing is overwritten; move it away first"
            if path in context.overlay:
                message = f"two of these would be {path}, which is one file; install one of them"
            raise InstallRefused(message)
        if before != one.content:
            files.append(PlannedFile(path, one.content, before, runs=one.runs))
    context.overlay.update({file.path: file.content for file in files})
    notes = [f"a link is left out: {link}" for link in links]
    if step.whole:
        notes += _dropped(context, target, [one.path for one in found])
    return InstallPart(
        component,
        files=tuple(files),
        runs=tuple(line for member in (component, *inside) for line in _runs(member)) if files else (),
        along=tuple(other for other in inside if other.type in _LISTED),
        notes=(*notes, *(() if files else ("it is there already",))),
    )


def _is_ours(context: InstallContext, path: Path, before: bytes | None) -> bool:
    """Tell whether a file is as an earlier installation left it, so that replacing it loses nothing of a person's."""
    return path not in context.overlay and context.written.get(str(path)) == digest(before)


def _dropped(context: InstallContext, target: Path, found: Collection[str]) -> Iterator[str]:
    """Yield notes on files of an earlier installation that the component has no longer."""
    kept = {str(target / path) for path in found}
    for path in context.written:
        if Path(path).is_relative_to(target) and path not in kept and Path(path).exists():
            yield f"{path} is no longer in its source; it stays, remove it by hand"


def _inside(context: InstallContext, stored: StoredComponent, step: CopyIn) -> Iterator[Component]:
    """Yield the other components of the same plugin in the folder to be copied: a whole plugin brings its hooks."""
    for other in context.unit(stored.component):
        place = context.root(other.source) / other.component.path
        if other.component.id != stored.component.id and place.is_relative_to(step.source):
            yield other.component


def _check(context: InstallContext, stored: StoredComponent, found: Sequence[ComponentFile], step: CopyIn) -> None:
    """Refuse files with grave flags: checks scan the bytes to be written, which may differ from the ingested ones."""
    own = stored.component.path.rpartition("/")[2]
    texts = {one.path: one.content.decode("utf-8", "replace") for one in found if is_checked(one.path)}
    text = texts.pop(own, "")
    unread = {one.path: None for one in found if b"\x00" in one.content and one.path in texts}
    parts = {path: unread.get(path, content) for path, content in texts.items() if step.whole}
    _refuse_new(context, stored, scan(stored.component, text, parts.items()))


def _refuse_new(context: InstallContext, stored: StoredComponent, flags: Sequence[Flag]) -> None:
    grave = [flag for flag in flags if rank(flag.severity) > INSTALLABLE]
    known = context.accepted(stored) if grave and stored.accepted else frozenset()
    _refuse_flagged(context, stored.component, [flag for flag in grave if not _is_known(flag, known)])


def _is_known(flag: Flag, known: Collection[AcceptedFlag]) -> bool:
    """Tell whether a flag of a file that is to be written is one of those that a person accepted."""
    return any(
        rule == flag.rule and (file == flag.file or (bool(flag.file) and file.endswith(f"/{flag.file}")))
        for rule, file in known
    )


def _merged(context: InstallContext, stored: StoredComponent, step: MergeInto) -> InstallPart:
    component = stored.component
    [file], _ = gather(Path(step.source), context.root(stored.source), whole=False)
    offered = _offered(file, step.source)
    commands = _commands(component, offered)
    _refuse_new(context, stored, scan(component, file.content.decode("utf-8", "replace"), (), commands))
    target = context.places.of(SERVERS if component.type == MCP_SERVER else step.target)
    before = context.content(target)

    def merge(there: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        if component.type == MCP_SERVER:
            return merging.with_server(there, component.name, _server_in(offered, component.name))
        return (merging.with_hooks if component.type == HOOK else merging.with_settings)(there, offered)

    found, told = merge(merging.parsed(before, target))
    if component.type == HOOK:
        _refuse_without_files(context, stored, told)
    relies = _relied_on(context.journal, component, target, lambda content: merge(merging.parsed(content, target))[1])
    notes = (f"it relies on what installation {' and '.join(relies)} added to {target}",) if relies else ()
    if not told:
        return InstallPart(component, notes=("it is there already", *notes), relies=relies)
    change = PlannedFile(target, merging.as_json(found), read_content(target), merged=True)
    context.overlay[target] = change.content
    runs = tuple(line for line in told if ": runs" in line)
    return InstallPart(component, files=(change,), adds=tuple(told), runs=runs, notes=notes, relies=relies)


def _relied_on(
    journal: Journal, component: Component, target: Path, told: Callable[[bytes | None], list[str]]
) -> tuple[str, ...]:
    """Return the installations of other components whose undo would take out what a component brings too.

    `told` returns what the component would add to a content of the file.
    """
    own = {number for one in journal.installed(component.id) for number in (one.name, *one.relies)}
    found = []
    for entry, before, after in journal.merges(target):
        with contextlib.suppress(InstallRefused):  # it could not be added there
            brought = {*told(before)}.difference(told(after), told(read_content(target)))
            found += [entry.name] if brought and entry.name not in own else []
    return tuple(found)


def _commands(component: Component, offered: Mapping[str, object]) -> str:
    """Return all that a server or hooks would run, as the file states it now."""
    if component.type == MCP_SERVER:
        return servers.command_line(_server_in(offered, component.name))
    listed = offered.get("hooks", offered)
    return hooks.summarise(listed).text if component.type == HOOK and isinstance(listed, Mapping) else ""


def _refuse_without_files(context: InstallContext, stored: StoredComponent, told: Sequence[str]) -> None:
    """Refuse hooks that start files which are not there: where one cannot start, the client blocks the tool."""
    config, project = context.places.config, context.places.project if context.places.for_project else None
    missing = []
    for name in hooks.started_files("\n".join(told)):
        at_home = name.startswith(("~", "$HOME", "${HOME}"))
        root = config if at_home else project / ".claude" if project is not None else None
        if root is None or not (root / name.partition(".claude/")[2]).is_file():
            missing.append(name)
    if missing:
        place = context.root(stored.source) / stored.component.path
        message = (
            f"{stored.component.name} starts {', '.join(missing)}, which is not there; its hook would fail, and may "
            f"block the tool. Put that in place by hand and merge {place} into the settings; see what it says itself"
        )
        raise InstallRefused(message)


def _offered(file: ComponentFile, source: str) -> Mapping[str, object]:
    try:
        offered = json.loads(file.content)
    except (ValueError, RecursionError) as error:
        message = f"{source} is not valid JSON; once it is mended, `repertoire ingest` its source again"
        raise SourceError(message) from error
    return offered if isinstance(offered, dict) else {}


def _server_in(offered: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = servers.servers_in(offered).get(name)
    if not isinstance(found, Mapping):
        message = f"{name} is no longer in its file; `repertoire ingest` its source again"
        raise SourceError(message)
    return found

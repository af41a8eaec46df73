"""Plans an installation, carries it out with a journal, and undoes it."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.clone_folder import clone_folder
from repertoire.app.installation import needs
from repertoire.app.installation.dependencies import dependencies_of
from repertoire.app.installation.installable import AcceptedFlag, InstallContext, InstallPart, plan_component
from repertoire.app.lookup import find_to_install
from repertoire.app.sources.ingest import content_now, ingest
from repertoire.app.sources.settle import Report, quiet
from repertoire.boot.filelock import only_one
from repertoire.domain.component import CATALOGUE, DEPENDS_ON, MCP_SERVER, OPTIONAL_WEIGHT, Component
from repertoire.domain.errors import InstallRefused, SourceError
from repertoire.installing import changing
from repertoire.installing.changing import PlannedFile, UndoneInstallation
from repertoire.installing.client import Client
from repertoire.installing.journal import DONE, LAST, ClientCommand, Journal, JournalEntry
from repertoire.installing.places import InstallPaths
from repertoire.ports import StoredComponent
from repertoire.settings import Settings
from repertoire.sources import client_files, installed
from repertoire.sources.address import INSTALLED
from repertoire.sources.policy import policy
from repertoire.sources.requirement_checks import RequirementChecker
from repertoire.sources.withheld import withheld
from repertoire.store.database import Store

INSTALLED_COMPONENTS = INSTALLED  # the source that an installation or an undo changes
LAST_INSTALLATION = LAST  # the name that stands for the last installation
_PATIENCE_S = 10.0  # an installation waits so long for another one to end


@dataclass(frozen=True)
class InstallPlan:
    """All changes of an installation: files, client commands, and the parts that need them."""

    parts: tuple[InstallPart, ...]
    files: tuple[PlannedFile, ...]
    commands: tuple[ClientCommand, ...]
    places: InstallPaths

    @property
    def changes(self) -> bool:
        """Return whether the plan changes anything."""
        return bool(self.files or self.commands or self.relies)

    @property
    def relies(self) -> tuple[str, ...]:
        """Return the installations that added what this one brings too, and that must not be undone before it."""
        return tuple(dict.fromkeys(number for part in self.parts for number in part.relies))


@dataclass(frozen=True)
class InstallRequest:
    """A request for an installation: components, target, and whether flagged ones are allowed."""

    ids: tuple[str, ...]
    project: Path
    environment: Mapping[str, str]
    for_project: bool = False
    flagged: bool = False
    alone: bool = False  # copy the component without its plugin
    dry: bool = False  # only show the changes: then nothing is read from elsewhere either

    @property
    def places(self) -> InstallPaths:
        """Return the target folders of the installation."""
        return _places(self.environment, self.project, for_project=self.for_project)


def plan(
    store: Store, home: Path, wanted: InstallRequest, *, settings: Settings, report: Report = quiet
) -> InstallPlan:
    """Return the changes that install components, without making them.

    The files of a catalogue entry lie elsewhere: its source is ingested first, unless the request is `dry`.

    Raises:
        RepertoireError: a component is unknown, is flagged or not allowed, or cannot be installed from here.
    """
    standing = [entry for entry in Journal(home).entries() if entry.state == DONE]
    came = frozenset(key for entry in standing for key in entry.ids)
    meant = (find_to_install(store, asked, project=str(wanted.project), came=came) for asked in wanted.ids)
    found = {entry.component.id: entry for entry in meant}
    allowed = policy(wanted.environment, wanted.project)
    for entry in found.values():
        needs.refuse_forbidden(entry.component, allowed, alone=wanted.alone)
    unread = {key for key, entry in found.items() if _lies_elsewhere(entry, alone=wanted.alone)}
    if not wanted.dry:
        found |= {key: _read(store, home, found[key], settings, report) for key in unread}
    context = _install_context(store, home, wanted, {file.path: file.after for one in standing for file in one.files})
    parts = []
    for key, entry in found.items():
        if key not in unread:
            parts.append(plan_component(context, entry))
        else:
            parts.append(_unread_part(entry) if wanted.dry else _noted(store, plan_component(context, entry), entry))
    servers = context.servers | needs.servers_of(parts)
    checker = RequirementChecker(wanted.environment, project=wanted.project, servers=servers)
    kept = withheld(wanted.environment, wanted.project)
    parts = [needs.idle(needs.noted(store, part, checker), allowed, kept) for part in parts]
    if wanted.alone:
        parts = [replace(part, notes=(*part.notes, *_missing_servers(store, servers, part))) for part in parts]
    files = {file.path: file for part in parts for file in part.files}  # of several into one file, the last has all
    commands = dict.fromkeys(command for part in parts for command in part.commands)
    return InstallPlan(tuple(parts), tuple(files.values()), tuple(commands), wanted.places)


def install(home: Path, decided: InstallPlan, wanted: InstallRequest) -> JournalEntry:
    """Carry out a plan, and keep the previous contents in the journal.

    Raises:
        InstallRefused: a file changed since the plan, or the client refused; all changes were rolled back.
    """
    chosen = client_files.chosen_folder(wanted.environment)
    # absolute, because the client runs in the project's folder
    journal, client = Journal(home), Client(client_files.with_folder(wanted.environment, chosen), wanted.project)
    if decided.commands:
        client.find()
    entry = JournalEntry(
        "",
        now(),
        tuple(part.component.id for part in decided.parts if part.changes),
        str(wanted.project),
        commands=decided.commands,
        read=tuple(dict.fromkeys(part.read for part in decided.parts if part.read)),
        relies=decided.relies,
        config=chosen,
    )
    with _alone(journal):
        left = journal.unfinished()
        if left is not None:
            message = f"installation {left.name} stopped half-way; `repertoire install --undo {left.name}` undoes it"
            raise InstallRefused(message)
        return changing.carry_out(journal, client, entry, decided.files, decided.places)


def undo(home: Path, environment: Mapping[str, str], name: str = LAST_INSTALLATION) -> UndoneInstallation:
    """Undo an installation, the last one or the one with a name, in the Claude Code folder that it was made in.

    Raises:
        InvalidRequest: no such installation exists.
        InstallRefused: a file changed or became a link since, or what is needed to undo it is damaged.
    """
    journal = Journal(home)
    with _alone(journal):
        entry = journal.find(name)
        project = Path(entry.project)
        there = dict(environment) if entry.config is None else client_files.with_folder(environment, entry.config)
        places = _places(there, project)
        undone = changing.take_back(journal, Client(there, project), entry, places)
    notes = [f"{source} was read for it; its components {_until_removed(source)}" for source in entry.read]
    if places.config != client_files.config_folder(environment):
        notes.append(f"it was installed for the Claude Code folder {places.config}, and was taken back there")
    return replace(undone, notes=(*undone.notes, *notes))


def unreadable_installations(home: Path) -> tuple[str, ...]:
    """Return a message for each installation whose journal cannot be read: why, and what to do."""
    return tuple(Journal(home).unreadable().values())


def _places(environment: Mapping[str, str], project: Path, *, for_project: bool = False) -> InstallPaths:
    return InstallPaths(
        client_files.config_folder(environment), client_files.state_file(environment), project, for_project
    )


@contextmanager
def _alone(journal: Journal) -> Iterator[None]:
    started = time.monotonic()

    def waiting(_: int) -> None:
        if time.monotonic() - started > _PATIENCE_S:
            message = "another `repertoire install` is running; try again when it has ended"
            raise InstallRefused(message)

    with only_one(journal.lock, waiting):
        yield


def _lies_elsewhere(stored: StoredComponent, *, alone: bool) -> bool:
    """Tell whether a component's files have to be fetched before it can be installed."""
    component = stored.component
    by_client = all(line.startswith(("/plugin ", "claude mcp add ")) for line in component.install)
    return stored.source_kind == CATALOGUE and not (by_client and not alone) and not component.installed


def _read(store: Store, home: Path, stored: StoredComponent, settings: Settings, report: Report) -> StoredComponent:
    """Ingest the repository of a catalogue entry, and return the component as it stands there."""
    component = stored.component
    ingest(store, home, f"https://{component.repository}", settings=settings, report=report)
    found = store.graph.by_key(component.id)
    if found is None:
        message = f"{component.repository} no longer contains {component.name}; search for another component"
        raise SourceError(message)
    return found


def _unread_part(stored: StoredComponent) -> InstallPart:
    component = stored.component
    place = component.repository
    note = (
        f"its files lie in https://{place}, which has to be read before they can be shown and installed "
        f"(`repertoire ingest https://{place}` reads it now); all its components, whose number is not known yet, "
        f"{_until_removed(place)}"
    )
    return InstallPart(component, notes=(note,), unread=True)


def _until_removed(source: str) -> str:
    return f"stay known after an undo, until `repertoire remove {source}`"


def _noted(store: Store, part: InstallPart, stored: StoredComponent) -> InstallPart:
    """Return a part that says that its source was read, which adds all components there to what is known."""
    source = stored.source
    count = next(row.components for row in store.sources.all() if row.info.key == source)
    note = f"{source} was read for this; its components ({count:,}) {_until_removed(source)}"
    return replace(part, notes=(*part.notes, note), read=source)


def _missing_servers(store: Store, servers: Collection[str], part: InstallPart) -> Iterator[str]:
    """Yield a note for each MCP server that a component needs, which its plugin might have brought, and is not here."""
    for link in store.graph.links(part.component.id):
        if link.outgoing and link.relation == DEPENDS_ON and link.weight > OPTIONAL_WEIGHT:
            needed = store.graph.by_key(link.other)
            is_server = needed is not None and needed.component.type == MCP_SERVER
            if is_server and link.other_name not in servers:
                yield f"{part.component.name} needs the MCP server {link.other_name}, which is not configured here"


def _install_context(store: Store, home: Path, wanted: InstallRequest, written: Mapping[str, str]) -> InstallContext:
    machine = installed.look(wanted.environment, project=wanted.project)
    sources = {row.info.key: row.info for row in store.sources.all()}
    contents = store.flags.by_content()
    names = frozenset(plugin.partition("@")[0] for plugin in machine.installed_plugins)

    def root(source: str) -> Path:
        info = sources[source]
        return clone_folder(home, info.key) if info.kind == "git" else Path(info.location)

    def accepted(stored: StoredComponent) -> frozenset[AcceptedFlag]:
        content, here = stored.component.content_hash, root(stored.source)
        if content != content_now(store, sources[stored.source], here, stored.component):
            return frozenset()
        return frozenset((flag.rule, flag.file) for flag in contents.get(content, ("", ()))[1])

    def unit(component: Component) -> Sequence[StoredComponent]:
        same = [
            row.node_id
            for row in store.graph.outlines()
            if (row.plugin, row.marketplace) == (component.plugin, component.marketplace)
            and row.repository == component.repository
        ]
        return list(store.graph.components(same).values()) if component.plugin else ()

    return InstallContext(
        wanted.places,
        machine,
        servers=frozenset(_servers(machine)),
        root=root,
        unit=unit,
        depends=lambda plugin: dependencies_of(store.graph, plugin, names),
        accepted=accepted,
        journal=Journal(home),
        flagged=wanted.flagged,
        alone=wanted.alone,
        written=written,
    )


def _servers(machine: installed.Machine) -> Iterator[str]:
    for place in machine.places:
        for name in (".claude.json", ".mcp.json"):
            if place.installed and name in place.documents:
                yield from json.loads(place.documents[name])["mcpServers"]

"""Extracts the components and edges of a source from its files, as records for the store."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertoire.domain.component import (
    AGENT,
    COMMAND,
    HOOK,
    MCP_SERVER,
    PLUGIN,
    PROVIDES,
    SKILL,
    Component,
    Edge,
    FileFate,
    FileRecord,
    is_pointer,
)
from repertoire.domain.errors import TooSlow
from repertoire.domain.invocation import call_name
from repertoire.domain.technologies import with_technologies
from repertoire.domain.text import clean_line
from repertoire.ingestion import (
    capabilities,
    clients,
    install,
    licences,
    prose,
    readme,
    relations,
    scripts,
    servers,
    values,
)
from repertoire.ingestion.extraction_plan import (
    ExtractionPlan,
    Pick,
    absent_plugins,
    looks_like_component,
    read_manifests,
)
from repertoire.ingestion.file_outcomes import NONE, PART, fates, with_notes
from repertoire.ingestion.invocation import invocation_of, is_miscalled, is_refused, is_too_deep
from repertoire.ingestion.parts import (
    Draft,
    FileOutcome,
    PluginFacts,
    SourceFile,
    SourceLayout,
    folder,
    skill_of,
)
from repertoire.ingestion.plugin_files import carries, has_place
from repertoire.ingestion.registry import strategy_for
from repertoire.ingestion.scripts import Scripts
from repertoire.ingestion.source_context import TOO_SLOW, SourceContext, seal, too_slow
from repertoire.ingestion.values import Unusable

PARTS = 300  # files of one component that its content hash covers and that are checked at most
_PROSE = (SKILL, AGENT, COMMAND)
_WITH_SCRIPTS = (SKILL, HOOK)
_GATHERED = 20_000_000  # characters of one package's programs that are read
_STRICT = ("hook", "mcp_server", "plugin")  # strategies for files that Claude Code reads as plain JSON
_LENIENT = "a comment or a trailing comma, with which Claude Code does not load the file: take it out"
_WHOLE = ("folder", "git")  # kinds of sources that are a whole repository, which its README describes


@dataclass(frozen=True)
class Extraction:
    """The result of an extraction: the records and derived edges of a source, and the outcome for each file."""

    records: tuple[FileRecord, ...]
    derived: tuple[Edge, ...]
    warnings: tuple[str, ...]
    fates: tuple[FileFate, ...] = ()


def extract(
    files: Mapping[str, SourceFile],
    unread: Mapping[str, str],
    plan: ExtractionPlan,
    context: SourceContext,
    *,
    pick: Pick = strategy_for,
) -> Extraction:
    """Extract all planned files; one that cannot be read becomes a record with the reason, and the rest goes on.

    `pick` finds the strategy that reads a path.
    """
    layout = read_manifests(files, plan.layout, pick)
    reader = _Reader(files, context, layout, plan.parts, pick)
    records = [reader.record(path) for path in plan.read if path in files]
    for path, reason in unread.items():
        if looks_like_component(path, layout):
            records.append(seal(FileRecord(path, "", skipped=reason), exact=True))
        else:
            reader.left[path] = FileFate(path, NONE, reason)
    reader.warnings += absent_plugins(layout, plan.paths)
    if context.info.kind in _WHOLE and not reader.members:
        records += reader.readme()
    members = reader.members
    plugin_ids = {root: plugin_id for root, plugin_id in reader.plugin_ids.items() if plugin_id}
    derived = relations.derive(members, plugin_ids)
    kept = tuple(record for record in records if record is not None)
    became = with_notes(fates(plan.paths, kept, plan.parts, reader.left, plan.read), reader.warnings)
    return Extraction(kept, tuple(derived), tuple(reader.warnings), became)


class _Reader:
    """Reads files one by one, and collects the members that relations are derived from."""

    def __init__(
        self,
        files: Mapping[str, SourceFile],
        context: SourceContext,
        layout: SourceLayout,
        parts: Mapping[str, tuple[str, ...]],
        pick: Pick,
    ) -> None:
        self._files = files
        self._pick = pick
        self._parts = parts
        self._context = context
        self._layout = layout
        self._licences = {
            folder(path): found
            for path, file in files.items()
            if licences.is_licence_file(path) and (found := licences.recognise(file.text))
        }
        self.members: list[relations.SourceMember] = []
        self.plugin_ids: dict[str, str] = {}
        self.warnings: list[str] = []
        self.left: dict[str, FileFate] = {}  # files without a component of their own

    def record(self, path: str) -> FileRecord | None:
        """Read one file and return its record; a file that timed out before is skipped until it changes."""
        slow = FileRecord(path, too_slow(self._files[path]), skipped=TOO_SLOW)
        if self._context.known.get(path) == slow.content_hash:
            return slow
        members = len(self.members)
        try:
            with self._context.bounded():
                return self._read(path)
        except TooSlow:
            self._leave_out(members)
            return slow
        except (ValueError, RecursionError, MemoryError) as error:  # of a parser: one file must not end the ingest
            self._leave_out(members)
            reason = clean_line(f"cannot be read ({type(error).__name__}: {error})", 200)
            return seal(FileRecord(path, "", skipped=reason), exact=True)

    def _leave_out(self, members: int) -> None:
        """Forget all members after the first so many: their file has no record."""
        left = {member.id for member in self.members[members:]}
        del self.members[members:]
        self.plugin_ids = {
            root: component_id for root, component_id in self.plugin_ids.items() if component_id not in left
        }

    def _read(self, path: str) -> FileRecord | None:
        strategy = self._pick(path, self._layout)
        if strategy is None:
            return None
        file = self._files[path]
        beside = {
            name: self._files[near].text for name in strategy.beside if (near := _near(path, name)) in self._files
        }
        if strategy.gathers is not None:
            beside = dict(self._texts(path))
        try:
            outcome = strategy.extract(dataclasses.replace(file, companions=beside), self._layout)
        except Unusable as error:
            return seal(FileRecord(path, "", skipped=str(error)), exact=True)
        self.warnings.extend(f"{path}: {warning}" for warning in outcome.warnings)
        if outcome.drafts and strategy.kind in _STRICT and path.endswith(".json") and not values.is_json(file.text):
            self.warnings.append(f"{path}: {_LENIENT}")
        if not outcome.drafts:
            self.left[path] = self._fate(path, outcome)
            return None
        return self._record(file, outcome.drafts)

    def readme(self) -> Iterator[FileRecord]:
        """Yield a component from the README of a source without other components."""
        path = next((path for path in self._files if path.lower() == "readme.md"), "")
        draft = readme.about(self._files[path], self._layout.name) if path else None
        if draft is not None:
            yield self._record(self._files[path], (draft,))

    def _fate(self, path: str, outcome: FileOutcome) -> FileFate:
        skill = skill_of(path, self._layout.skills)
        whole = outcome.part_of or (f"{skill}/SKILL.md".lstrip("/") if skill is not None and not outcome.left else "")
        return FileFate(path, PART, whole) if whole else FileFate(path, NONE, outcome.left or "says nothing")

    def _record(self, file: SourceFile, drafts: Sequence[Draft]) -> FileRecord:
        components: dict[str, Component] = {}
        edges: list[Edge] = []
        parts = self._parts.get(file.path, ())[:PARTS]
        found_in = scripts.read(parts, self._part) if drafts[0].type in _WITH_SCRIPTS else Scripts()
        self.warnings.extend(found_in.failed)
        for stated in drafts:
            draft = self._redacted(stated)
            component, found = self._finish(file, draft, found_in)
            if draft.part_of and parts and components:  # a package's components have the package's flags
                component = dataclasses.replace(component, flags=next(iter(components.values())).flags)
            else:
                component = self._checked(component, file, draft.commands)
            if component.id not in components:
                components[component.id] = component
                edges.extend(found)
        record = FileRecord(file.path, "", tuple(components.values()), (), tuple(edges))
        return seal(record, exact=self._context.dates_are_exact)

    def _redacted(self, draft: Draft) -> Draft:
        checks = self._context.checks
        return draft if checks is None or draft.type != MCP_SERVER else servers.redacted(draft, checks.redact)

    def _part(self, path: str) -> str | None:
        return self._context.checks.part(path) if self._context.checks is not None else None

    def _texts(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the texts of the parts that a file is read with, up to a bound for all together."""
        room = _GATHERED
        for part in self._parts.get(path, ())[:PARTS]:
            text = self._part(part)
            room -= len(text or "")
            if text and room > 0:
                yield part, text

    def _finish(self, file: SourceFile, draft: Draft, found_in: Scripts) -> tuple[Component, list[Edge]]:
        context, translator = self._context, self._context.translator
        path = values.storable(draft.path or file.path)
        component_id = f"{context.info.key}:{path}" + (f"#{draft.anchor}" if draft.anchor else "")
        plugin = self._plugin(file, draft)
        first, last = context.dates.get(file.path, ("", "")) if "://" not in path else ("", "")
        description = values.storable(draft.description)[: prose.DESCRIPTION_LIMIT]
        refused = is_refused(draft.type, path, draft.front_matter, plugin=plugin is not None)
        installed = self._installed(file, plugin) and not refused
        foreign = clients.foreign(draft, path, self._layout)
        component = Component(
            id=component_id,
            type=draft.type,
            name=clean_line(values.storable(draft.name), values.NAME_LIMIT) or "unnamed",
            description=description,
            body=draft.body,
            # the text's own code comes first, because only the head is embedded
            code="\n\n".join(
                piece for piece in (draft.signatures, prose.code(draft.body), found_in.signatures) if piece
            )[: prose.CODE_LIMIT],
            examples=prose.examples(description, draft.body if draft.type in _PROSE else ""),
            front_matter=with_technologies(draft.front_matter, found_in.fields or draft.made_of),
            allowed_tools=draft.tools,
            repository=draft.repository or context.info.repository or (plugin.repository if plugin else ""),
            path=path,
            plugin=plugin.name if plugin else "",
            marketplace=plugin.marketplace if plugin else "",
            licence=self._licence(draft, file.path, plugin),
            content_hash=draft.digest or file.digest,
            first_commit=first,
            last_commit=last,
            installed=installed,
            install=() if installed or foreign or refused else install.lines(draft, path, plugin, context.site),
            client=foreign.client if foreign else "",
            client_reason=foreign.reason if foreign else "",
            invocation=self._invocation(draft, path, plugin),
            english=translator.described(draft.name, description, draft.body) if translator is not None else "",
        )
        told = context.wording.of(component) if context.wording is not None else ""
        if told:
            component = dataclasses.replace(component, english=f"{told} {component.described}")
        return component, self._edges(component, draft, plugin)

    def _checked(self, component: Component, file: SourceFile, commands: str) -> Component:
        checks = self._context.checks
        if checks is None:
            return component
        parts = ((part, checks.part(part)) for part in self._parts.get(file.path, ())[:PARTS])
        return dataclasses.replace(component, flags=checks.scan(component, file.text, parts, commands))

    def _edges(self, component: Component, draft: Draft, plugin: PluginFacts | None) -> list[Edge]:
        corrected = self._context.corrections.get(component.id)
        found = (
            capabilities.corrected(corrected)
            if corrected is not None
            else capabilities.provided(
                self._context.vocabulary,
                draft.type,
                {
                    "name": component.name,
                    "tag": " . ".join(draft.tags),
                    "description": component.described,
                    "plugin": " . ".join(plugin.tags) if plugin and draft.type != PLUGIN else "",
                    # a body that repeats the description is no second evidence
                    "body": component.body.replace(component.description, ""),
                },
            )
        )
        if draft.type == PLUGIN and plugin is not None and not plugin.remote:
            self.plugin_ids[plugin.key] = component.id
        inner = bool(draft.part_of) or is_pointer(component.id)  # a part or a pointer, without relations of its own
        self.members.append(
            relations.SourceMember(
                id=component.id,
                type=component.type,
                name=component.name,
                path=component.path,
                plugin_root=plugin.key if plugin and not plugin.remote and not inner else None,
                words=relations.mentioned_words(component.body) if draft.type != PLUGIN and not inner else (),
                needs=draft.needs,
                capabilities={item.term: item.weight for item in found},
                part_of=draft.part_of,
                known=not inner,
            )
        )
        # a curator's edges are stored apart from the source's, and would count twice
        provides = [
            Edge(component.id, f"capability:{item.term}", PROVIDES, item.weight, item.evidence)
            for item in found
            if corrected is None
        ]
        return [*provides, *relations.outside(component.id, draft.needs)]

    def _plugin(self, file: SourceFile, draft: Draft) -> PluginFacts | None:
        if "://" in draft.path:
            return None
        own = self._layout.plugin_in("" if draft.path == "." else draft.path, draft.plugin or draft.name)
        if draft.type != PLUGIN:
            if draft.plugin and draft.path:  # written in the plugin's entry in a marketplace
                return own
            around = [one for one in self._layout.plugins_of(file.path) if self._carries(one, file, draft)]
            # of those in one folder, each of which has it, one in use, so that none is suggested for what is there
            return min(around, key=lambda one: (not self._in_use(one), not one.declares(file.path)), default=None)
        if own is not None and (own.shares or not draft.anchor):
            return own
        return PluginFacts(root="", name=draft.name, marketplace=draft.marketplace, licence=draft.licence, remote=True)

    def _carries(self, plugin: PluginFacts, file: SourceFile, draft: Draft) -> bool:
        if plugin.shares and not has_place(draft.type) and not plugin.declares(file.path):
            return False
        return carries(plugin, file.path, draft.type, self._layout.skills)

    def _in_use(self, plugin: PluginFacts) -> bool:
        return f"{plugin.listed_as or plugin.name}@{plugin.marketplace}" in self._context.site.installed_plugins

    def _installed(self, file: SourceFile, plugin: PluginFacts | None) -> bool:
        if plugin is None and self._layout.plugins_of(file.path):
            return False  # its folder belongs to a plugin that does not install it
        if plugin is None or not plugin.marketplace:
            return self._context.installed and not is_too_deep(file.path) and not is_miscalled(file.path)
        return self._context.installed or self._in_use(plugin)

    def _invocation(self, draft: Draft, path: str, plugin: PluginFacts | None) -> str:
        own = self._context.overrides if plugin is None else {}  # Claude Code applies them to no plugin's skills
        override = own.get(call_name(draft.type, draft.name, path, ""), "")
        return invocation_of(draft.type, draft.front_matter, override, plugin=plugin is not None)

    def _licence(self, draft: Draft, path: str, plugin: PluginFacts | None) -> str:
        if draft.licence and "licen" not in draft.licence.lower():  # "see LICENSE.txt" names no licence
            return draft.licence
        above = path if "://" not in draft.path else ""  # the licence of a list is not that of the linked components
        while above:
            above = folder(above)
            if above in self._licences:
                return self._licences[above]
        return (plugin.licence if plugin else "") or draft.licence


def _near(path: str, name: str) -> str:
    above = folder(path)
    return f"{above}/{name}" if above else name

"""Reads hooks: `hooks.json`, JSON in a `hooks` folder, where a plugin's manifest points, and what else it starts."""

from __future__ import annotations

import dataclasses

from repertoire.domain.component import HOOK
from repertoire.ingestion import hooks, started, validation, values
from repertoire.ingestion.parts import FileOutcome, SourceFile, SourceLayout, Strategy, folder, in_folder, stem

_BY_HAND = (
    "Write the hooks of {path} into ~/.claude/settings.json by hand: Claude Code does not read them as they stand there"
)
_STARTED = tuple(f"/{name}" for name in started.FILES)
_OTHERS = ("package.json", "package-lock.json", "tsconfig.json", "plugin.json")


def _claims(path: str, layout: SourceLayout) -> bool:
    if layout.declared_type(path) == HOOK:
        return True
    if f"/{path}".endswith(_STARTED):
        return True
    base = path.rpartition("/")[2]
    return base == "hooks.json" or (base.endswith(".json") and in_folder(path, "hooks") and base not in _OTHERS)


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    written = values.parse_json(file.text)
    plugin = layout.plugin_of(file.path)
    if plugin is not None and (others := tuple(started.drafts(plugin.name, written))):
        return FileOutcome((dataclasses.replace(others[0], anchor="", digest=file.digest),))
    if f"/{file.path}".endswith(_STARTED):
        return FileOutcome(left="says nothing of what a plugin starts")
    data = values.mapping(written)
    by_hand: tuple[str, ...] = ()
    for key in ("hooks", "events"):
        if isinstance(data.get(key), list):
            data, by_hand = {**data, "hooks": hooks.from_events(data[key])}, (_BY_HAND.format(path=file.path),)
            break
    valid = validation.require("hook", hooks.with_modules(data))
    name = _name(file.path, plugin.name if plugin else layout.name)
    draft = hooks.draft(name, valid["hooks"], description=values.text(valid.get("description")))
    beside = {key: value for key, value in valid.items() if key not in ("hooks", "$schema")}
    return FileOutcome((dataclasses.replace(draft, digest=file.digest, front_matter=beside, install=by_hand),))


def _name(path: str, owner: str) -> str:
    name = stem(path)
    if name != "hooks":
        return name
    above = folder(path).rpartition("/")[2]
    return owner if above in ("hooks", "") or above.startswith(".") else above


STRATEGY = Strategy("hook", _claims, _extract)

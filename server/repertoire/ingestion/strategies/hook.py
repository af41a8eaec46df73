"""Reads hooks: `hooks.json`, JSON in a `hooks` folder, or where a plugin's manifest points."""

from __future__ import annotations

from repertoire.domain.component import HOOK
from repertoire.ingestion import hooks, validation, values
from repertoire.ingestion.parts import Draft, Layout, Outcome, SourceFile, Strategy, folder, in_folder, stem


def _claims(path: str, layout: Layout) -> bool:
    if layout.declared_type(path) == HOOK:
        return True
    base = path.rpartition("/")[2]
    return base == "hooks.json" or (base.endswith(".json") and in_folder(path, "hooks") and base not in _OTHERS)


_OTHERS = ("package.json", "package-lock.json", "tsconfig.json", "plugin.json", "settings.json", "settings.local.json")


def _extract(file: SourceFile, layout: Layout) -> Outcome:
    data = values.mapping(values.parse_json(file.text))
    if "hooks" not in data and isinstance(data.get("events"), list):
        data = {**data, "hooks": hooks.from_events(data["events"])}
    valid = validation.require("hook", data)
    plugin = layout.plugin_of(file.path)
    summary = hooks.summarise(valid["hooks"])
    draft = Draft(
        type=HOOK,
        name=_name(file.path, plugin.name if plugin else layout.name),
        description=values.text(valid.get("description")) or summary.sentence,
        body=summary.text,
        digest=file.digest,
        front_matter={key: value for key, value in valid.items() if key not in ("hooks", "$schema")},
        signatures=summary.commands,
        tags=summary.events,
        needs=summary.needs,
    )
    return Outcome((draft,))


def _name(path: str, owner: str) -> str:
    name = stem(path)
    if name != "hooks":
        return name
    above = folder(path).rpartition("/")[2]
    return owner if above in ("hooks", "") or above.startswith(".") else above


STRATEGY = Strategy("hook", _claims, _extract)

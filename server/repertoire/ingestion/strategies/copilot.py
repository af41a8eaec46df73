"""Reads GitHub Copilot's files: chat modes as agents, prompts as commands, instructions as settings."""

from __future__ import annotations

import dataclasses

from repertoire.domain.component import AGENT, COMMAND, PLUGIN, SETTING
from repertoire.ingestion import front_matter, markdown, values
from repertoire.ingestion.parts import (
    ComponentRequirement,
    Draft,
    FileOutcome,
    SourceFile,
    SourceLayout,
    Strategy,
    stem,
)
from repertoire.ingestion.values import Unusable

_KINDS = {".chatmode.md": AGENT, ".prompt.md": COMMAND, ".instructions.md": SETTING}
_COLLECTIONS = (".collection.yml", ".collection.yaml")


def _claims(path: str, layout: SourceLayout) -> bool:
    return path.endswith((*_KINDS, *_COLLECTIONS)) and not layout.in_skill(path)


def _extract(file: SourceFile, _: SourceLayout) -> FileOutcome:
    if file.path.endswith(_COLLECTIONS):
        return _collection(file)
    kind = next(kind for suffix, kind in _KINDS.items() if file.path.endswith(suffix))
    found = markdown.outcome(file, kind, fallback_name=stem(file.path))
    where = values.words(found.drafts[0].front_matter.get("applyTo"))
    tags = tuple(f"applies to {pattern}" for pattern in where if pattern != "**")
    # prompts and instructions are both named after their files
    drafts = (dataclasses.replace(found.drafts[0], name=stem(file.path), tags=(*found.drafts[0].tags, *tags)),)
    return dataclasses.replace(found, drafts=drafts)


def _collection(file: SourceFile) -> FileOutcome:
    data = front_matter.read_yaml(file.text)
    name = values.name(data.get("id") or data.get("name"))
    described = values.text(data.get("description"))
    listed = data.get("items")
    paths = [values.name(values.mapping(item).get("path")) for item in listed] if isinstance(listed, list) else []
    if not name or not paths:
        message = "a collection without a name or items"
        raise Unusable(message)
    members = [stem(path) for path in paths if path][:100]
    draft = Draft(
        type=PLUGIN,
        name=name,
        description=described or f"Collection {name}: {', '.join(members[:12])}",
        body="\n".join([values.name(data.get("name")), described, *(f"- {path}" for path in paths if path)]).strip(),
        path=file.path,
        digest=file.digest,
        front_matter={key: data[key] for key in ("id", "name", "tags") if key in data},
        tags=values.words(data.get("tags")),
        needs=tuple(ComponentRequirement("component", member, 0.3, "item of the collection") for member in members),
    )
    return FileOutcome((draft,))


STRATEGY = Strategy("copilot", _claims, _extract)

"""Reads the settings files that a repository offers: the settings, and the hooks in them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from repertoire import linear
from repertoire.domain.component import HOOK, SETTING
from repertoire.domain.digest import digest_of
from repertoire.ingestion import hooks, validation, values
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy, folder, in_folder, stem
from repertoire.ingestion.values import Unusable

_SCRIPT = linear.compile(r"([A-Za-z0-9_.-]+)\.(?:py|sh|js|mjs|cjs|ts|rb|ps1)\b")
_DIGITS = 8  # of the digest of a command, where several of one program run on one event
_NOT_SETTINGS = ("hooks", "$schema", "description")


def _claims(path: str, _: SourceLayout) -> bool:
    base, above = path.rpartition("/")[2], folder(path).rpartition("/")[2]
    if base in ("settings.json", "settings.local.json"):
        return above in (".claude", "claude", "") or in_folder(path, "settings")
    return base.endswith(".json") and in_folder(path, "settings")


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    valid = validation.require("settings", values.parse_json(file.text))
    configured = values.mapping(valid.get("hooks"))
    own = {key: value for key, value in valid.items() if key not in _NOT_SETTINGS}
    name = stem(file.path)
    if in_folder(file.path, "settings") and configured and not own:
        draft = hooks.draft(name, configured, description=values.text(valid.get("description")))
        return FileOutcome((dataclasses.replace(draft, digest=file.digest),))
    drafts = list(_hooks(configured))
    if own:
        owner = layout.name if name.startswith("settings") else name
        drafts = [*drafts, _setting(owner, own, values.text(valid.get("description")))]
    if not drafts:
        message = "sets nothing"
        raise Unusable(message)
    return FileOutcome(tuple(drafts))


def _setting(name: str, own: Mapping[str, Any], described: str) -> Draft:
    public = {key: sorted(value) if key == "env" and isinstance(value, dict) else value for key, value in own.items()}
    text = json.dumps(public, indent=1, default=str)[:20_000]
    return Draft(
        type=SETTING,
        name=f"{name}-settings" if not described else name,
        description=described or f"Claude Code settings: {', '.join(own)}",
        body=text,
        anchor="settings",
        digest=digest_of(json.dumps(own, sort_keys=True, default=str)),  # covers the values that are not stored, too
        front_matter=public,
        signatures=text[:4_000],
        tags=tuple(own),
    )


def _hooks(configured: Mapping[str, Any]) -> list[Draft]:
    """Return a draft for each action of the hooks, so that a person's hooks are separate components."""
    found: dict[str, Draft] = {}
    for action in hooks.actions(configured):
        script = _SCRIPT.search(action.line)
        name = script.group(1) if script else values.name(action.line.split(" ")[0].rpartition("/")[2]) or action.event
        anchor = f"{action.event}:{action.matcher}:{name}" if action.matcher else f"{action.event}:{name}"
        if anchor in found:
            if found[anchor].body == action.line:
                continue
            anchor = f"{anchor}:{digest_of(action.line)[:_DIGITS]}"
        found[anchor] = Draft(
            type=HOOK,
            name=name,
            description=f"Runs on {hooks.when(action)}: {action.line[:160]}",
            body=action.line,
            anchor=anchor,
            digest=digest_of(f"{anchor}\n{action.line}"),
            tags=(action.event,),
            needs=action.needs,
        )
    return list(found.values())


STRATEGY = Strategy("setting", _claims, _extract)

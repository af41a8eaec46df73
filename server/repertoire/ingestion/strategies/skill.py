"""Reads skills: a folder with a SKILL.md, everything beside it a part of it."""

from __future__ import annotations

import re
from dataclasses import replace

from repertoire.domain.component import SKILL
from repertoire.ingestion import markdown
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy, folder

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _claims(path: str, _: SourceLayout) -> bool:
    return path.rpartition("/")[2].lower() == "skill.md"


def _extract(file: SourceFile, layout: SourceLayout) -> FileOutcome:
    own = folder(file.path).rpartition("/")[2]
    outcome = markdown.outcome(file, SKILL, fallback_name=own or layout.name)
    # the client lists a skill by its folder, whatever it calls itself; a loose one's is named when it is copied
    kept = layout.plugin_of(file.path) is None or not own
    return replace(outcome, drafts=tuple(_named(draft, own, kept=kept) for draft in outcome.drafts))


def _named(draft: Draft, own: str, *, kept: bool) -> Draft:
    return draft if kept and (not own or _PLAIN.fullmatch(draft.name)) else replace(draft, name=own)


STRATEGY = Strategy("skill", _claims, _extract)

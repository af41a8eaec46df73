"""Renders what was done to a pack: its validity, its audit, its exam, an update, and how it was shared."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from repertoire.domain.text import clean_line, counted
from repertoire.rendering.packs import licence_lines, unknown_lines

if TYPE_CHECKING:  # other answers need none of these
    from repertoire.app.packs.checks import PackAudit, PackValidity
    from repertoire.app.packs.exams import PackScore
    from repertoire.app.packs.judging import JudgeStep
    from repertoire.app.packs.sharing import SharedPack
    from repertoire.app.packs.skills import OfferedSkill
from repertoire.app.packs.updating import UpdatedPack

_LINE = 240
_TOLD = 20  # findings or documents that are named in a text


def validity_text(found: PackValidity) -> str:
    """Render whether a pack is valid, and its faults."""
    if not found.faults:
        return f"{found.name} is valid" + (", also by the strict rules" if found.strict else "")
    rules = " by the strict rules" if found.strict else ""
    return "\n".join(
        [f"{found.name} is not valid{rules}:", *(f"- {clean_line(fault, _LINE)}" for fault in found.faults)]
    )


def validity_data(found: PackValidity) -> dict[str, Any]:
    """Return whether a pack is valid as a JSON object."""
    faults = [clean_line(fault, _LINE) for fault in found.faults]
    return {"name": found.name, "valid": not faults, "strict": found.strict, "faults": faults}


def audit_text(found: PackAudit) -> str:
    """Render what an audit found, counted by kind, and the first findings."""
    if not found.findings:
        return f"{found.name}: nothing to find fault with in {found.sections:,} sections"
    counts = ", ".join(f"{kind} {count}" for kind, count in _kinds(found).items())
    shown = [
        f"- {finding.kind}: {clean_line(finding.place, _LINE)} {clean_line(finding.detail, _LINE)}"
        for finding in found.findings[:_TOLD]
    ]
    more = len(found.findings) - _TOLD
    told = [f"{found.name}: {counts}, in {found.sections:,} sections", *shown]
    return "\n".join([*told, f"… and {more} more; --json names all"] if more > 0 else told)


def audit_data(found: PackAudit) -> dict[str, Any]:
    """Return what an audit found as a JSON object."""
    findings = [
        {name: clean_line(value, _LINE) for name, value in asdict(finding).items()} for finding in found.findings
    ]
    return {"name": found.name, "sections": found.sections, "kinds": _kinds(found), "findings": findings}


def score_text(name: str, score: PackScore) -> str:
    """Render the figures of an exam, and say where the pack is no better than plain full text."""
    search, words = score.search, score.words
    better = search.section_in_5 > words.section_in_5
    refused = "no other pack here has an exam" if score.refused is None else f"{score.refused} % of {score.foreign}"
    return "\n".join(
        [
            f"{name}: {counted(score.questions, 'question')}",
            (
                f"search: page first {search.page_first}, in five {search.page_in_5}; "
                f"section first {search.section_first}, in five {search.section_in_5} %"
            ),
            (
                f"full text: page first {words.page_first}, in five {words.page_in_5}; "
                f"section first {words.section_first}, in five {words.section_in_5} %"
            ),
            f"own questions called not covered: {score.lost} %; questions of other packs refused: {refused}",
            *([_nuggets(score)] if score.nuggets is not None else []),
            *([f"gate: all but a few questions reach a cosine of {score.gate}"] if score.gate is not None else []),
            f"stages: {', '.join(score.stages)}",
            *([] if better else ["The search finds no more sections than plain full text does."]),
            *unknown_lines(score.unknown),
        ]
    )


def _nuggets(score: PackScore) -> str:
    return (
        f"of the reference answers the first passages say {score.nuggets} %, those of full text {score.words_nuggets} %"
    )


def judge_step_text(done: JudgeStep) -> str:
    """Render what a step of a judged run wrote and what is next, or its figures."""
    written = [f"Wrote {path}" for path in done.written]
    found = done.judgement
    if found is None:
        return "\n".join([*written, done.advice])
    verdict = "The answers are better with the pack." if found.beats else "The pack does not beat answers without it."
    return "\n".join(
        [
            *written,
            (
                f"{len(found.questions)} questions: with the pack {found.points_with} of 10 points, "
                f"without {found.points_without}"
            ),
            (
                f"difference {found.gain} ({found.low} to {found.high}, 95 %, paired); better in {found.better} "
                f"questions, worse in {found.worse}; the answer that stands first gets {found.position} more"
            ),
            verdict,
        ]
    )


def judge_step_data(done: JudgeStep) -> dict[str, Any]:
    """Return a step of a judged run as a JSON object."""
    found = done.judgement
    named = ("points_with", "points_without", "gain", "low", "high", "position", "better", "worse", "beats")
    figures = None if found is None else {name: getattr(found, name) for name in named}
    return {"written": [str(path) for path in done.written], "advice": done.advice, "judgement": figures}


def score_data(name: str, score: PackScore) -> dict[str, Any]:
    """Return the figures of an exam as a JSON object."""
    return {"name": name, **asdict(score), "unknown": [clean_line(one, _LINE) for one in score.unknown]}


def updated_text(done: UpdatedPack) -> str:
    """Render which documents changed, how much was embedded, and what that did to the score."""
    after = done.built.manifest
    lists = (("new", done.added), ("changed", done.changed), ("gone", done.removed))
    told = [f"{kind}: {', '.join(clean_line(path, 120) for path in paths[:_TOLD])}" for kind, paths in lists if paths]
    scores = []
    if done.score_before is not None and done.score_after is not None:
        old, new = done.score_before.search, done.score_after.search
        scores = [
            (
                f"section in five {old.section_in_5} → {new.section_in_5} %, page in five {old.page_in_5} → "
                f"{new.page_in_5} %, own questions lost {done.score_before.lost} → {done.score_after.lost} %"
            )
        ]
    return "\n".join(
        [
            (
                f"Updated {after.name} {done.before.version} → {after.version}: "
                f"{counted(len(done.added), 'document')} new, {len(done.changed)} changed, {len(done.removed)} gone; "
                f"{counted(done.built.embedded, 'text')} embedded"
            ),
            *told,
            *_not_taken(done),
            *unknown_lines(done.built.unknown),
            *licence_lines(done.built),
            *(scores or ["No exam says what that did to its answers; build it with --exam."]),
        ]
    )


def _not_taken(done: UpdatedPack) -> list[str]:
    """Return the steps of a refinement that were not taken, with the reasons."""
    left = [(line, why) for line, why in done.built.skipped.items() if line.startswith("refinement, ")]
    return [f"not taken: {clean_line(line, 120)}: {clean_line(why, _LINE)}" for line, why in left[:_TOLD]]


def updated_data(done: UpdatedPack) -> dict[str, Any]:
    """Return what an update did as a JSON object."""
    scores = {"before": done.score_before, "after": done.score_after}
    return {
        "name": done.before.name,
        "before": done.before.version,
        "version": done.built.manifest.version,
        "added": [clean_line(path, _LINE) for path in done.added],
        "changed": [clean_line(path, _LINE) for path in done.changed],
        "removed": [clean_line(path, _LINE) for path in done.removed],
        "embedded": done.built.embedded,
        "licence": clean_line(done.built.manifest.licence, _LINE),
        "source_licence": clean_line(done.built.licence, _LINE),
        "scores": {when: asdict(score) if score is not None else None for when, score in scores.items()},
    }


def shared_text(did: str, pack: SharedPack) -> str:
    """Render what was done with a pack (exported, installed, removed), and where."""
    manifest = pack.manifest
    who = f"{manifest.name} {manifest.version}" if manifest is not None else pack.place.name
    before = f" in place of {pack.before}" if pack.before else ""
    return "\n".join([f"{did} {who}{before}: {pack.place}", *([f"sha256: {pack.hash}"] if pack.hash else [])])


def shared_data(pack: SharedPack) -> dict[str, Any]:
    """Return what was done with a pack as a JSON object."""
    manifest = pack.manifest
    return {
        "name": manifest.name if manifest is not None else pack.place.name,
        "version": manifest.version if manifest is not None else "",
        "place": str(pack.place),
        "sha256": pack.hash,
        "before": pack.before,
    }


def skill_text(done: OfferedSkill) -> str:
    """Render whether a pack is offered as a skill, and where."""
    if not done.offered:
        return f"Pack {done.pack} is no skill now."
    return f"Claude Code lists the skill {done.skill} in each new session: {done.file}"


def skill_data(done: OfferedSkill) -> dict[str, Any]:
    """Return whether a pack is offered as a skill, as a JSON object."""
    return {"name": done.pack, "skill": done.skill, "place": str(done.file), "offered": done.offered}


def _kinds(found: PackAudit) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in found.findings:
        counts[finding.kind] = counts.get(finding.kind, 0) + 1
    return dict(sorted(counts.items()))

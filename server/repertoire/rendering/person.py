"""Renders a person's decisions: mutes, outcomes, corrections, deletions, and accepted flags."""

from __future__ import annotations

from typing import Any

from repertoire.app.person.correct import Corrected
from repertoire.app.person.feedback import Feedback
from repertoire.app.person.forget import ALL, Forgotten
from repertoire.app.person.mute import PROJECT, TRACE, Muted
from repertoire.app.person.trust import Accepted, FlagReport
from repertoire.app.projects.index import ForgottenMemory
from repertoire.domain.event import DISMISSED
from repertoire.domain.text import clean_line, counted
from repertoire.domain.trust import Flag
from repertoire.rendering.answers import LINE, NAME
from repertoire.rendering.flags import flag_lines, headline
from repertoire.store.flags import Flagged

_ID = 300
_UNDO = "To undo this, mute the same with `undo` (in a shell: the same `repertoire mute` with `--undo`)."


def muted_text(muted: Muted) -> str:
    """Render a mute and how to undo it, or an undone mute."""
    listed = ", ".join(clean_line(target, 200) for target in muted.targets)
    subject = f"the project {listed}" if muted.scope == PROJECT else f"{muted.scope} {listed}"
    subject = listed if muted.scope == TRACE else subject
    if muted.undone:
        wholes = ", ".join(clean_line(whole, 200) for whole in muted.silenced_by)
        now = f"It is still silent: what it is part of is muted ({wholes})" if wholes else "It can be suggested again"
        return f"No longer muted or dismissed: {subject}. {now}."
    where = " in this project" if muted.project else ""
    gone = "Neither it nor its parts will be suggested" if muted.plugin else "It will not be suggested"
    gone = "Nothing will be suggested there" if muted.scope == PROJECT else gone
    return f"Muted{where}: {subject}. {gone}. {_UNDO}"


def corrected_text(kept: Corrected) -> str:
    """Render a correction."""
    return f"{clean_line(kept.component, 200)} now provides: {', '.join(kept.capabilities)}."


def forgotten_text(gone: Forgotten) -> str:
    """Render a deletion, and what remains: damaged databases that were set aside, and the Python environment."""
    things = {
        "requests": "every past request, and drafts of traces (kept traces and the votes on them stay)",
        "request": "the past request, what was selected for it, and what was learned from that",
        "project": "what was recorded in this project, its traces included"
        + (", and its memory" if gone.memories else "")
        + (f", with {gone.memories - 1} that were set aside" if gone.memories > 1 else ""),
        "trace": "the trace, its earlier versions and the votes on them",
        "all": "everything: the graph, packs, clones, and memories of projects",
    }
    told = f"Deleted {things[gone.what]}: {gone.events} recorded events."
    if gone.unknown:
        told = f"Nothing was recorded of {clean_line(gone.unknown, 300)}."
    told += f" Data is stored in {gone.home}."
    told += _stays_of_project(gone)
    if gone.aside:
        told += f" Damaged databases that were set aside still hold old data; delete them: {', '.join(gone.aside)}."
    if gone.undeleted:
        told += f" These could not be deleted as a whole; delete them: {', '.join(gone.undeleted)}."
    if gone.commons and gone.what != ALL:
        commons = clean_line(gone.commons, 200)
        told += f" What was sent to the commons at {commons} stays there until a moderator removes it."
    elif gone.commons:
        told += f" You stay a member of the commons at {clean_line(gone.commons, 200)} (`repertoire commons leave`)."
    if gone.environment:
        told += f" The Python environment of Repertoire stays; it holds no data of yours: {gone.environment}."
        told += " Your settings stay."
    if gone.installs:
        told += " What installations replaced stays for `repertoire install --undo`, former contents of your"
        told += f" settings.json among it: {gone.installs}."
    return told


def _stays_of_project(gone: Forgotten) -> str:
    """Say what stays of a project that was forgotten, or of the one that a folder is a part of."""
    told = ""
    if gone.within:
        told += f" It belongs to the project {clean_line(gone.within, 300)}, whose memory stays, with what was recorded"
        told += " there: name that folder to forget them."
    if gone.muted:
        told += " What is muted there stays muted, and is stored with its path; `mute` with `undo` there takes it back."
    if gone.mirror:
        told += f" {mirror_stays(gone.mirror)}"
    return told


def mirror_stays(folder: str) -> str:
    """Say that the files of a memory that was deleted are still there."""
    return f"The files in {clean_line(folder, 300)} stay; delete the folder to be rid of them."


def muted_data(muted: Muted) -> dict[str, Any]:
    """Return a mute or an undone mute as a JSON object."""
    return {
        "message": muted_text(muted),
        "targets": list(muted.targets),
        "scope": muted.scope,
        "project": muted.project,
        "undone": muted.undone,
    }


def corrected_data(kept: Corrected) -> dict[str, Any]:
    """Return a correction as a JSON object."""
    return {"message": corrected_text(kept), "id": kept.component, "provides": list(kept.capabilities)}


def forgotten_data(gone: Forgotten) -> dict[str, Any]:
    """Return a deletion as a JSON object."""
    return {
        "message": forgotten_text(gone),
        "what": gone.what,
        "events": gone.events,
        "memories": gone.memories,
        "home": gone.home,
        "set_aside": list(gone.aside),
        "environment": gone.environment,
        "commons": gone.commons,
        "undeleted": list(gone.undeleted),
        "mirror": gone.mirror,
        "unknown": gone.unknown,
        "within": gone.within,
    }


def forgotten_memory_text(root: str, gone: ForgottenMemory, mirror: str) -> str:
    """Render what was deleted of a project's memory, and the files that stay."""
    others = gone.memories - 1
    aside = f" and {others} that {'was' if others == 1 else 'were'} set aside" if others > 0 else ""
    deleted = f"deleted its memory{aside} ({counted(gone.files, 'file')})"
    told = f"Forgot {clean_line(root, 300)}: {deleted}; the project's own files are as they were"
    return "\n".join([told, *([mirror_stays(mirror)] if mirror else [])])


def forgotten_memory_data(root: str, gone: ForgottenMemory, mirror: str) -> dict[str, Any]:
    """Return what was deleted of a project's memory as a JSON object."""
    return {
        "message": forgotten_memory_text(root, gone, mirror),
        "root": root,
        "files": gone.files,
        "memories": gone.memories,
        "mirror": mirror,
    }


def feedback_text(kept: Feedback) -> str:
    """Render the recorded feedback on a component."""
    name, key = clean_line(kept.component.name, NAME), clean_line(kept.component.id, _ID)
    if kept.outcome == DISMISSED:
        return f"Dismissed in this project: {name}. {_UNDO}\n  {key}"
    use = "for its latest use" if kept.used else "though no use of it was seen"
    still = " It is still muted or dismissed: to hear of it again, mute it with `undo`." if kept.silent else ""
    if kept.repeated:
        return f"Recorded already: {name} {kept.outcome}, {use}. Nothing changed.{still}\n  {key}"
    return f"Recorded: {name} {kept.outcome}, {use}.{still}\n  {key}"


def feedback_data(kept: Feedback) -> dict[str, Any]:
    """Return the recorded feedback on a component as a JSON object."""
    component = kept.component
    return {
        "message": feedback_text(kept),
        "id": component.id,
        "name": clean_line(component.name, 80),
        "type": component.type,
        "outcome": kept.outcome,
        "used": kept.used,
        "repeated": kept.repeated,
    }


def report_text(report: FlagReport) -> str:
    """Render the flags of every flagged component, or of one."""
    if report.unread:
        place = f"`repertoire ingest https://{clean_line(report.unread, 200)}`"
        return f"Nothing was checked: only the catalogue's entry is known. {place} reads its files, and checks them."
    if not report.flagged:
        return "The checks found nothing." if report.asked else "No component has a flag of this severity."
    blocks = [_flagged(entry, whole=bool(report.asked)) for entry in report.flagged]
    counts = ", ".join(f"{count} {name}" for name, count in report.counts.items())
    return "\n".join(
        [*([] if report.asked else [f"flagged: {counts or 'none'}"]), *(line for b in blocks for line in b)]
    )


def accepted_text(accepted: Accepted) -> str:
    """Render an acceptance of flags, or an undone acceptance."""
    listed = ", ".join(clean_line(key, _ID) for key in accepted.ids)
    if accepted.undone:
        return f"No longer accepted, so flagged again: {listed}."
    return f"Accepted as it is now: {listed}. It is checked again when its content changes; --undo undoes this."


def report_data(report: FlagReport) -> dict[str, Any]:
    """Return the flags as a JSON object, with the flagged lines, because a person asked for them."""
    return {
        "asked": report.asked,
        "unread": report.unread,
        "counts": dict(report.counts),
        "flagged": [
            {
                "id": entry.id,
                "name": clean_line(entry.name, NAME),
                "type": entry.type,
                "content_hash": entry.content_hash,
                "flags": [_flag_data(flag) for flag in entry.flags],
                "accepted": entry.accepted,
            }
            for entry in report.flagged
        ],
    }


def accepted_data(accepted: Accepted) -> dict[str, Any]:
    """Return an acceptance or an undone acceptance as a JSON object."""
    return {"ids": list(accepted.ids), "undone": accepted.undone}


def _flag_data(flag: Flag) -> dict[str, Any]:
    return {
        "rule": flag.rule,
        "severity": flag.severity,
        "line": flag.line,
        "file": flag.file,
        "reason": clean_line(flag.reason, LINE),
        "text": clean_line(flag.text, LINE),
    }


def _flagged(entry: Flagged, *, whole: bool) -> list[str]:
    state = f", accepted {entry.accepted[:10]}" if entry.accepted else ""
    lines = [f"{clean_line(entry.name, NAME)} ({entry.type.replace('_', ' ')}{state})"]
    if whole:
        for flag in entry.flags:
            lines += [f"  {headline(flag)}", *([f"    > {clean_line(flag.text, LINE)}"] if flag.text else [])]
    else:
        lines += [f"  {line}" for line in flag_lines(entry.flags)]
    return [*lines, f"  id: {clean_line(entry.id, _ID)}"]

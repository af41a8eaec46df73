"""Renders what a home knows of its commons, as text and as data: the key is in neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from repertoire.app.commons.membership import BEFORE, Membership
from repertoire.app.commons.outbox import Waiting
from repertoire.app.commons.shared_use import LateUse
from repertoire.app.commons.sync import Synced
from repertoire.app.upkeep.commons_breaker import CLOSED, HALF_OPEN, OPEN
from repertoire.domain.text import clean_line, counted
from repertoire.learning.shared_use import OwnUse, TeamUse

_TITLE, _USED = 100, 30
_CIRCUIT = {
    CLOSED: "each refresh asks",
    OPEN: "refreshes do not ask for now",
    HALF_OPEN: "the next refresh asks once",
}


def joined_text(membership: Membership) -> str:
    """Render what is sent and received after joining a commons."""
    return (
        f"joined {_named(membership)}\n"
        "From now on, traces that you confirm and votes that you give are sent there by each sync, redacted as you saw "
        "them.\nWhat you confirmed before stays here. `repertoire commons outbox` shows what is to be sent; "
        "`repertoire commons outbox --withhold TRACE` keeps one back."
    )


def membership_text(membership: Membership, waiting: int, circuit: str) -> str:
    """Render the membership: commons, last sync, how many bodies wait to be sent, and the breaker's state."""
    refused = sum(state.startswith("refused") for state in membership.sent.values())
    sent = sum(not state.startswith(BEFORE) for state in membership.sent.values()) - refused
    lines = [
        f"commons: {_named(membership)}, since {membership.joined}",
        f"waiting to be sent: {waiting}; sent: {sent}; refused: {refused}",
        f"withheld: {len(membership.withheld)}",
        f"last complete sync: {membership.synced or 'never'}",
    ]
    if membership.trouble:
        lines.append(f"trouble: {clean_line(membership.trouble, 200)}; answers come from this home meanwhile")
        lines.append(f"circuit breaker: {circuit}; {_CIRCUIT[circuit]}; `repertoire commons sync` asks at once")
    return "\n".join(lines)


def membership_data(membership: Membership, waiting: int, circuit: str) -> dict[str, Any]:
    """Return the state of the membership as data."""
    names = ("url", "community", "member", "joined", "sent", "withheld", "synced", "trouble")
    return {**{name: getattr(membership, name) for name in names}, "waiting": waiting, "circuit": circuit}


def outbox_text(waiting: Sequence[Waiting], report: OwnUse | None, *, withdraws: bool = False) -> str:
    """Render the traces and votes that wait to be sent, in full, and what the next sync reports of components."""
    told = [_item(one) for one in waiting]
    if report is not None:
        told.append("\n".join(("report of components that were used or offered here lately:", *_report(report))))
    if withdraws:
        told.append("the report of components is to be deleted there")
    return "\n\n".join(told) or "nothing waits to be sent"


def sent_already_text(trace: str) -> str:
    """Say what withholding a trace that was sent can still do."""
    return (
        f"{trace} was sent already, and stays there until a moderator removes it; "
        "from now on no vote on it and nothing that amends it is sent"
    )


def outbox_data(waiting: Sequence[Waiting], report: OwnUse | None, *, withdraws: bool = False) -> list[dict[str, Any]]:
    """Return what waits to be sent as data: the bodies that the commons gets."""
    told: list[dict[str, Any]] = [
        {"kind": "vote" if one.vote else "trace", "trace": one.trace, "vote": one.vote, "body": dict(one.body)}
        for one in waiting
    ]
    if report is not None:
        told.append({"kind": "report", "trace": "", "vote": "", "body": _report_data(report)})
    if withdraws:
        told.append({"kind": "withdrawal", "trace": "", "vote": "", "body": {}})
    return told


def synced_text(done: Synced) -> str:
    """Render how much a sync sent and received, and what the commons refused."""
    lines = [
        f"sent {done.sent}; brought {counted(done.traces, 'trace')} and {counted(done.votes, 'vote')}"
        + (f"; dropped {done.removed} that were removed there" if done.removed else "")
    ]
    lines += [f"refused: {clean_line(title, _TITLE)}: {clean_line(why, 200)}" for title, why in done.refused]
    return "\n".join(lines)


def synced_data(done: Synced) -> dict[str, Any]:
    """Return the counts and refusals of a sync as a JSON object."""
    return {**vars(done), "refused": [{"what": title, "why": why} for title, why in done.refused]}


def use_text(membership: Membership, own: LateUse, report: OwnUse, team: Mapping[str, TeamUse]) -> str:
    """Render what a report of this home holds, whether it is sent, and what the team tells."""
    if membership.shares_use:
        state = f"reported once a week, last: {membership.use_sent or 'the next sync begins'}"
    else:
        state = "not reported; --share does that"
    lines = [f"used here lately ({state}):", *_listed(own.used)]
    lines += ["offered here lately and not used:", *_listed(own.passed_over)]
    worked = sum(own.worked.values())
    lines.append(f"outcome known of {len(own.worked)}: worked {worked}, failed {len(own.worked) - worked}")
    if membership.shares_use and own != LateUse(own.used) and report == OwnUse(own.used):
        lines.append("offers and outcomes are not reported: you allowed use alone; --share allows them too")
    if membership.use_trouble:
        lines.append(f"trouble: {clean_line(membership.use_trouble, 200)}")
    lines.append("told of the team:" if team else "told of the team: nothing that five members or more reported")
    lines += [f"  {clean_line(key, 200)}: {_of_team(told)}" for key, told in _most_used(team)[:_USED]]
    return "\n".join(lines)


def use_data(membership: Membership, own: LateUse, report: OwnUse, team: Mapping[str, TeamUse]) -> dict[str, Any]:
    """Return the same as data."""
    return {
        "shared": membership.shares_use,
        "reported": membership.use_sent,
        "own": list(own.used),
        "passed_over": list(own.passed_over),
        "worked": dict(own.worked),
        "report": _report_data(report),
        "team": {key: asdict(told) for key, told in team.items()},
        "trouble": membership.use_trouble,
    }


def _of_team(told: TeamUse) -> str:
    parts = [f"about {told.used} members use it" if told.used else "fewer than five members use it"]
    parts += [f"about {told.offered} use it or were offered it"] if told.offered else []
    parts += [f"it worked for about {told.worked:.0%} (an estimate)"] if told.worked is not None else []
    return "; ".join(parts)


def _report(report: OwnUse) -> list[str]:
    lines = ["  used:", *(f"  {line}" for line in _listed(report.used))]
    if report.passed_over:
        lines += ["  offered and not used:", *(f"  {line}" for line in _listed(report.passed_over))]
    if report.outcomes:
        lines.append("  outcomes, each untrue with a chance of one in four:")
        lines += [f"    {key}: {outcome}" for key, outcome in report.outcomes.items()]
    return lines


def _report_data(report: OwnUse) -> dict[str, Any]:
    return {"used": list(report.used), "passed_over": list(report.passed_over), "outcomes": dict(report.outcomes)}


def _listed(components: Sequence[str]) -> list[str]:
    return [f"  {key}" for key in components] or ["  no component of the catalogue"]


def _most_used(team: Mapping[str, TeamUse]) -> list[tuple[str, TeamUse]]:
    return sorted(team.items(), key=lambda item: (-item[1].used, -item[1].offered, item[0]))


def _named(membership: Membership) -> str:
    return f"{membership.url}, community {membership.community}, as {membership.member}"


def _item(one: Waiting) -> str:
    if one.vote:
        note = f": {clean_line(str(one.body['note']), _TITLE)}" if one.body["note"] else ""
        return f"vote {one.vote} on {one.trace} ({clean_line(one.title, _TITLE)}){note}"
    fields = (f"  {name}: {_indented(value)}" for name, value in one.body.items() if name != "title")
    return "\n".join((f"trace {one.trace}: {clean_line(one.title, _TITLE)}", *fields))


def _indented(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{place}={held}" for place, held in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "\n    ".join(clean_line(line, 500) for line in str(value).splitlines())

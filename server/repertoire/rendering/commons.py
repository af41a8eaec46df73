"""Renders what a home knows of its commons, as text and as data: the key is in neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repertoire.app.commons.membership import Membership
from repertoire.app.commons.outbox import BEFORE, Waiting
from repertoire.app.commons.sync import Synced
from repertoire.app.upkeep.commons_breaker import CLOSED, HALF_OPEN, OPEN
from repertoire.domain.text import clean_line

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
    sent = sum(state != BEFORE for state in membership.sent.values()) - refused
    lines = [
        f"commons: {_named(membership)}, since {membership.joined}",
        f"waiting to be sent: {waiting}; sent: {sent}; refused: {refused}",
        f"withheld: {len(membership.withheld)}",
        f"last complete sync: {membership.synced or 'never'}, up to change {membership.cursor}",
    ]
    if membership.trouble:
        lines.append(f"trouble: {clean_line(membership.trouble, 200)}; answers come from this home meanwhile")
        lines.append(f"circuit breaker: {circuit}; {_CIRCUIT[circuit]}; `repertoire commons sync` asks at once")
    return "\n".join(lines)


def membership_data(membership: Membership, waiting: int, circuit: str) -> dict[str, Any]:
    """Return the state of the membership as data."""
    names = ("url", "community", "member", "joined", "cursor", "sent", "withheld", "synced", "trouble")
    return {**{name: getattr(membership, name) for name in names}, "waiting": waiting, "circuit": circuit}


def outbox_text(waiting: Sequence[Waiting]) -> str:
    """Render the traces and votes that wait to be sent, in full."""
    if not waiting:
        return "nothing waits to be sent"
    return "\n\n".join(_item(one) for one in waiting)


def outbox_data(waiting: Sequence[Waiting]) -> list[dict[str, Any]]:
    """Return what waits to be sent as data: the bodies that the commons gets."""
    return [{"trace": one.trace, "vote": one.vote, "body": dict(one.body)} for one in waiting]


def synced_text(done: Synced) -> str:
    """Render how much a sync sent and received, and what the commons refused."""
    lines = [
        f"sent {done.sent}; brought {done.traces} traces and {done.votes} votes"
        + (f"; dropped {done.removed} that were removed there" if done.removed else "")
    ]
    lines += [f"refused: {clean_line(title, _TITLE)}: {clean_line(why, 200)}" for title, why in done.refused]
    return "\n".join(lines)


def synced_data(done: Synced) -> dict[str, Any]:
    """Return the counts and refusals of a sync as a JSON object."""
    return {**vars(done), "refused": [{"what": title, "why": why} for title, why in done.refused]}


def use_text(membership: Membership, own: Sequence[str], team: Mapping[str, int]) -> str:
    """Render what a report of this home holds, whether it is sent, and what the team uses."""
    if membership.shares_use:
        state = f"reported once a week, last: {membership.use_sent or 'the next sync begins'}"
    else:
        state = "not reported; --share does that"
    lines = [f"used here lately ({state}):", *(f"  {key}" for key in own or ["no component of the catalogue"])]
    if membership.use_trouble:
        lines.append(f"trouble: {clean_line(membership.use_trouble, 200)}")
    lines.append("used by the team:" if team else "used by the team: nothing that five members or more reported")
    lines += [f"  about {count} members: {clean_line(key, 200)}" for key, count in _most_used(team)[:_USED]]
    return "\n".join(lines)


def use_data(membership: Membership, own: Sequence[str], team: Mapping[str, int]) -> dict[str, Any]:
    """Return the same as data."""
    return {
        "shared": membership.shares_use,
        "reported": membership.use_sent,
        "own": list(own),
        "team": dict(team),
        "trouble": membership.use_trouble,
    }


def _most_used(team: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(team.items(), key=lambda item: (-item[1], item[0]))


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

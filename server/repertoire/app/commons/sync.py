"""Joins and leaves a commons, sends the outbox, and brings others' traces and votes into the local store."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repertoire.app.clock import now
from repertoire.app.commons import membership as memberships
from repertoire.app.commons.client import HttpClient, address
from repertoire.app.commons.errors import CommonsError, CommonsRefused, LimitReached, NotThere, ScopeMissing
from repertoire.app.commons.membership import BEFORE, THERE, Membership
from repertoire.app.commons.outbox import outbox, sent_before_joining
from repertoire.app.commons.shared_use import sync_use
from repertoire.app.commons.team_use import forget_team_use
from repertoire.app.traces.exchange import SCHEMA, import_lines
from repertoire.app.traces.fields import redacted
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import VOTED, Event, Moment
from repertoire.domain.text import clean_line
from repertoire.domain.trace import ME, NOTE, OTHERS, TRACE
from repertoire.store.database import Store

_REASON, _NAME = 160, 40
_MOST_PAGES = 500  # of changes in one sync; the next one goes on
_KnownVote = tuple[str, str, str, bool, bool]  # trace, voter, time, up, withdrawn


@dataclass(frozen=True)
class Synced:
    """What a sync sent and brought; `refused` are the names and reasons of what the commons did not take."""

    sent: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    traces: int = 0
    votes: int = 0
    removed: int = 0


def join(store: Store, home: Path, url: str, key_file: Path) -> Membership:
    """Join a commons: the key is checked there and kept in the home; nothing of before is ever sent.

    Raises:
        InvalidRequest: another commons is joined, or the address or the key's file cannot be used.
        CommonsError: the commons does not answer, or does not know the key.
    """
    before = memberships.read(home)
    url = address(url)
    if before is not None and before.url != url:
        message = f"this home has joined {before.url}; `repertoire commons leave` leaves it"
        raise InvalidRequest(message)
    key = _read_key(key_file)
    with closing(HttpClient(url, key)) as client:
        who = client.whoami()
    names = (clean_line(str(who["community"]), _NAME), clean_line(str(who["member"]), _NAME))
    with memberships.changing(home):
        joined = Membership(url, key, *names, now(), sent=sent_before_joining(store))
        if before is not None and before.community == joined.community and before.member == joined.member:
            joined = replace(before, key=key, trouble="", failures=0)  # a new key of the same member
        else:
            store.traces.reach(joined.commons, 0)  # what is another's depends on who asks
        memberships.write(home, joined)
    return joined


def leave(home: Path) -> Membership:
    """Delete the membership and its key; what came from the commons stays, and what was sent stays there.

    Raises:
        NotJoined: no commons is joined.
    """
    with memberships.changing(home):
        before = memberships.of(home)
        memberships.end(home)
        forget_team_use(home)
    return before


def sync(store: Store, home: Path) -> Synced:
    """Send the outbox and fetch what changed; an interrupted sync is continued by the next one.

    Raises:
        NotJoined: no commons is joined.
        CommonsError: the commons does not answer; the next sync goes on.
    """
    with memberships.changing(home):
        membership = memberships.of(home)
        try:
            with closing(HttpClient(membership.url, membership.key)) as client:
                done = _sync(store, home, membership, client)
        except CommonsError as error:
            membership.trouble, membership.tried = clean_line(str(error), _REASON), now()
            membership.failures += 1
            memberships.write(home, membership)
            raise
        membership.synced, membership.trouble, membership.failures = now(), "", 0
        memberships.write(home, membership)
    return done


def _sync(store: Store, home: Path, membership: Membership, client: HttpClient) -> Synced:
    done = Synced()
    kept = {(vote.trace, vote.voter, vote.at, vote.up, False) for vote in store.traces.votes()}
    cursor = store.traces.reached(membership.commons)
    for _ in range(_MOST_PAGES):
        changes = client.changes(cursor)
        done = _store_page(store, membership, changes, kept, done)
        _note_own(store, home, membership, changes["traces"])
        more = changes["more"] and changes["cursor"] > cursor
        cursor = changes["cursor"]
        store.traces.reach(membership.commons, cursor)
        if not more:
            break
    sent, refused = _send(store, home, membership, client)  # last: what amends a trace that is there says so
    sync_use(store, home, membership, client)
    return replace(done, sent=sent, refused=tuple(refused))


def _note_own(store: Store, home: Path, membership: Membership, traces: Sequence[Mapping[str, Any]]) -> None:
    """Note which traces the commons has of this member that this home is never going to send."""
    mine = [told["id"] for told in traces if told.get("author") == membership.member]
    sent = membership.sent
    new = [key for key in mine if sent.get(key) == BEFORE or (key not in sent and _is_anothers(store, key))]
    if new:
        sent.update(dict.fromkeys(new, THERE))
        memberships.write(home, membership)


def _send(store: Store, home: Path, membership: Membership, client: HttpClient) -> tuple[int, list[tuple[str, str]]]:
    sent, refused = 0, []
    for waiting in outbox(store, membership):
        try:
            if waiting.vote:
                client.vote(waiting.trace, waiting.body)
            else:
                client.contribute(waiting.body)
        except ScopeMissing as error:  # it waits for a better key
            refused.append((waiting.title, str(error)))
            continue
        except LimitReached as error:  # the rest waits for the next sync; what others sent is fetched all the same
            refused.append((waiting.title, str(error)))
            break
        except CommonsRefused as error:
            refused.append((waiting.title, str(error)))
            if isinstance(error, NotThere) and "supersedes" in waiting.body:  # it waits until the old one is shown
                continue
            membership.sent[waiting.name] = waiting.state if waiting.vote else f"refused: {error}"
        else:
            sent += 1
            membership.sent[waiting.name] = waiting.state
        memberships.write(home, membership)
    return sent, refused


def _store_page(
    store: Store, membership: Membership, changes: Mapping[str, Any], kept: set[_KnownVote], done: Synced
) -> Synced:
    """Store new traces and others' votes of a page, drop removed traces; return `done` with these counted in.

    The votes are added to `kept`, which holds those that the home has already.
    """
    fields = set(SCHEMA["properties"])
    lines = [
        json.dumps({name: value for name, value in {**told, "key": told["id"]}.items() if name in fields and value})
        for told in changes["traces"]
    ]
    moment, sent = Moment(now(), "", ""), membership.there()
    own = [told["author"] == membership.member or told.get("supersedes") in sent for told in changes["traces"]]
    imported = [  # who knows the words of what was never sent is no author of it, whatever a server lets through
        import_lines(store, itertools.compress(lines, chosen), moment=moment, may_replace_own=may)
        for may, chosen in ((True, own), (False, [not one for one in own]))
    ]
    votes = [vote for vote in changes["votes"] if vote["voter"] != membership.member]
    events = [event for vote in votes if (event := _event(vote)) is not None and _known(event) not in kept]
    store.events.append(events)
    kept.update(map(_known, events))
    removed = [key for key in changes["removed"] if _is_anothers(store, key)]
    for key in removed:
        store.traces.drop(key)
    return replace(
        done,
        traces=done.traces + sum(one.added for one in imported),
        votes=done.votes + len(events),
        removed=done.removed + len(removed),
    )


def _event(vote: Mapping[str, Any]) -> Event | None:
    """Return the log event of a vote from the commons; None if its trace has no valid key."""
    if not vote["trace"].startswith(f"{TRACE}:"):
        return None
    voter = clean_line(vote["voter"], 60)
    note = clean_line(redacted(vote["note"]), NOTE)
    said = {
        "voter": OTHERS if voter == ME else voter,  # nobody else speaks for the person of this home
        "up": vote["up"],
        "withdrawn": vote.get("withdrawn", False),
        "tag": vote["tag"],
        "note": note,
        "environment": {place: clean_line(str(value), 60) for place, value in vote["environment"].items()},
    }
    return Event(min(vote["at"], now()), VOTED, node=vote["trace"], data=said)


def _known(event: Event) -> _KnownVote:
    return event.node, event.data["voter"], event.at, event.data["up"], event.data.get("withdrawn", False)


def _is_anothers(store: Store, key: str) -> bool:
    trace = store.traces.get(key)
    return trace is not None and trace.author != ME


def _read_key(file: Path) -> str:
    try:
        key = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"the key cannot be read from {file}: {error}"
        raise InvalidRequest(message) from error
    if not key.startswith("rpc_") or len(key) > 200 or not key.isascii() or len(key.split()) != 1:
        message = f"{file} holds no key of a commons; one begins with rpc_"
        raise InvalidRequest(message)
    return key

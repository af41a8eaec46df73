"""Writes an entry of a project's memory as a Markdown file with front matter, and reads such a file back."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from repertoire.app.projects.foreign_entries import is_conflicting
from repertoire.app.projects.mirror_folder import digest_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import BLOCKS, DEPENDS_ON, ENTRIES, ENTRY_LINKS, LOWEST, STATES, Entry, EntryLink, is_day
from repertoire.ingestion.front_matter import fenced, read_strings
from repertoire.ingestion.values import Unusable

_ID = re.compile(r"(?:note|task|epic|procedure):[0-9a-f]{12}\Z")
_TEXT = (
    "category",
    "due",
    "estimate",
    "assignee",
    "source",
    "source_digest",
)  # fields of one line that only some entries have
_LISTS = ("steps", "triggers", "files")  # fields with several
FIELDS = frozenset(
    ("id", "kind", "title", "status", "priority", "tags", "created", "links", *_TEXT, *_LISTS, DEPENDS_ON)
)
WAITING, OTHERS = "waiting", "fields"  # of an entry: links whose end is not there yet, fields that only a person knows
_NAMED, _SLUG = 3, 50
_MOST_OTHERS = 20_000  # characters; what is longer would be cut where it is redacted
_SLUG_BYTES = 120  # encrypted file systems take names of 143 bytes
_PLAIN = re.compile(r"[\W_]+")
_QUOTED_MARK = re.compile(r"(?m)^\\*(?:<{7}|>{7})(?: |$)")  # with one backslash more it is none that git left
_MOST_DIGESTS = 40_000  # 9 MB
_DIGESTS: dict[str, str] = {}  # of the files of entries, by a hash of what the files tell
_KEPT_MARK = re.compile(r"(?m)^\\(?=\\*(?:<{7}|>{7})(?: |$))")


@dataclass(frozen=True)
class EntryFile:
    """What a file says of an entry; without an id it was made by hand. `links` are (relation, target)."""

    key: str
    kind: str
    title: str
    body: str
    status: str
    priority: int
    tags: tuple[str, ...]
    created: str
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()


class _Plain(yaml.SafeDumper):
    """Writes a scalar without quotes where it can: `order: 3` was read as a text, and would come back as one."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as the library declares it


def file_of_entry(entry: Entry, links: Iterable[EntryLink]) -> str:
    """Return the text of an entry's file; the same entry gives the same text.

    What every change would touch (version, time of the change) is left out: two branches would never merge.
    """
    targets: dict[str, set[str]] = defaultdict(set)
    for relation, target in waiting_links(entry):
        targets[relation].add(target)
    for link in links:
        if holder(link) == entry.key:
            relation, target = as_told(link)
            targets[relation].add(target)
    told: dict[str, Any] = {"id": entry.key, "kind": entry.kind, "title": entry.title, "status": entry.status}
    told |= {"priority": entry.priority, "tags": list(entry.tags)}
    told |= {name: entry.data[name] for name in (*_TEXT, *_LISTS) if entry.data.get(name)}
    told |= {"links": {relation: sorted(ends) for relation, ends in sorted(targets.items())}} if targets else {}
    told["created"] = entry.created
    header = yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=1_000_000)
    header += "".join(f"{_as_yaml(field)}\n" for field in entry.data.get(OTHERS, ()))
    body = _QUOTED_MARK.sub(r"\\\g<0>", _unified(entry.body).strip())
    return f"---\n{header}---\n" + (f"\n{body}\n" if body else "")


def digest_of_entry(entry: Entry, links: Sequence[EntryLink]) -> str:
    """Return the hash of the text of an entry's file, worked out once: every change compares all entries."""
    made_of = digest_of(repr((entry, links)))
    if made_of not in _DIGESTS:
        if len(_DIGESTS) >= _MOST_DIGESTS:
            _DIGESTS.clear()
        _DIGESTS[made_of] = digest_of(file_of_entry(entry, links))
    return _DIGESTS[made_of]


def differ_in_links_alone(one: Entry, other: Entry) -> bool:
    """Tell whether the files of two entries would say the same but for links."""
    return _without_links(one) == _without_links(other)


def _without_links(entry: Entry) -> str:
    data = {name: value for name, value in entry.data.items() if name != WAITING}
    return file_of_entry(replace(entry, data=data), ())


def waiting_links(entry: Entry) -> list[tuple[str, str]]:
    """Return the links of an entry, as (relation, target), whose other end was not there when its file was read."""
    return [
        (relation, target) for relation, _, target in (str(one).partition(" ") for one in entry.data.get(WAITING, ()))
    ]


def _as_yaml(field: str) -> str:
    """Return the YAML of a field that only a person knows; one that lost its form where it was redacted is a text."""
    try:
        told = {**read_strings(field)}
    except Unusable:
        told = {}
    if len(told) == 1 and not FIELDS & {*told}:
        return field
    name, _, value = field.partition(":")
    return _yaml({name: value.strip()})


def _yaml(told: Mapping[str, Any]) -> str:
    return yaml.dump(told, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1_000_000).rstrip("\n")


def holder(link: EntryLink) -> str:
    """Return the id of the entry whose file tells a link: what a task waits for stands in its own file.

    Two branches that add tasks which wait for the same one then change no file in common.
    """
    return link.target if link.relation == BLOCKS else link.source


def as_told(link: EntryLink) -> tuple[str, str]:
    """Return a link as the file of its holder tells it: the relation and the other end."""
    return (DEPENDS_ON, link.source) if link.relation == BLOCKS else (link.relation, link.target)


def name_of_file(entry: Entry) -> str:
    """Return the path of a new entry's file in the mirror: its kind, words of its title, and part of its id.

    The words are in any alphabet, with accents composed, and within what any file system takes.
    """
    words = _PLAIN.sub("-", unicodedata.normalize("NFC", entry.title.lower()))[:_SLUG]
    words = words.encode()[:_SLUG_BYTES].decode(errors="ignore").strip("-") or "untitled"
    return f"{entry.kind}s/{words}-{entry.key.partition(':')[2][:6]}.md"


def read_entry_file(text: str, folder: str) -> EntryFile:
    """Read an entry's file; one in the folder `notes` that does not tell its kind is a note, and so on.

    Raises:
        InvalidRequest: it is no file of an entry; says what to correct.
    """
    _refuse(
        is_conflicting(text),
        "it has marks of a conflict that git left: solve it, or put a \\ before those that are quoted",
    )
    parts = fenced(_unified(text))
    if parts is None:
        message = "it has no front matter: begin it with a line ---, then `title: …`, then a line ---"
        raise InvalidRequest(message)
    try:
        told = read_strings(parts[0])
    except Unusable as error:
        message = f"its front matter is {error}"
        raise InvalidRequest(message) from error
    key = _line(told, "id")
    kind = _line(told, "kind") or key.partition(":")[0] or folder.removesuffix("s")
    _refuse(kind not in ENTRIES, f"kind {kind[:40]!r} is none of {', '.join(ENTRIES)}")
    _refuse(bool(key) and not _ID.match(key), f"id {key[:40]!r} is no id; leave it out, and it gets one")
    _refuse(bool(key) and not key.startswith(f"{kind}:"), f"id {key} is not that of a {kind}")
    title, status = _line(told, "title"), _line(told, "status")
    _refuse(not title, "it has no title")
    _refuse(bool(status) and status not in STATES[kind], f"status {status[:40]!r} is none of {', '.join(STATES[kind])}")
    written = _line(told, "priority") or "2"
    _refuse(
        not (written.isascii() and written.isdigit()) or int(written[:9]) > LOWEST,
        f"priority {written[:40]!r} is none; it goes from 0, the most urgent, to {LOWEST}",
    )
    data: dict[str, Any] = {name: _line(told, name) for name in _TEXT if told.get(name)}
    data |= {name: list(_several(told, name)) for name in _LISTS if told.get(name)}
    due = data.get("due", "")
    # a file is read on another day in another clone, so that `tomorrow` says nothing in it
    _refuse(bool(due) and not is_day(due), f"due {due[:40]!r} is no day; write a date such as 2026-01-31")
    others = [_yaml({name: value}) for name, value in told.items() if name not in FIELDS]
    long = sum(map(len, others))
    _refuse(
        long > _MOST_OTHERS,
        f"its other fields have {long:,} characters of at most {_MOST_OTHERS:,}; put them into its text",
    )
    data |= {OTHERS: others} if others else {}
    return EntryFile(
        key,
        kind,
        title,
        _KEPT_MARK.sub("", parts[1].strip()),
        status,
        int(written),
        _several(told, "tags"),
        _line(told, "created"),
        data,
        _links(told),
    )


def _links(told: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    links = told.get("links") or {}
    _refuse(not isinstance(links, Mapping), "links is no mapping of relations to ids")
    unknown = [str(name)[:40] for name in links if name not in (*ENTRY_LINKS, DEPENDS_ON)]
    _refuse(bool(unknown), f"{', '.join(unknown[:_NAMED])} is no relation; it is one of {', '.join(ENTRY_LINKS)}")
    named = [(relation, target) for relation in links for target in _several(links, relation)]
    return (*named, *((DEPENDS_ON, target) for target in _several(told, DEPENDS_ON)))


def turned(source: str, relation: str, target: str) -> EntryLink:
    """Return a link as it is kept: `depends_on` is `blocks` in the other direction."""
    return EntryLink(target, BLOCKS, source) if relation == DEPENDS_ON else EntryLink(source, relation, target)


def _line(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    _refuse(isinstance(value, (list, Mapping)), f"{name} is not one line of text")
    return " ".join(str(value).split()) if value is not None else ""


def _several(told: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value: Any = told.get(name) or []
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    _refuse(any(isinstance(one, (list, Mapping)) for one in values), f"{name} is no list of texts")
    return tuple(text for one in values if one is not None and (text := str(one).strip()))


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _refuse(wrong: bool, message: str) -> None:  # noqa: FBT001 - what is asked
    if wrong:
        raise InvalidRequest(message)

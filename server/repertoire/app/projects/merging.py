"""Finds the note that says what a new one says, and merges the two without losing a word."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.clock import now
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import ACTIVE, KNOWLEDGE, NOTE, Entry, Merge
from repertoire.domain.text import content_words, index_text, letters_apart, with_pairs
from repertoire.projects.freshness import TIMES_SAID, times_said
from repertoire.projects.sameness import NEAR, SAME, likeness_in_order
from repertoire.store.stemming import stems

_LOOKED_AT, _WORDS = 30, 64  # notes that are compared, and words by which they are found


def twin_of(project: OpenProject, entry: Entry) -> tuple[Entry | None, str]:
    """Return the active note of its category that says the same as a new one, or nearly, and which of both it is."""
    if entry.kind != NOTE:
        return None, ""
    words = content_words(with_pairs(f"{entry.title} {entry.body}"))[:_WORDS]
    found = project.store.graph.match(words, limit=_LOOKED_AT, weights=(1.0, 1.0, 1.0), view=KNOWLEDGE)
    entries = project.store.entries.by_node(node_id for node_id, _ in found)
    near: Entry | None = None
    for node_id, _ in found:
        other = entries.get(node_id)
        if other is None or not _comparable(entry, other):
            continue
        how = likeness_in_order(_words(entry), _words(other))
        if how == SAME:
            return other, SAME
        near = other if how == NEAR and near is None else near
    return near, NEAR if near is not None else ""


def merged(kept: Entry, new: Entry) -> tuple[Entry, Merge]:
    """Return a note that has the fuller text of two, all their tags and fields, and what both were before.

    It says how often it was said.
    """
    fuller = max((kept, new), key=lambda one: len({*_words(one)}))  # of equal ones the older
    both = replace(
        kept,
        title=fuller.title,
        body=fuller.body,
        tags=tuple(dict.fromkeys((*kept.tags, *new.tags))),
        data={**new.data, **kept.data, TIMES_SAID: times_said(kept) + 1},
        version=kept.version + 1,
        changed=now(),
    )
    return both, Merge(kept, new, both)


def split(entry: Entry, merge: Merge) -> tuple[Entry, Entry]:
    """Return the two notes that became one. What was changed since stays as it was changed."""
    kept, new, both = merge.kept, merge.new, merge.both
    as_merged = (entry.title, entry.body) == (both.title, both.body)
    brought = {*new.tags} - {*kept.tags}
    fields = {
        name: value
        for name, value in entry.data.items()
        if name in kept.data or name not in new.data or value != new.data[name]
    }
    said = {TIMES_SAID: times_said(entry) - 1} if times_said(entry) > 2 else {}
    apart = replace(
        entry,
        title=kept.title if as_merged else entry.title,
        body=kept.body if as_merged else entry.body,
        tags=tuple(tag for tag in entry.tags if tag not in brought),
        data={**{name: value for name, value in fields.items() if name != TIMES_SAID}, **said},
        version=entry.version + 1,
        changed=now(),
    )
    return apart, replace(new, changed=now())


def _comparable(entry: Entry, other: Entry) -> bool:
    category = entry.data.get("category") == other.data.get("category")
    return other.kind == NOTE and other.status == ACTIVE and other.key != entry.key and category


def _words(entry: Entry) -> list[str]:
    return stems(index_text(letters_apart(f"{entry.title}\n{entry.body}")))

"""Keeps the sentences of a session that may be worth a note, and lets a person accept or reject them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from repertoire.app.clock import now
from repertoire.app.projects.entries import ENDED, TITLE, save_entry
from repertoire.app.projects.entry_requests import Saved, SaveRequest
from repertoire.app.projects.entry_writing import back_up
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import KNOWLEDGE, NOTE, TASK, Entry
from repertoire.domain.text import index_text, split_words, with_pairs
from repertoire.ports import Embedder
from repertoire.projects.noticing import Noticed
from repertoire.projects.sameness import repeats, telling
from repertoire.store.project_candidates import Candidate
from repertoire.store.stemming import stems
from repertoire.trust.hidden import suspicion
from repertoire.trust.redaction import redact

ALL = "all"
_COMPARED = 6_000  # lines that one call compares: a quarter of a second
_NONE: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Sighting:
    """What a session showed of a project that may be worth a note; nothing of it is saved yet."""

    project: str
    candidates: tuple[Candidate, ...]
    first: bool = False  # of its session


@dataclass(frozen=True)
class ReviewRequest:
    """Candidates to accept and to reject, by name or its beginning, or `all`; without any they are listed."""

    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()


@dataclass(frozen=True)
class Review:
    """What still waits, what was saved of the accepted, and what was rejected."""

    waiting: tuple[Candidate, ...]
    saved: tuple[Saved, ...] = ()
    rejected: tuple[Candidate, ...] = ()


def sighted(project: OpenProject, noticed: Sequence[Noticed]) -> Sighting:
    """Return what was noticed as candidates, without secrets; what waits, was decided on or is saved is left out."""
    at = now()
    found = {
        one.name: one
        for said in noticed
        if not suspicion(said.said) and (one := Candidate(_name(said), said.kind, said.category, redact(said.said), at))
    }
    former = {_name(said): _former_name(said) for said in noticed}
    known = project.store.candidates.known({*found, *former.values()})
    new = [one for name, one in found.items() if known.isdisjoint((name, former[name]))]
    return Sighting(project.root, tuple(_not_saved(project, new)))


def keep_candidates(project: OpenProject, sighting: Sighting) -> None:
    """Keep candidates until somebody decides on them."""
    project.store.candidates.add(sighting.candidates)


def review(project: OpenProject, asked: ReviewRequest, *, embedder: Embedder | None) -> Review:
    """Save the accepted candidates as notes and tasks, forget the rejected, and return what still waits.

    Raises:
        InvalidRequest: no candidate, or more than one, has such a name.
    """
    waiting = _not_saved(project, project.store.candidates.waiting())
    accepted, rejected = _named(waiting, asked.accept), _named(waiting, asked.reject)
    if both := {one.name for one in accepted} & {one.name for one in rejected}:
        message = f"{', '.join(sorted(both))} cannot be accepted and rejected"
        raise InvalidRequest(message)
    saved = [save_entry(project, _request(one), embedder=embedder) for one in accepted]
    project.store.candidates.settle([one.name for one in (*accepted, *rejected)], now=now())
    if accepted or rejected:
        back_up(project)
    return Review(tuple(_not_saved(project, project.store.candidates.waiting())), tuple(saved), tuple(rejected))


def _not_saved(project: OpenProject, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no active note or open task says already, by its title or by a line of its text."""
    if not candidates:
        return []
    saved = _Saved(project)
    return [one for one in candidates if not saved.says(one.said)]


class _Saved:
    """What is saved, looked up by its words: to compare all notes takes longer than a hook may."""

    def __init__(self, project: OpenProject) -> None:
        self._entries = project.store.entries
        self._holders = cache(partial(project.store.graph.holders, view=KNOWLEDGE))
        self._read: dict[int, list[list[str]]] = {}
        self._left = _COMPARED

    def says(self, text: str) -> bool:
        """Tell whether an active note or open task says a text, by its title or by a line of its text."""
        said = stems(index_text(text))
        return any(repeats(said, line) for node in self._likely(text) for line in self._lines(node))

    def _likely(self, text: str) -> list[int]:
        """Return the nodes that have all words of a text, the newest first."""
        words = [word for word in dict.fromkeys(split_words(with_pairs(text))) if telling(stems(word))]
        nodes = self._holders(words[0]) if words else _NONE
        for word in words[1:]:
            if nodes.size:
                nodes = np.intersect1d(nodes, self._holders(word))
        return list(nodes[::-1].tolist())

    def _lines(self, node: int) -> list[list[str]]:
        if node not in self._read and self._left > 0:
            self._read[node] = self._stems_of(self._entries.by_node([node]).get(node))
            self._left -= len(self._read[node]) + 1
        return self._read.get(node, [])

    def _stems_of(self, entry: Entry | None) -> list[list[str]]:
        if entry is None or entry.kind not in (NOTE, TASK) or entry.status in ENDED:
            return []
        title = stems(index_text(entry.title))
        return [title + stems(index_text(line)) for line in entry.body.split("\n")]


def _request(one: Candidate) -> SaveRequest:
    body = one.said if len(one.said) > TITLE else ""
    return SaveRequest(one.kind, title=one.said, body=body, data={"category": one.category} if one.category else {})


def _named(waiting: Sequence[Candidate], names: Iterable[str]) -> list[Candidate]:
    found = dict[str, Candidate]()
    for name in names:
        fitting = [one for one in waiting if name == ALL or (name and one.name.startswith(name))]
        if name != ALL and len(fitting) != 1:
            message = f"{'no' if not fitting else 'more than one'} candidate is named {name[:40]!r}; list them again"
            raise InvalidRequest(message)
        found.update({one.name: one for one in fitting})
    return [*found.values()]


def _name(said: Noticed) -> str:
    """Return the name of a sentence: the same for the same words in the same order, however it begins and is spelled.

    `We decided to fire with gas` and `Decision: fire with gas` are decided on once.
    """
    words = stems(index_text(said.said))
    return _hash(telling(words) or words)


def _former_name(said: Noticed) -> str:
    """Return the name by which earlier versions knew a sentence, because somebody may have rejected it then."""
    return _hash(stems(index_text(said.said)))


def _hash(words: Sequence[str]) -> str:
    return digest_of(" ".join(words))[:8]

"""Ranks what was saved: words and vectors, the best passage, what it is linked with, and the newest first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from repertoire.app.clock import local_today
from repertoire.app.projects.file_procedures import procedures_for
from repertoire.app.projects.named_nodes import named_nodes
from repertoire.app.projects.newest import newest_first
from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import ENTRIES, KNOWLEDGE, Entry, Item
from repertoire.projects.common_names import names_in, without_common_names
from repertoire.projects.foreign_times import asked_in_english
from repertoire.projects.hints import Hints, hints_of
from repertoire.projects.passages import best_passages
from repertoire.projects.spreading import spread
from repertoire.retrieval.language import language_of
from repertoire.retrieval.project import PASSAGE
from repertoire.retrieval.sections import SectionRun, rank_sections
from repertoire.retrieval.translation import english_of, translate
from repertoire.store.index_words import words_in
from repertoire.store.stemming import stems

_RANKED = 100  # entries among which the newest about the same is looked for
_SCORED = 2_000  # entries whose scores may pass on to what they are linked with
_NAMED = 1.2  # factor of what is linked with a file, symbol or entry that the question names: Memory Fabric's
_READ = 20  # entries whose passages are compared


def ranked_entries(project: OpenProject, run: SectionRun, kinds: Collection[str]) -> list[tuple[Item, float]]:
    """Return the entries of some kinds that may answer a question with their scores, best first."""
    ranked = rank_sections(run, limit=_SCORED)
    scores = {one.node_id: one.score for one in ranked}
    if "text" not in run.without:
        _add_passages(project, run, scores)
    passed = spread(scores, project.beside())
    hints = hints_in(run.question)
    named = _linked_with(project, named_nodes(project, run.question))
    wanted = passed if {*ENTRIES} <= {*kinds} else passed.keys() & project.store.entries.nodes(kinds)
    best = sorted(wanted, key=lambda node: (-passed[node], node))[:_RANKED]
    found = project.store.entries.by_node(best)
    values = {
        node: passed[node] * hints.factor(entry) * (_NAMED if node in named else 1.0) for node, entry in found.items()
    }
    told = newest_first(project.store.entries, found, values, run.index)
    return [(item, score) for item, score in told if item.kind in kinds]


def hints_in(question: str) -> Hints:
    """Return which sort of entry and which time a question asks for, in any language that is read."""
    asked, rest = asked_in_english(question, language_of(question))
    translation = translate(rest)
    told = (rest,) if translation is None else (translation.text, *translation.unknown)
    return hints_of(" ".join((*told, asked)), local_today())


def meaning(project: OpenProject, question: str, entries: int) -> str:
    """Return what of a question is compared by meaning with so many entries: all but the names that most have."""
    frequency = project.store.graph.document_frequency(names_in(question), view=KNOWLEDGE)
    return without_common_names(question, frequency, entries)


def _linked_with(project: OpenProject, keys: Sequence[str]) -> set[int]:
    """Return the nodes with these keys, what is linked with them, and the procedures that are meant for their files."""
    nodes = [node for key in keys if (node := project.store.items.node_id(key)) is not None]
    meant = {
        project.store.items.node_id(procedure.key)
        for item in project.store.items.by_id(nodes).values()
        for procedure in procedures_for(project, item.path)
    }
    return {
        *nodes,
        *(node for node in meant if node is not None),
        *(end for node in nodes for end in project.beside().get(node, {})),
    }


def _add_passages(project: OpenProject, run: SectionRun, scores: dict[int, float]) -> None:
    found = project.store.entries.by_node([*scores][:_READ])
    words = frozenset(stem for word in run.words for stem in _stems(word))
    shares = best_passages([[_stems(line) for line in _lines(entry)] for entry in found.values()], words)
    for node, share in zip(found, shares, strict=True):
        scores[node] += run.weights[PASSAGE] * share


def _lines(entry: Entry) -> Sequence[str]:
    return [entry.title, *entry.body.split("\n"), *map(str, entry.data.get("steps", ()))]


@lru_cache(maxsize=20_000)
def _stems(line: str) -> frozenset[str]:
    return frozenset(stems(words_in(line, english_of)))

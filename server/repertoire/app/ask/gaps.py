"""Tells which capabilities that a task names are gaps: none that is named in passing, in a path, or ruled out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from repertoire import linear
from repertoire.domain.text import split_words
from repertoire.ingestion.capabilities import Vocabulary
from repertoire.retrieval.matched_words import stem

_IN_PASSING = 0.03  # chance below which a capability that only an everyday word names is no gap
_PATH = linear.compile(r"[\w/.-]*[\w-]\.[a-z][a-z0-9]{0,4}\b")
_RULING_OUT = r"\b(?:no|not|without|never|avoid)\s+(?:an?\s+|any\s+|the\s+|use\s+|using\s+)?"
_BETWEEN = r"[\W_]+"
_ANY_WORD = linear.compile(r"[^\W_]+")


def gaps_of(
    text: str,
    still_open: Iterable[str],
    vocabulary: Vocabulary,
    likely: Mapping[str, float],
    members: Iterable[str] = (),
) -> tuple[str, ...]:
    """Return those of the capabilities still open that the task really asks for.

    `likely` has the chances of the capabilities that the task implies; one that it does not have counts as likely.
    What the name or the first sentence of one of the `members` names is no gap, even if ingestion was not sure of it.
    """
    said = {term for member in members for term in vocabulary.count(member)}
    found = tuple(gap for gap in still_open if gap not in said)
    if not found:
        return ()
    plain = _without(text, lambda path: any(True for _ in vocabulary.named(path)) and not _is_name(path, vocabulary))
    firm, passing = set[str](), set[str]()
    for phrase, term in vocabulary.named(plain):
        if not re.search(_RULING_OUT + _BETWEEN.join(map(re.escape, phrase)), plain, re.IGNORECASE):
            (passing if phrase in vocabulary.ordinary else firm).add(term)
    return tuple(gap for gap in found if gap in firm or (gap in passing and likely.get(gap, 1.0) >= _IN_PASSING))


def words_for(text: str, gaps: Iterable[str], vocabulary: Vocabulary) -> dict[str, str]:
    """Map each gap that the task names by a word of its own to that word, as disaster recovery to "backup"."""
    named: dict[str, str] = {}
    for phrase, term in vocabulary.named(text):
        named.setdefault(term, " ".join(phrase))
    return {gap: named[gap] for gap in gaps if gap in named and _stems(gap).isdisjoint(_stems(named[gap]))}


def _stems(text: str) -> set[str]:
    return {stem(word) for word in split_words(text)}


def _without(text: str, is_path: Callable[[str], bool]) -> str:
    return _PATH.sub(lambda match: " " if is_path(match.group()) else match.group(), text)


def _is_name(word: str, vocabulary: Vocabulary) -> bool:
    """Tell whether a word with a dot is a name as a whole, as `next.js` is."""
    named = [phrase for phrase, _ in vocabulary.named(word)]
    return len(named) == 1 and len(_ANY_WORD.findall(word)) == len(named[0])

"""Tells which capabilities that a task names are gaps: none that is named in passing, in a path, or ruled out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from repertoire import linear
from repertoire.domain.text import split_words
from repertoire.ingestion.capabilities import Vocabulary
from repertoire.retrieval.matched_words import stem

_IN_PASSING = 0.03  # chance below which a capability that only an everyday word names is no gap
# Share of the likeliest capability's chance below which a gap is not told. Of 43 that were told for 220 tasks of twenty
# trades 26 were none ("churn" of a model, "payments module"): 11 of them have less, and one of the 17 true ones.
_LEAST_SHARE = 0.1
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
    What the name or the first sentence of one of the `members` names is no gap, even if ingestion was not sure of it,
    nor is one all whose words it holds, as "testing-integration" those of integration testing.
    """
    texts = tuple(members)
    said = {term for text in texts for term in vocabulary.count(text)}
    held = [_stems(text) for text in texts]
    found = tuple(gap for gap in still_open if gap not in said and not any(_stems(gap) <= words for words in held))
    if not found:
        return ()
    plain = _PATH.sub(lambda match: " " if _is_path(match.group(), vocabulary) else match.group(), text)
    firm, passing = set[str](), set[str]()
    for phrase, term in vocabulary.named(plain):
        if not _is_ruled_out(phrase, plain):
            (passing if phrase in vocabulary.ordinary else firm).add(term)
    return tuple(gap for gap in found if gap in firm or (gap in passing and likely.get(gap, 1.0) >= _IN_PASSING))


def worth_telling(gaps: Iterable[str], likely: Mapping[str, float]) -> tuple[str, ...]:
    """Return the gaps that are not far less likely than what the task is about."""
    least = _LEAST_SHARE * max(likely.values(), default=0.0)
    return tuple(gap for gap in gaps if likely.get(gap, 1.0) >= least)


def words_for(text: str, gaps: Iterable[str], vocabulary: Vocabulary) -> dict[str, str]:
    """Map each gap that the task names by a word of its own to that word, as disaster recovery to "backup"."""
    named: dict[str, str] = {}
    for phrase, term in vocabulary.worded(text):
        named.setdefault(term, phrase)
    return {gap: named[gap] for gap in gaps if gap in named and _stems(gap).isdisjoint(_stems(named[gap]))}


def _stems(text: str) -> set[str]:
    return {stem(word) for word in split_words(text)}


def _is_path(word: str, vocabulary: Vocabulary) -> bool:
    """Tell whether a word with a dot is a path that holds the words of a capability, and no name, as `next.js` is."""
    named = [phrase for phrase, _ in vocabulary.named(word)]
    is_name = len(named) == 1 and len(_ANY_WORD.findall(word)) == len(named[0])
    return bool(named) and not is_name


def _is_ruled_out(phrase: Sequence[str], text: str) -> bool:
    """Tell whether a text says no to these words; `exclusion` knows more of such, of products alone."""
    return re.search(_RULING_OUT + _BETWEEN.join(map(re.escape, phrase)), text, re.IGNORECASE) is not None

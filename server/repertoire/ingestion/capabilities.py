"""Finds the capabilities that a component provides: terms of a shared vocabulary in its name, tags and text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from repertoire.domain.component import AGENT, BODY_INDEXED, MCP_SERVER

# How sure a place makes us that a component provides what is named there; places add up as independent witnesses.
_SURE = {"corrected": 1.0, "name": 0.6, "tag": 0.6, "description": 0.45, "plugin": 0.25, "body": 0.12}
_BODY_MENTIONS = 4  # more add nothing
_SURE_ENOUGH, _PERHAPS = 0.5, 0.3
_MOST = 8
_IS = {AGENT: "agents", MCP_SERVER: "mcp"}  # what a component is, it does not provide by being called so
_BROADER = 0.5
_AT_LEAST = 3  # where fewer are sure, so many may be doubtful


_WORD = re.compile(r"[^\W_]+(?:[+#]+(?!\w))?")


@dataclass(frozen=True)
class Vocabulary:
    """Capability terms by the phrases that name them."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = field(default_factory=dict)  # by first word
    broader: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def of(cls, phrases: Mapping[str, str], broader: Mapping[str, str]) -> Vocabulary:
        """Build a vocabulary from phrases with their terms, and from terms with the broader one that they imply."""
        found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, term in phrases.items():
            words = _words(phrase)
            if words:
                found.setdefault(words[0], []).append((words, term))
        ordered = {
            first: tuple(sorted(listed, key=lambda item: (-len(item[0]), item))) for first, listed in found.items()
        }
        written = repr((sorted(phrases.items()), sorted(broader.items())))
        return cls(ordered, dict(broader), hashlib.sha256(written.encode()).hexdigest())

    def count(self, text: str) -> dict[str, int]:
        """Count how often each term is named in a text; the longest phrase at a place wins."""
        words = _words(text)
        found: dict[str, int] = {}
        position = 0
        while position < len(words):
            step = 1
            for phrase, term in self.phrases.get(words[position], ()):
                if words[position : position + len(phrase)] == phrase:
                    found[term] = found.get(term, 0) + 1
                    step = len(phrase)
                    break
            position += step
        return found


@dataclass(frozen=True)
class Provided:
    """A capability with how sure we are, and where it was found."""

    term: str
    weight: float
    evidence: str


def _words(text: str) -> tuple[str, ...]:
    # not split at capitals, as the index does: GitHub is not git, and JavaScript no script
    return tuple(_singular(word) for word in _WORD.findall(unicodedata.normalize("NFKC", text).lower()))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def provided(vocabulary: Vocabulary, kind: str, texts: Mapping[str, str]) -> list[Provided]:
    """Return the capabilities of a component, the surest first; `texts` by place: name, tag, plugin, body and so on."""
    places = {place: vocabulary.count(text[:BODY_INDEXED]) for place, text in texts.items()}
    for place, terms in places.items():
        if place != "tag":
            terms.pop(_IS.get(kind, ""), None)
    doubt: dict[str, float] = {}
    where: dict[str, list[str]] = {}
    for place, terms in places.items():
        for term, count in terms.items():
            times = min(count, _BODY_MENTIONS) if place == "body" else 1
            doubt[term] = doubt.get(term, 1.0) * (1.0 - _SURE[place]) ** times
            where.setdefault(term, []).append(place if times == 1 else f"{place} x{times}")
    found = {term: Provided(term, round(1.0 - left, 3), ", ".join(where[term])) for term, left in doubt.items()}
    for term in list(found):
        above = vocabulary.broader.get(term, "")
        if above and above not in found:
            found[above] = Provided(above, round(found[term].weight * _BROADER, 3), f"broader than {term}")
    ranked = sorted(found.values(), key=lambda item: (-item.weight, item.term))
    sure = [item for item in ranked if item.weight >= _SURE_ENOUGH][:_MOST]
    return sure if len(sure) >= _AT_LEAST else [item for item in ranked if item.weight >= _PERHAPS][:_AT_LEAST]


def corrected(terms: Iterable[str]) -> list[Provided]:
    """Return the capabilities that a curator gave a component: they stand instead of what was found."""
    return [Provided(term, _SURE["corrected"], "curator") for term in terms]

"""Finds the capabilities that a component provides: terms of the vocabulary in its name, tags and text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from repertoire.domain.component import AGENT, BODY_INDEXED, HOOK, MCP_SERVER
from repertoire.domain.digest import digest_of

# Certainty that a component provides a term named in this place; places count as independent evidence (noisy or).
_SURE = {"corrected": 1.0, "name": 0.6, "tag": 0.6, "lead": 0.5, "description": 0.4, "plugin": 0.2, "body": 0.12}
# The same for an ordinary word: it counts in names and tags, and hardly in running text.
_IN_PASSING = {"name": 0.5, "tag": 0.4, "lead": 0.25, "description": 0.15, "plugin": 0.05, "body": 0.04}
_BODY_MENTIONS = 4  # mentions in a body that count
_SURE_ENOUGH, _PERHAPS = 0.5, 0.35  # thresholds of a certain and of a doubtful capability
_MOST = 8
_BROADER = 0.5  # a broader term's share of the narrower term's certainty
_AT_LEAST = 3  # capabilities to reach: if fewer are certain, doubtful ones fill up to this number
# Words for a type itself are no capability of it: "use this agent when" stands in every agent.
_IS = {
    AGENT: frozenset(("agent", "agents", "subagent", "subagents")),
    MCP_SERVER: frozenset(("mcp", "mcp server", "mcp servers", "model context protocol")),
}

_WORD = re.compile(r"\bn\+1\b|[^\W_]+(?:[+#]+(?!\w))?")  # "n+1" queries are one word
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n|\s[-\u2013\u2014]\s")
_EXAMPLES = re.compile(r"<example>|\bSpecifically:|\bContext:\s|\bExamples?:", re.IGNORECASE)
# A sentence, from these words to its end, about what a component is not for.
_NOT_FOR = re.compile(
    r"\b(?:not (?:for|to be confused|intended|suitable)|(?:do not|don't|never) (?:use|invoke|trigger)"
    r"|(?:distinct|different) from|instead of|rather than|unlike)\b.*?(?:[.;)](?=\s|$)|\n|$)",
    re.IGNORECASE | re.DOTALL,
)
_PLURALS = ((re.compile(r"ies$"), "y"), (re.compile(r"(?<=ss)es$|(?<=x)es$|(?<=[nrt]ch)es$|(?<=sh)es$"), ""))
# Canva, Firefly, Polar and RTO are others; `https://api...` is no HTTP API; databases have migrations, what moves to
# another framework or cloud has one migration.
_NO_PLURALS = frozenset(("canvas", "fireflies", "https", "migrations", "polars", "rtos"))
# The interpreter and the file endings in a command line tell how a hook runs, not what it does.
_RUNNER = re.compile(r"\b(?:node|npx|bunx?|deno|python3?|bash|sh|uvx?)\b|\.(?:m?js|ts|py|sh)\b|\.github/")


@dataclass(frozen=True)
class Vocabulary:
    """The vocabulary of capabilities: terms by the phrases that name them."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = field(default_factory=dict)  # by first word
    broader: Mapping[str, str] = field(default_factory=dict)
    ordinary: AbstractSet[tuple[str, ...]] = frozenset()
    digest: str = ""

    @classmethod
    def of(cls, phrases: Mapping[str, str], broader: Mapping[str, str], ordinary: Iterable[str] = ()) -> Vocabulary:
        """Build a vocabulary from phrases with their terms, terms with their broader terms, and everyday phrases."""
        found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, term in phrases.items():
            words = _words(phrase)
            if words:
                found.setdefault(words[0], []).append((words, term))
        ordered = {
            first: tuple(sorted(listed, key=lambda item: (-len(item[0]), item))) for first, listed in found.items()
        }
        said_in_passing = frozenset(map(_words, ordinary))
        written = repr((sorted(phrases.items()), sorted(broader.items()), sorted(said_in_passing)))
        return cls(ordered, dict(broader), said_in_passing, digest_of(written))

    def named(self, text: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield each phrase in a text with its term; the longest phrase at a position wins."""
        return ((phrase, term) for _, phrase, term in self._found(_words(text)))

    def worded(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the same phrases in the words of the text, in lower case, each with its term."""
        written = _written(text)
        for position, phrase, term in self._found(tuple(map(_singular, written))):
            yield " ".join(written[position : position + len(phrase)]), term

    def count(self, text: str) -> dict[str, int]:
        """Count the mentions of each term in a text."""
        found: dict[str, int] = {}
        for _phrase, term in self.named(text):
            found[term] = found.get(term, 0) + 1
        return found

    def _found(self, words: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...], str]]:
        position = 0
        while position < len(words):
            step = 1
            for phrase, term in self.phrases.get(words[position], ()):
                if words[position : position + len(phrase)] == phrase:
                    yield position, phrase, term
                    step = len(phrase)
                    break
            position += step


@dataclass(frozen=True)
class ProvidedCapability:
    """A capability of a component, with its certainty (`weight`) and the places where it was found."""

    term: str
    weight: float
    evidence: str


def _words(text: str) -> tuple[str, ...]:
    return tuple(map(_singular, _written(text)))


def _written(text: str) -> list[str]:
    # not split at capitals, unlike the index: GitHub is not git, and JavaScript no script
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def _singular(word: str) -> str:
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _NO_PLURALS:
        return word
    for plural, ending in _PLURALS:
        if len(word) > 4 and plural.search(word):
            return plural.sub(ending, word)
    return word[:-1]


def provided(vocabulary: Vocabulary, kind: str, texts: Mapping[str, str]) -> list[ProvidedCapability]:
    """Return the capabilities of a component, the most certain first; `texts` by place: name, tag, plugin, body …."""
    doubt: dict[str, float] = {}
    where: dict[str, list[str]] = {}
    for place, text in _places(kind, texts).items():
        for term, left, times in _witnesses(vocabulary, kind, place, text):
            doubt[term] = doubt.get(term, 1.0) * left
            where.setdefault(term, []).append(place if times == 1 else f"{place} x{times}")
    found = {
        term: ProvidedCapability(term, round(1.0 - left, 3), ", ".join(where[term])) for term, left in doubt.items()
    }
    for term in list(found):
        above = vocabulary.broader.get(term, "")
        if above and above not in found:
            found[above] = ProvidedCapability(above, round(found[term].weight * _BROADER, 3), f"broader than {term}")
    ranked = sorted(found.values(), key=lambda item: (-item.weight, item.term))
    sure = [item for item in ranked if item.weight >= _SURE_ENOUGH][:_MOST]
    return sure if len(sure) >= _AT_LEAST else [item for item in ranked if item.weight >= _PERHAPS][:_AT_LEAST]


def mentioned(vocabulary: Vocabulary, kind: str, texts: Mapping[str, str]) -> frozenset[str]:
    """Return all terms that a component's own texts mention, however weakly."""
    own = {place: text for place, text in _places(kind, texts).items() if place != "plugin"}
    return frozenset(term for place, text in own.items() for term, _, _ in _witnesses(vocabulary, kind, place, text))


def _places(kind: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Split a component's texts into places with different weights, without sentences about other components."""
    places = {place: text[:BODY_INDEXED] for place, text in texts.items()}
    description = places.pop("description", "")
    if kind == HOOK:
        description, places["body"] = (_RUNNER.sub(" ", text) for text in (description, places.get("body", "")))
    description = _NOT_FOR.sub(" ", _EXAMPLES.split(description, maxsplit=1)[0])
    places["lead"], *rest = _SENTENCE_END.split(description, maxsplit=1)
    places["description"] = " ".join(rest)
    return places


def _witnesses(vocabulary: Vocabulary, kind: str, place: str, text: str) -> Iterator[tuple[str, float, int]]:
    """Yield the terms that a place mentions, each with the doubt that remains and the number of mentions."""
    is_named = {_words(phrase) for phrase in _IS.get(kind, ())} if place != "tag" else set()
    plain: dict[str, int] = {}
    passing: dict[str, int] = {}
    for phrase, term in vocabulary.named(text):
        if phrase not in is_named:
            counts = passing if phrase in vocabulary.ordinary else plain
            counts[term] = counts.get(term, 0) + 1
    most = _BODY_MENTIONS if place == "body" else 1
    for term in {**plain, **passing}:
        firm, loose = min(plain.get(term, 0), most), min(passing.get(term, 0), most)
        loose = min(loose, most - firm)
        yield term, (1.0 - _SURE[place]) ** firm * (1.0 - _IN_PASSING[place]) ** loose, firm + loose


def corrected(terms: Iterable[str]) -> list[ProvidedCapability]:
    """Return the capabilities that a curator gave a component; they replace those that were found."""
    return [ProvidedCapability(term, _SURE["corrected"], "curator") for term in terms]

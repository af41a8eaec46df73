"""Finds the capabilities that a component provides: terms of a shared vocabulary in its name, tags and text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from repertoire.domain.component import AGENT, BODY_INDEXED, HOOK, MCP_SERVER

# How sure a place makes us that a component provides what is named there; places add up as independent witnesses.
_SURE = {"corrected": 1.0, "name": 0.6, "tag": 0.6, "lead": 0.5, "description": 0.4, "plugin": 0.2, "body": 0.12}
# The same for a word that texts also use in passing: it counts where things are named, hardly where they are told.
_IN_PASSING = {"name": 0.5, "tag": 0.4, "lead": 0.25, "description": 0.15, "plugin": 0.05, "body": 0.04}
_BODY_MENTIONS = 4  # more add nothing
_SURE_ENOUGH, _PERHAPS = 0.5, 0.35
_MOST = 8
_BROADER = 0.5
_AT_LEAST = 3  # where fewer are sure, so many may be doubtful
# What a component is, it does not provide by being called so: "use this agent when" stands in every agent.
_IS = {
    AGENT: frozenset(("agent", "agents", "subagent", "subagents")),
    MCP_SERVER: frozenset(("mcp", "mcp server", "mcp servers", "model context protocol")),
}

_WORD = re.compile(r"[^\W_]+(?:[+#]+(?!\w))?")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n|\s[-\u2013\u2014]\s")
_EXAMPLES = re.compile(r"<example>|\bSpecifically:|\bContext:\s|\bExamples?:", re.IGNORECASE)
# Up to the end of its sentence: what a component says that it is not for.
_NOT_FOR = re.compile(
    r"\b(?:not (?:for|to be confused|intended|suitable)|(?:do not|don't|never) (?:use|invoke|trigger)"
    r"|(?:distinct|different) from|instead of|rather than|unlike)\b.*?(?:[.;)](?=\s|$)|\n|$)",
    re.IGNORECASE | re.DOTALL,
)
_PLURALS = ((re.compile(r"ies$"), "y"), (re.compile(r"(?<=ss)es$|(?<=x)es$|(?<=[nrt]ch)es$|(?<=sh)es$"), ""))
# Of a command line, the interpreter and the endings of its files are how it runs, not what it does.
_RUNNER = re.compile(r"\b(?:node|npx|bunx?|deno|python3?|bash|sh|uvx?)\b|\.(?:m?js|ts|py|sh)\b|\.github/")
_SERVER_LINE = re.compile(r"MCP server (?P<own>\S+(?: (?:of|at) \S+)?)\. (?P<plugin>.+)", re.DOTALL)


@dataclass(frozen=True)
class Vocabulary:
    """Capability terms by the phrases that name them."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = field(default_factory=dict)  # by first word
    broader: Mapping[str, str] = field(default_factory=dict)
    ordinary: AbstractSet[tuple[str, ...]] = frozenset()
    digest: str = ""

    @classmethod
    def of(cls, phrases: Mapping[str, str], broader: Mapping[str, str], ordinary: Iterable[str] = ()) -> Vocabulary:
        """Build a vocabulary: phrases with their terms, terms with the broader one they imply, ordinary phrases."""
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
        return cls(ordered, dict(broader), said_in_passing, hashlib.sha256(written.encode()).hexdigest())

    def named(self, text: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield each phrase that a text holds with its term; the longest phrase at a place wins."""
        words = _words(text)
        position = 0
        while position < len(words):
            step = 1
            for phrase, term in self.phrases.get(words[position], ()):
                if words[position : position + len(phrase)] == phrase:
                    yield phrase, term
                    step = len(phrase)
                    break
            position += step

    def count(self, text: str) -> dict[str, int]:
        """Count how often each term is named in a text."""
        found: dict[str, int] = {}
        for _phrase, term in self.named(text):
            found[term] = found.get(term, 0) + 1
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
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    for plural, ending in _PLURALS:
        if len(word) > 4 and plural.search(word):
            return plural.sub(ending, word)
    return word[:-1]


def provided(vocabulary: Vocabulary, kind: str, texts: Mapping[str, str]) -> list[Provided]:
    """Return the capabilities of a component, the surest first; `texts` by place: name, tag, plugin, body and so on."""
    doubt: dict[str, float] = {}
    where: dict[str, list[str]] = {}
    for place, text in _places(kind, texts).items():
        for term, left, times in _witnesses(vocabulary, kind, place, text):
            doubt[term] = doubt.get(term, 1.0) * left
            where.setdefault(term, []).append(place if times == 1 else f"{place} x{times}")
    found = {term: Provided(term, round(1.0 - left, 3), ", ".join(where[term])) for term, left in doubt.items()}
    for term in list(found):
        above = vocabulary.broader.get(term, "")
        if above and above not in found:
            found[above] = Provided(above, round(found[term].weight * _BROADER, 3), f"broader than {term}")
    ranked = sorted(found.values(), key=lambda item: (-item.weight, item.term))
    sure = [item for item in ranked if item.weight >= _SURE_ENOUGH][:_MOST]
    return sure if len(sure) >= _AT_LEAST else [item for item in ranked if item.weight >= _PERHAPS][:_AT_LEAST]


def mentioned(vocabulary: Vocabulary, kind: str, texts: Mapping[str, str]) -> frozenset[str]:
    """Return every term that a component's own texts name at all, however weakly."""
    own = {place: text for place, text in _places(kind, texts).items() if place != "plugin"}
    return frozenset(term for place, text in own.items() for term, _, _ in _witnesses(vocabulary, kind, place, text))


def _places(kind: str, texts: Mapping[str, str]) -> dict[str, str]:
    """Split a component's texts into the places that weigh differently; leave out what is said of something else."""
    places = {place: text[:BODY_INDEXED] for place, text in texts.items()}
    description = places.pop("description", "")
    line = _SERVER_LINE.match(description) if kind == MCP_SERVER else None
    if line:  # a server without words of its own carries its plugin's
        description = line["own"]
        places["plugin"] = f"{places.get('plugin', '')} . {line['plugin']}"
    if kind == HOOK:
        description, places["body"] = (_RUNNER.sub(" ", text) for text in (description, places.get("body", "")))
    description = _NOT_FOR.sub(" ", _EXAMPLES.split(description, maxsplit=1)[0])
    places["lead"], *rest = _SENTENCE_END.split(description, maxsplit=1)
    places["description"] = " ".join(rest)
    return places


def _witnesses(vocabulary: Vocabulary, kind: str, place: str, text: str) -> Iterator[tuple[str, float, int]]:
    """Yield the terms that a place names, with the doubt that it leaves and how often it names them."""
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


def corrected(terms: Iterable[str]) -> list[Provided]:
    """Return the capabilities that a curator gave a component: they stand instead of what was found."""
    return [Provided(term, _SURE["corrected"], "curator") for term in terms]

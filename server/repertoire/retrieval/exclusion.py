"""Finds what a question rules out ("deploy without Docker"): these products, and the question without them.

Words and vectors know no negation: unread, "not with GitHub Actions" asks for GitHub Actions. Only products count, of
which one takes the place of another; "legacy code without tests" says what is there, not what is unwanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from repertoire.domain.product import FORMAT
from repertoire.retrieval.products import Products

EXCLUSION = "exclusion"
_NOT = r"(?:do\ not|don['\u2019]?t)"
_CUE = re.compile(
    rf"""(?<![\w'\u2019-])(?:
        (?:without | w/o | sans | minus | (?:instead|independent)\ of | (?:rather|other)\ than
            | any(?:thing|one)\ (?:but|except|besides) | avoid(?:ing)? | never\ (?:again|use) | stop\ using
            | refrain\ from | (?:steer\ clear|stay\ clear)\ of | (?:stay|keep)\ away\ from
            | {_NOT}\ (?:want(?:\ to)?|wanna|use) | rather\ not | refuse\ to
            | we\ (?:can['\u2019]?t|cannot|can\ not|must\ not|may\ not|won['\u2019]?t) | not\ allowed\ to)
        | (?P<contrast>not)
        | (?P<none>no | skip | ditch | hate | {_NOT}\ like)
    )(?=[ \t])""",
    re.VERBOSE | re.IGNORECASE,
)
_FILLERS = re.compile(
    r"[ \t]+(?:(?:use|using|run|running|with|via|to|on|in|for|any|the|an?|our)[ \t]+){0,2}", re.IGNORECASE
)
_WORD = re.compile(r"[^\s,;:()!?]+")
_LONGEST = 3  # words of a product's name
_NAME = re.compile(rf"{_WORD.pattern}(?:[ \t]{_WORD.pattern}){{0,{_LONGEST - 1}}}")
_NEXT = re.compile(
    r"[ \t]*(?:,(?:[ \t]*(?:n?or|and)\b)?|/|\b(?:n?or|and)\b)[ \t]*(?:(?:an?|the|any|no|not|without)[ \t]+)?",
    re.IGNORECASE,
)
# what follows the name in "no Docker, please"; in "no Docker images found" nothing is ruled out
_ENDED = re.compile(
    r"[ \t]*(?:$|[.,;:!?)\n-]|(?:please|pls|for|and|but|just|only|because|since|in|here|we|i)\b)", re.IGNORECASE
)
# "is not Python", "works in Chrome but not with Safari": said of what is there
_STATED = re.compile(
    r"\b(?:is|are|was|were|be|does|do|did|can|could|will|would|should|may|has|have|had|it's|that's)\s*$"
    r"|\b(?:work|fail|break|happen|load|render|resolve|run)(?:s|ed|ing)?\b|\bbroken?\b",
    re.IGNORECASE,
)
# said of the name before it: "jenkins is not an option"
_SAID = re.compile(
    r"""[ ](?:
        (?:is|are)[ ](?:not[ ]an[ ]option|no[ ]option|not[ ]allowed|banned|forbidden|prohibited|excluded
            |ruled[ ]out|out[ ]of[ ]the[ ]question|off[ ]the[ ]table
            |a[ ](?:hard[ ])?no|a[ ]deal-?breaker)
        | (?:isn|aren)['\u2019]?t[ ](?:an[ ]option|allowed)
        | (?:can['\u2019]?t|cannot|must[ ]not)[ ]be[ ]used )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!?\n]")
_BEFORE = 200  # characters before a word that are read for what it says
_MOST, _LOOKED_AT = 20, 200  # words of exclusion that are read in a question, and all such words that are looked at


@dataclass(frozen=True)
class Exclusion:
    """The products that a question rules out, as it writes them, and the question without the words that do it."""

    products: frozenset[str]
    written: tuple[str, ...]
    text: str

    @property
    def note(self) -> str:
        """The sentence that tells the reader of an answer what is left out."""
        return f"left out, as the task rules it out: {', '.join(self.written)}"


class _Mention(NamedTuple):
    text: str
    end: int
    products: frozenset[str]


def exclusion_in(text: str, products: Products) -> Exclusion | None:
    """Return what a question rules out, or None; a product that it asks for elsewhere, or implies there, is not."""
    rest, at, mentions = "", 0, list[_Mention]()
    for begin, found in sorted((*islice(_excluded(text, products), _MOST), *islice(_said_of(text, products), _MOST))):
        if begin < at:
            continue
        rest, at = rest + text[at:begin], found[-1].end
        mentions += found
    rest = (rest + text[at:]).strip()
    asked = products.in_question(rest)
    told = products.without_implied(frozenset().union(*(found.products for found in mentions))) - asked
    told = frozenset(name for name in told if products.known[name].kind != FORMAT)
    written = tuple(dict.fromkeys(found.text for found in mentions if found.products & told))
    return Exclusion(told, written, rest) if told and rest.strip(",.") else None


def _excluded(text: str, products: Products) -> Iterator[tuple[int, list[_Mention]]]:
    """Yield where each word stands that rules something out, with the products that it rules out."""
    end = 0
    for cue in islice(_CUE.finditer(text), _LOOKED_AT):
        if cue.start() < end or (cue["contrast"] and _is_stated(text, cue.start())):
            continue
        filler = _FILLERS.match(text, cue.end())
        mentions, found = [], _mention(text, filler.end() if filler else cue.end(), products)
        while found is not None:
            mentions.append(found)
            following = _NEXT.match(text, found.end)
            found = _mention(text, following.end(), products) if following else None
        if mentions and (not cue["none"] or _ENDED.match(text, mentions[-1].end)):
            end = mentions[-1].end
            yield cue.start(), mentions


def _said_of(text: str, products: Products) -> Iterator[tuple[int, list[_Mention]]]:
    """Yield where each product stands of which the words behind it say that it is ruled out."""
    for said in islice(_SAID.finditer(text), _LOOKED_AT):
        before = [word.start() for word in _WORD.finditer(text, max(said.start() - _BEFORE, 0), said.start())]
        for begin in before[: -_LONGEST - 1 : -1]:  # the fewest words that name it
            named = products.in_question(text[begin : said.start()]) - products.in_question(text[begin : before[-1]])
            if named:
                yield begin, [_Mention(text[begin : said.start()], said.end(), named)]
                break


def _is_stated(text: str, at: int) -> bool:
    before = _SENTENCE.split(text[max(at - _BEFORE, 0) : at])[-1]
    return _STATED.search(before) is not None


def _mention(text: str, at: int, products: Products) -> _Mention | None:
    """Return the mention of a product that begins here, with words behind it that name the same; None if none does."""
    found: _Mention | None = None
    words = _NAME.match(text, at)
    ends = [word.end() for word in _WORD.finditer(text, at, words.end())] if words else []
    for end, before in zip(ends, [at, *ends], strict=False):
        if "_" in text[before:end]:  # `node_modules` is code
            break
        named, known = products.in_question(text[at:end]), found.products if found else frozenset()
        begun = named - products.in_question(text[ends[0] : end]) - known
        again = products.in_question(text[before:end])
        if begun or (found and found.end == before and again and again <= known):
            found = _Mention(text[at:end], end, named)
    return found

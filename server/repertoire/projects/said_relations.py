"""Finds in the sentences of a note what it says of two things: that one uses, requires or replaces the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from repertoire import linear
from repertoire.domain.project import (
    DECIDED_BY,
    NEEDS_FIRST,
    RECOMMENDS,
    REPLACES,
    REQUIRES,
    STOPS,
    USED_FOR,
    USES,
)


class SaidRelation(NamedTuple):
    """One thing, how it stands to another, and the other, as a text names them."""

    source: str
    relation: str
    target: str


_MOST, _TEXT = 20, 20_000  # relations of a text, and characters of it that are read
_LONGEST = 5  # words of a name
_SENTENCE = linear.compile(r"(?:[^.!?;\n]|\.[^ \n])+[.!?;]?")
_TOKEN = linear.compile(r"`[^`\n]{1,80}`|[\pL\pN_@#/+][\pL\pN_@#/+.'\x{2019}-]*|,")
_BE = ("is", "are")
# a verb, its relation, and whether the thing after it is the one of which the relation is said (`is used by`)
_VERBS: Mapping[tuple[str, ...], tuple[str, bool]] = {
    **dict.fromkeys((("uses",), ("use",)), (USES, False)),
    **dict.fromkeys((("requires",), ("require",), ("needs",), ("need",)), (REQUIRES, False)),
    **dict.fromkeys((("depends", "on"), ("depend", "on")), (NEEDS_FIRST, False)),
    **dict.fromkeys((("replaces",), ("replace",), ("replaced",), ("supersedes",)), (REPLACES, False)),
    **dict.fromkeys((("blocks",), ("block",)), (STOPS, False)),
    **dict.fromkeys((("recommends",), ("recommend",)), (RECOMMENDS, False)),
    ("decided", "on"): (DECIDED_BY, True),
    **{(be, "used", "by"): (USES, True) for be in _BE},
    **{(be, "used", "for"): (USED_FOR, False) for be in _BE},
    **{(be, "required", "by"): (REQUIRES, True) for be in _BE},
    **{(be, "blocked", "by"): (STOPS, True) for be in _BE},
    **{(be, "recommended", "by"): (RECOMMENDS, True) for be in _BE},
    **{(be, "replaced", by): (REPLACES, True) for be in (*_BE, "was", "were") for by in ("by", "with")},
    **{(be, "decided", "by"): (DECIDED_BY, False) for be in ("was", "were")},
}
_ARTICLES = frozenset("a an the our its their".split())
_ADVERBS = frozenset("now also currently still always will mainly only".split())
_SPEAKERS: tuple[list[str], ...] = (
    [],
    ["we"],
    ["i"],
)  # whose name says nothing: `We use Redis for sessions`, `Use Redis for sessions`
# words that stand in no name: pronouns, verbs and what makes a sentence doubtful or denies it
_NO_NAME = frozenset(
    """it this that these those they he she we you i who which what there nobody everybody everything nothing something
    is are was were be been has have had do does did can could may might must should would shall will not never no if
    when while because since although but so than then how why whether used cannot don't doesn't isn't won't need needs
    uses requires lot more less much many few some any all too most them one""".split()
)
_EDGES_NO_NAME = frozenset("in on at for with from by after before as under per to and or of".split())
_PLURAL = frozenset("use require need depend replace block recommend".split())  # said of one thing only after `will`
_ENDS_NAME = frozenset(
    """for in on at because since when while if so that which who with via from by as instead after before and or but to
    until unless than like through without during is are was were will be next last today now yet again too everywhere
    anyway soon daily already""".split()
)


def said_relations(text: str) -> list[SaidRelation]:
    """Return what the sentences of a text say of two things; a question, a doubt or a denial says nothing."""
    found = dict[SaidRelation, None]()
    for sentence in _SENTENCE.finditer(text[:_TEXT]):
        if not sentence.group().rstrip().endswith("?") and "|" not in sentence.group():  # nor does a row of a table
            found |= dict.fromkeys(_of_sentence(_TOKEN.findall(sentence.group())))
    return [*found][:_MOST]


def _of_sentence(words: list[str]) -> list[SaidRelation]:
    """Return what a sentence says with its first verb."""
    plain = [word.lower().rstrip(".") for word in words]
    for at in range(len(words)):
        for end in (at + 3, at + 2, at + 1):
            if tuple(plain[at:end]) in _VERBS:
                return _around(words, plain, at, end)
    return []


def _around(words: list[str], plain: list[str], at: int, end: int) -> list[SaidRelation]:
    """Return what the words before and after a verb say; before it, a comma or `that` begins the clause."""
    relation, turned = _VERBS[tuple(plain[at:end])]
    begin = next((place + 1 for place in range(at - 1, -1, -1) if plain[place] in (",", "that")), 0)
    many = plain[at] in _PLURAL and plain[at - 1 : at] != ["will"]
    while at > begin and plain[at - 1] in _ADVERBS:
        at -= 1
    subject, objects = _name(words[begin:at]), _objects(words[end:], plain[end:])
    if plain[begin:at] in _SPEAKERS and relation in (USES, REPLACES):
        wanted = "for" if relation == USES else "with"
        other = _after(wanted, words[end:], plain[end:])
        pairs = [(one, other) if relation == USES else (other, one) for one in objects if other]
        relation = USED_FOR if relation == USES else relation
    elif many and not subject.endswith("s"):
        return []
    else:
        pairs = [(one, subject) if turned else (subject, one) for one in objects if subject]
    return [SaidRelation(source, relation, target) for source, target in pairs if source.lower() != target.lower()]


def _objects(words: list[str], plain: list[str]) -> list[str]:
    """Return the names after a verb: one, and another that `and` joins to it if that looks like a name too."""
    end = _end_of_name(plain)
    first, rest = _name(words[:end]), words[end + 1 :]
    if not first or plain[end : end + 1] != ["and"] or not rest:
        return [first] if first else []
    stop = _end_of_name(plain[end + 1 :])
    second = _name(rest[:stop])
    alone = stop == len(rest) and len(second.split()) == 1
    named = rest[0].lower() in _ARTICLES or not rest[0].islower()
    return [first, second] if second and (alone or named) else [first]


def _after(word: str, words: list[str], plain: list[str]) -> str:
    """Return the name that follows a word, as a purpose follows `for`."""
    if word not in plain:
        return ""
    at = plain.index(word) + 1
    return _name(words[at : at + _end_of_name(plain[at:])])


def _end_of_name(plain: list[str]) -> int:
    return next((at for at, word in enumerate(plain) if word == "," or word in _ENDS_NAME), len(plain))


def _name(words: list[str]) -> str:
    """Return words as a name, without an article; empty if they are none."""
    held = words[1:] if words and words[0].lower() in _ARTICLES else words
    plain = [word.lower().rstrip(".") for word in held]
    if not 0 < len(held) <= _LONGEST or {plain[0], plain[-1]} & _EDGES_NO_NAME or _NO_NAME & {*plain} or "," in plain:
        return ""
    return " ".join(held).replace("`", "").rstrip(".")

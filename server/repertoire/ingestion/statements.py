"""Finds statements about other components in prose: not to use one together with it, or what to use instead or else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from repertoire import linear
from repertoire.domain.component import ALTERNATIVE_TO, CONFLICTS_WITH, MENTIONS, Component, Edge
from repertoire.domain.text import clean_line

CONFLICT, PREFERENCE, BOUNDARY = "conflict", "preference", "boundary"
# A boundary tells two jobs apart ("for tests, use X"): as an alternative it would offer one for the other's job.
_KINDS: Mapping[str, tuple[str, float]] = {
    CONFLICT: (CONFLICTS_WITH, 0.9),
    PREFERENCE: (ALTERNATIVE_TO, 0.6),
    BOUNDARY: (MENTIONS, 0.6),
}
_SCANNED = 40_000
_MOST = 12  # statements of one component that are kept
_QUOTE = 160
_ENDS = (". ", '." ', "\n", "\\n", "; ", "! ", "<", ">")

_TYPE = r"(?:skills?|(?:sub-?)?agents?|commands?|plugins?|hooks?|mcp servers?)"
# A word counts as a name if it is hyphenated, qualified, after a slash, or called a skill, an agent or the like.
_NAME = (
    r"(?:the |our |its |sibling )?(?P<mark>[`*_\"'/]*)(?P<name>[A-Za-z][\w.]*(?:[-:][\w.]+)*)"
    rf"(?P<after>[`*_\"']*(?:\s+{_TYPE}\b)?)"
)
_NAMED = 2  # number of the group with the name in each expression
_ITSELF = rf"(?:this(?: {_TYPE})?|it)"
_TOGETHER = r"(?:together with|alongside|along with|in combination with|at the same time as|with)"
_NOT = r"(?:do not|don't|never|must not|should not|cannot|can't)"
_CONFLICTS = tuple(
    re.compile(pattern + _NAME, re.IGNORECASE)
    for pattern in (
        rf"{_NOT} (?:use|run|combine|install|enable|mix|load) (?:{_ITSELF} )?{_TOGETHER} ",
        rf"{_NOT} be (?:used|run|combined|installed|enabled|mixed|loaded) {_TOGETHER} ",
        r"(?:incompatible|not compatible|mutually exclusive) with ",
        rf"(?:^|[.;!] |{_ITSELF} |[-*] )(?:conflicts|clashes|collides) with ",
        rf"(?:^|[.;!] |{_ITSELF} |[-*] )(?:replaces|supersedes|obsoletes) ",
    )
)
_ASK = r"(?:use|prefer|see|try|run|invoke|choose|switch to|hand off to|delegate to|defer to)"
_STOP = r"(?:[,:;(]| [\u2013\u2014-])"
_INSTEAD = linear.compile(rf"(?i)\b{_ASK} {_NAME}(?: \([^)\n]*\))?(?: for [^.;\n]{{3,60}}?)? instead\b")
_OF_ANOTHER = re.compile(r" of (?!this|it\b)", re.IGNORECASE)  # "instead of": the name is the one not to use
_OF_THIS = re.compile(rf" of {_ITSELF}\b", re.IGNORECASE)
_RETIRED = re.compile(r"\b(?:deprecated|obsolete|superseded|retired|no longer maintained)\b[^\n]{0,40}$", re.IGNORECASE)
_BOUNDARIES = (
    re.compile(rf"\bfor [^.;:\n]{{3,120}}?{_STOP} ?{_ASK} {_NAME}", re.IGNORECASE),
    re.compile(rf"\b(?:not|never|skip|don't)\b[^.\n]{{3,140}}?{_STOP} ?{_ASK} {_NAME}", re.IGNORECASE),
    re.compile(rf"\b(?:differs? from|different from|distinct from|unlike|not confused with) {_NAME}", re.IGNORECASE),
)  # fmt: skip
_PREFERENCES = (
    re.compile(rf"\bprefer (?:{_ITSELF} )?over {_NAME}", re.IGNORECASE),
    re.compile(rf"\buse {_ITSELF} (?:instead of|rather than) {_NAME}", re.IGNORECASE),
)
_STATED = ((CONFLICT, _CONFLICTS), (PREFERENCE, _PREFERENCES), (BOUNDARY, (*_BOUNDARIES, _INSTEAD)))
_STATED_IN_BODY = ((CONFLICT, _CONFLICTS), (BOUNDARY, (_INSTEAD,)))
_BEFORE = 60  # characters before a match that may say the opposite, or that the speaker is retired
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CUES = (
    " instead",
    "compatible with",
    "exclusive with",
    "icts with",
    "shes with",
    "ides with",
    "laces ",
    "sedes ",
    "letes ",
)
_WITH, _NO = (" with ", "alongside "), ("not ", "never ", "n't ", "cannot ")
_OWNED = re.compile("[`*_\"]*['\u2019]s\\b")
_HEDGED = re.compile(
    r"\b(?:no longer|not|never|isn't|doesn't|won't|rarely|if|unless|whether|check|see)\b[^.;]{0,20}$", re.IGNORECASE
)


@dataclass(frozen=True)
class Statement:
    """A sentence about another component; `typed` if it states the other's type (`the X agent`) or how it is called."""

    kind: str
    name: str
    typed: bool
    sentence: str


@dataclass(frozen=True)
class NamedComponent:
    """A component with the fields by which names are resolved, and its statements."""

    id: str
    name: str
    source: str
    plugin: str
    statements: Sequence[Statement] = ()


def statements(component: Component) -> tuple[Statement, ...]:
    """Return a component's statements about others, those in its description first; names are not yet resolved."""
    found: dict[tuple[str, str], Statement] = {}
    body = _lines_with_cues(_FENCED.sub(" ", component.body[:_SCANNED]))
    for statement in (
        *_statements_in(component.description, _STATED),
        *_statements_in(body, _STATED_IN_BODY),
    ):
        if statement.name != component.name.lower():
            found.setdefault((statement.kind, statement.name), statement)
    return tuple(found.values())[:_MOST]


def _lines_with_cues(body: str) -> str:
    """Return the lines of a body that hold a cue word: the expressions are slow, and most lines have no statement."""
    kept = []
    for line in body.splitlines():
        low = line.lower()
        if any(cue in low for cue in _CUES) or (any(cue in low for cue in _WITH) and any(cue in low for cue in _NO)):
            kept.append(line)
    return "\n".join(kept)


def _statements_in(
    text: str, stated: Iterable[tuple[str, Iterable[re.Pattern[str] | linear.LinearPattern]]]
) -> Iterator[Statement]:
    for kind, patterns in stated:
        for pattern in patterns:
            for match in pattern.finditer(text):
                name, typed = _named(match)
                before = text[max(0, match.start() - _BEFORE) : match.start()]
                owned = _OWNED.match(text, match.end(_NAMED))  # "X's ...": the sentence is about a part of X
                other = pattern is _INSTEAD and _OF_ANOTHER.match(text, match.end())
                if name and not owned and not other and not (kind == CONFLICT and _HEDGED.search(before)):
                    replaced = pattern is _INSTEAD and (_RETIRED.search(before) or _OF_THIS.match(text, match.end()))
                    yield Statement(PREFERENCE if replaced else kind, name, typed, _sentence(text, match))


def _named(match: re.Match[str] | linear.LinearMatch) -> tuple[str, bool]:
    """Return the name in a match, and whether its type is stated; empty if it may be an ordinary word."""
    written = match["name"].rstrip(".-:")
    typed = bool(match["after"].strip("`*_\"' ")) or match["mark"].endswith("/") or ":" in written
    name = written.rpartition(":")[2].lower()
    return (name, typed) if typed or "-" in written else ("", False)


def _sentence(text: str, match: re.Match[str] | linear.LinearMatch) -> str:
    starts = (at + len(end) for end in _ENDS if (at := text.rfind(end, 0, match.start() + 1)) >= 0)
    stops = [at for end in _ENDS if (at := text.find(end, match.end())) >= 0]
    begin = max(0, match.start() - 100, *starts)
    return clean_line(text[begin : min([*stops, match.end() + 80])].strip(" -*.;>"), _QUOTE)


def stated(components: Sequence[NamedComponent]) -> list[Edge]:
    """Resolve the names in all statements; return an edge for each, except where a name is ambiguous."""
    by_name: dict[str, list[NamedComponent]] = {}
    for component in components:
        by_name.setdefault(component.name.lower(), []).append(component)
    edges = []
    for component in components:
        for statement in component.statements:
            relation, weight = _KINDS[statement.kind]
            target = _meant(statement, component, by_name.get(statement.name, ()))
            if target is not None:
                edges.append(Edge(component.id, target.id, relation, weight, f"says: {statement.sentence}"))
    return edges


def _meant(statement: Statement, speaker: NamedComponent, namesakes: Sequence[NamedComponent]) -> NamedComponent | None:
    """Resolve a name: to a component of the same plugin, else of the same source, else to the only one of that name."""
    others = [other for other in namesakes if other.id != speaker.id]
    near = [other for other in others if other.source == speaker.source]
    beside = [other for other in near if speaker.plugin and other.plugin == speaker.plugin]
    if beside or near:
        return min(beside or near, key=lambda other: other.id)
    # `/status` or `the memory plugin` of another author may be anything: only a name that is no common word is trusted
    return others[0] if len(others) == 1 and statement.typed and "-" in statement.name else None

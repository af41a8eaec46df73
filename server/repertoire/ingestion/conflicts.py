"""Finds conflicts: components with the same name or file, and hooks that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repertoire.domain.component import AGENT, COMMAND, CONFLICTS_WITH, HOOK, MCP_SERVER, PLUGIN, SKILL, Edge
from repertoire.domain.text import content_words
from repertoire.ingestion.twins import bounded
from repertoire.ports import Outline

_MOST = 8
_COMPARED = 60
_SLASH = "slash command"
_CALLED = {COMMAND: _SLASH, SKILL: _SLASH, AGENT: "agent", MCP_SERVER: "MCP server", PLUGIN: "plugin"}
_WHEN = re.compile(r"^(PreToolUse|PermissionRequest|PostToolUse)(?: \(([^)\n]*)\))?: (.+)$", re.MULTILINE)
_EVERY = ("", "*", ".*")
_DENIES = re.compile(
    r"\b(?:block|deny|denie[sd]|prevent|protect|guard|gate|forbid|refuse|reject)(?:s|ed|er|ing)?\b", re.IGNORECASE
)
_APPROVES = re.compile(
    r"\bauto[- ]?(?:approve|accept|allow)|permissionDecision\W{1,6}allow|\b(?:approves?|allows?) \w+ automatically",
    re.IGNORECASE,
)
_REWRITES = re.compile(r"updatedInput")
_FORMATS = re.compile(r"(?:^|[-_ ])(?:auto-?)?format(?:s|ted|ter|ting)?(?:$|[-_ ])", re.IGNORECASE)
_FORMATTERS = re.compile(
    r"\b(?:prettier|biome|gofmt|rustfmt|black|ruff format|autopep8|yapf|clang-format)\b", re.IGNORECASE
)
_ANY_OF = re.compile(r"[|,]")
_ELSEWHERE = re.compile(r"(?:^|/)(?:\.(?!claude/)|legacy|archive|deprecated|disabled)[^/]*/")  # folders never loaded
_SAME_SUBJECT, _SHARED = 0.3, 3


@dataclass(frozen=True)
class ConflictCandidate:
    """A component with the fields by which conflicts are found; copies have the same `text`, a hash."""

    id: str
    type: str
    name: str
    source: str
    plugin: str
    marketplace: str
    installed: bool
    text: str
    path: str = ""
    description: str = ""
    actions: str = ""  # the actions of a hook, one on each line, as in its body

    @classmethod
    def of(cls, outline: Outline, text: str, actions: str = "") -> ConflictCandidate:
        """Make it from a component; `text` of a server is the hash of its configuration."""
        return cls(
            outline.id,
            outline.type,
            outline.name,
            outline.source,
            outline.plugin,
            outline.marketplace,
            bool(outline.installed),
            text,
            outline.path,
            outline.description,
            actions,
        )


def conflicts(parties: Sequence[ConflictCandidate], twins: frozenset[tuple[str, str]]) -> list[Edge]:
    """Return the edges between components that conflict; twins are the same component and never conflict."""
    edges = [*_same_name(parties), *_hooks([party for party in parties if party.type == HOOK])]
    apart = [edge for edge in edges if (edge.source, edge.target) not in twins]
    return bounded(apart, most=_MOST)


def _same_name(parties: Sequence[ConflictCandidate]) -> Iterator[Edge]:
    """Yield the conflicts between components that the client knows by the same name.

    A plugin's component is called `plugin:name`, so it conflicts only with components of the same plugin. Loose files
    conflict if both are installed or would be copied to one path: a second `commands/review.md` replaces the first.
    """
    places: dict[tuple[str, ...], list[ConflictCandidate]] = {}
    for party in sorted(parties, key=lambda party: (not party.installed, party.id)):
        if party.type in _CALLED:
            places.setdefault(_place(party), []).append(party)
    for group in places.values():
        for at, first in enumerate(group):
            for second in group[at + 1 : at + _COMPARED]:
                clash = _clash(first, second)
                if clash:
                    low, high = sorted((first.id, second.id))
                    yield Edge(low, high, CONFLICTS_WITH, 1.0 if first.installed and second.installed else 0.8, clash)


def _place(party: ConflictCandidate) -> tuple[str, ...]:
    called = _CALLED[party.type]
    name = party.name.lower()
    if party.type == PLUGIN:
        return called, name
    return called, party.plugin and f"{party.plugin}@{party.marketplace or party.source}", name


def _clash(first: ConflictCandidate, second: ConflictCandidate) -> str:
    """Return how two components with the same name conflict; empty if they do not."""
    if first.text == second.text:
        return ""
    here = first.installed and second.installed
    if first.type in (PLUGIN, MCP_SERVER):
        listed_twice = first.type == PLUGIN and first.marketplace and first.marketplace == second.marketplace
        return f"both are the {_CALLED[first.type]} {first.name}; one hides the other" if here or listed_twice else ""
    if here or (first.plugin and not any(_ELSEWHERE.search(party.path) for party in (first, second))):
        what = f"/{first.name}" if _CALLED[first.type] == _SLASH else f"the agent {first.name}"
        return f"both answer to {what}; one hides the other"
    if not first.plugin and first.type == second.type and first.source != second.source:
        return f"both would be the file of the {first.type} {first.name}; the second replaces the first"
    return ""


def _hooks(hooks: Sequence[ConflictCandidate]) -> Iterator[Edge]:
    acting = [(hook, _decisions(hook)) for hook in sorted(hooks, key=lambda hook: hook.id)]
    for at, (first, decided) in enumerate(acting):
        for second, others in acting[at + 1 :]:
            contradiction = first.text != second.text and next(
                (
                    reason
                    for one in decided
                    for other in others
                    if (reason := _contradiction(first, second, one, other))
                ),
                "",
            )
            if contradiction:
                yield Edge(first.id, second.id, CONFLICTS_WITH, 0.7, contradiction)


@dataclass(frozen=True)
class _Decision:
    """A decision of a hook: on an event, for some tools, it denies, approves, rewrites or formats."""

    event: str
    tools: frozenset[str]  # empty: all
    does: str  # denies | approves | rewrites | formats

    def meets(self, other: _Decision) -> str:
        """Return the event, and the tools, that two decisions share; empty if they share none."""
        if self.event != other.event:
            return ""
        shared = self.tools & other.tools if self.tools and other.tools else self.tools | other.tools
        if not shared and (self.tools or other.tools):
            return ""
        return f"{self.event} ({'|'.join(sorted(shared))})" if shared else self.event


def _decisions(hook: ConflictCandidate) -> tuple[_Decision, ...]:
    about = f"{hook.name} {_own_words(hook)}"
    lines = list(_WHEN.finditer(hook.actions))
    found: dict[_Decision, None] = {}
    for line in lines:
        event, matcher, action = line[1], line[2] or "", line[3]
        # A hook's description tells what its only action does; of several actions, each has to tell it itself.
        description = f"{about} {action}" if len({other[1] for other in lines}) == 1 else action
        tools = frozenset() if matcher in _EVERY else frozenset(filter(None, _ANY_OF.split(matcher.replace(" ", ""))))
        does = _does(event, description, hook.name)
        if does:
            found[_Decision(event, tools, does)] = None
    return tuple(found)


def _does(event: str, description: str, name: str) -> str:
    if event == "PostToolUse":
        return "formats" if _FORMATS.search(name) or _FORMATTERS.search(description) else ""
    if _REWRITES.search(description):
        return "rewrites"
    if _APPROVES.search(description):
        return "approves"
    return "denies" if _DENIES.search(description) else ""


def _contradiction(first: ConflictCandidate, second: ConflictCandidate, one: _Decision, other: _Decision) -> str:
    """Return how two decisions contradict each other; empty if they do not, as guards of different things."""
    where = one.meets(other)
    if not where:
        return ""
    if {one.does, other.does} == {"approves", "denies"}:
        approver = first if one.does == "approves" else second
        return f"on {where}, {approver.name} approves by itself what the other decides on"
    if one.does != other.does or one.does == "approves":
        return ""
    if one.does == "rewrites":
        return f"both rewrite the input on {where}: which of them counts is chance"
    if one.does == "formats":
        return f"both reformat what was written on {where}" if _same_language(first, second) else ""
    ours, theirs = _subject(first), _subject(second)
    shared = sorted(ours & theirs)
    alike = len(shared) >= _SHARED and len(shared) >= _SAME_SUBJECT * len(ours | theirs)
    return f"both decide on {where} about {', '.join(shared[:_SHARED])}" if alike else ""


def _subject(hook: ConflictCandidate) -> frozenset[str]:
    return frozenset(content_words(f"{hook.name} {_own_words(hook)[:300]}"))


def _own_words(hook: ConflictCandidate) -> str:
    """Return the author's description of a hook; empty for a generated one, which only repeats its events."""
    return "" if hook.description.startswith("Runs on ") else hook.description


_LANGUAGES = frozenset(
    "python javascript typescript js ts go golang rust ruby java kotlin swift php css html dart elixir cpp".split()
)


def _same_language(first: ConflictCandidate, second: ConflictCandidate) -> bool:
    ours, theirs = (
        {*content_words(f"{hook.name} {hook.description} {hook.actions}")} & _LANGUAGES for hook in (first, second)
    )
    return not ours or not theirs or bool(ours & theirs)

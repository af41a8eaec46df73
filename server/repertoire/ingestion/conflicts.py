"""Finds conflicts: components with the same name or file, and hooks that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

from repertoire.domain.component import AGENT, COMMAND, CONFLICTS_WITH, HOOK, MCP_SERVER, PLUGIN, SKILL, Edge
from repertoire.domain.text import content_words
from repertoire.ingestion.parts import stem
from repertoire.ingestion.twins import bounded
from repertoire.ports import Outline

_MOST = 8
_COMPARED = 60
_ACTIONS, _TOOLS = 60, 100  # actions of one hook, and tools of one decision, that are compared with other hooks
_TOLD = 12
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
    if not first.plugin and first.type == second.type:
        if first.type == AGENT and stem(first.path) != stem(second.path):  # known by its name, copied by its file's
            return f"both answer to the agent {first.name}; one hides the other"
        return f"both would be the file of the {first.type} {first.name}; the second replaces the first"
    return ""


def _hooks(hooks: Sequence[ConflictCandidate]) -> Iterator[Edge]:
    acting = [found for hook in sorted(hooks, key=lambda hook: hook.id) if (found := _Acting.of(hook)).decisions]
    for first, second in combinations(acting, 2):
        contradiction = first.hook.text != second.hook.text and next(
            (
                reason
                for one in first.decisions
                for other in second.decisions
                if (reason := _contradiction(first, second, one, other))
            ),
            "",
        )
        if contradiction:
            yield Edge(first.hook.id, second.hook.id, CONFLICTS_WITH, 0.7, contradiction)


@dataclass(frozen=True)
class _Decision:
    """A decision of a hook: on an event, for some tools, it denies, approves, rewrites or formats."""

    event: str
    tools: frozenset[str]  # empty: all
    does: str  # denies | approves | rewrites | formats

    def meets(self, other: _Decision) -> bool:
        """Tell whether two decisions share the event, and a tool."""
        apart = self.tools and other.tools and self.tools.isdisjoint(other.tools)
        return self.event == other.event and not apart

    def where(self, other: _Decision) -> str:
        """Return the event, and the tools, that two decisions share."""
        shared = self.tools & other.tools if self.tools and other.tools else self.tools | other.tools
        return f"{self.event} ({'|'.join(sorted(shared)[:_TOLD])})" if shared else self.event


@dataclass(frozen=True)
class _Acting:
    """A hook that decides, with what it is compared by: found once, because it is compared with all others."""

    hook: ConflictCandidate
    decisions: tuple[_Decision, ...]
    subject: frozenset[str]
    languages: frozenset[str]

    @classmethod
    def of(cls, hook: ConflictCandidate) -> _Acting:
        """Read the decisions of a hook, and what they are about."""
        decisions = _decisions(hook)
        formats = any(decision.does == "formats" for decision in decisions)
        return cls(
            hook,
            decisions,
            frozenset(content_words(f"{hook.name} {_own_words(hook)[:300]}")) if decisions else frozenset(),
            _languages(hook) if formats else frozenset(),
        )


def _decisions(hook: ConflictCandidate) -> tuple[_Decision, ...]:
    """Return what a hook does on each event, for the tools of all its matchers together."""
    about = f"{hook.name} {_own_words(hook)}"
    lines = list(islice(_WHEN.finditer(hook.actions), _ACTIONS))
    one_event = len({line[1] for line in lines}) == 1
    found: dict[tuple[str, str], frozenset[str]] = {}
    for line in lines:
        event, matcher, action = line[1], line[2] or "", line[3]
        # A hook's description tells what its only action does; of several actions, each has to tell it itself.
        does = _does(event, f"{about} {action}" if one_event else action, hook.name)
        if does:
            tools = () if matcher in _EVERY else _ANY_OF.split(matcher.replace(" ", ""))
            named, known = frozenset(filter(None, tools)), found.get((event, does))
            found[event, does] = named if known is None else known | named if known and named else frozenset()
    return tuple(_Decision(event, frozenset(sorted(tools)[:_TOOLS]), does) for (event, does), tools in found.items())


def _does(event: str, description: str, name: str) -> str:
    if event == "PostToolUse":
        return "formats" if _FORMATS.search(name) or _FORMATTERS.search(description) else ""
    if _REWRITES.search(description):
        return "rewrites"
    if _APPROVES.search(description):
        return "approves"
    return "denies" if _DENIES.search(description) else ""


def _contradiction(first: _Acting, second: _Acting, one: _Decision, other: _Decision) -> str:
    """Return how two decisions contradict each other; empty if they do not, as guards of different things."""
    if not one.meets(other):
        return ""
    if {one.does, other.does} == {"approves", "denies"}:
        approver = first.hook if one.does == "approves" else second.hook
        return f"on {one.where(other)}, {approver.name} approves by itself what the other decides on"
    if one.does != other.does or one.does == "approves":
        return ""
    if one.does == "rewrites":
        return f"both rewrite the input on {one.where(other)}: which of them counts is chance"
    if one.does == "formats":
        ours, theirs = first.languages, second.languages
        alike = not ours or not theirs or bool(ours & theirs)
        return f"both reformat what was written on {one.where(other)}" if alike else ""
    shared = first.subject & second.subject
    alike = len(shared) >= _SHARED and len(shared) >= _SAME_SUBJECT * len(first.subject | second.subject)
    return f"both decide on {one.where(other)} about {', '.join(sorted(shared)[:_SHARED])}" if alike else ""


def _own_words(hook: ConflictCandidate) -> str:
    """Return the author's description of a hook; empty for a generated one, which only repeats its events."""
    return "" if hook.description.startswith("Runs on ") else hook.description


_LANGUAGES = frozenset(
    "python javascript typescript js ts go golang rust ruby java kotlin swift php css html dart elixir cpp".split()
)


def _languages(hook: ConflictCandidate) -> frozenset[str]:
    return _LANGUAGES.intersection(content_words(f"{hook.name} {hook.description} {hook.actions}"))

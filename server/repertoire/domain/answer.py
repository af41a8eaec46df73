"""Questions and answers: what a door asks the app, and what it renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repertoire.domain.component import Component

# parts of the pipeline that `repertoire eval --without` can switch off
PARTS = tuple(
    "text vectors clauses code graph patterns capabilities meant need vague exclusion binding direction priors stack "
    "learning rerank relevance pairs spelling languages asking".split()
)

# How much work an answer may take: `fast` searches by words and names, and by meaning if the model is in memory;
# `thorough` ranks more candidates.
FAST, BALANCED, THOROUGH = "fast", "balanced", "thorough"
MODES = (FAST, BALANCED, THOROUGH)

BUDGET = 15_000  # tokens that a recommended set may add to each request: the largest of 186 real plugins adds 11,849

# Vector spaces: the database has one vec0 table for each pair of space and model.
BODY_SPACE, DESCRIPTION_SPACE, CODE_SPACE, REQUEST_SPACE = "body", "description", "code", "request"


@dataclass(frozen=True)
class Query:
    """A search query: its text, the wanted component types, and the project that it is asked in."""

    text: str
    types: tuple[str, ...] = ()  # empty: all types
    using: tuple[str, ...] = ()  # ids or names of components already in use
    installed: bool | None = None  # None: installed and available
    limit: int = 10
    repository: str = ""  # if given, only components of this repository are answered
    project: str = ""  # the project folder: components that fit its technologies are preferred
    without: frozenset[str] = frozenset()
    mode: str = BALANCED


@dataclass(frozen=True)
class Task:
    """A task to recommend a set of components for; `budget` limits the tokens that the set adds to every request.

    A component that is installed with others, as a plugin's are, costs what all of them cost.
    """

    text: str
    budget: int = BUDGET
    limit: int | None = None  # None: as many as tasks of this kind usually need
    types: tuple[str, ...] = ()
    using: tuple[str, ...] = ()
    installed: bool | None = None
    repository: str = ""
    project: str = ""
    without: frozenset[str] = frozenset()
    mode: str = BALANCED


@dataclass(frozen=True)
class Why:
    """One reason for a hit; `kind` is name, words, similarity, path, pattern, request, capability or profile."""

    kind: str
    text: str


@dataclass(frozen=True)
class Unit:
    """The plugin that one install line installs: components by type, and about how many tokens a session pays."""

    name: str  # PLUGIN@MARKETPLACE, or PLUGIN where it has no marketplace and its folder is copied
    counts: Mapping[str, int]
    tokens: int
    whole: bool = True  # false where only a part of the plugin is known: then there are at least so many
    servers: tuple[str, ...] = ()  # MCP servers that the component needs and that are not here: not had without it

    @property
    def others(self) -> int:
        """The number of components that come along with any one of them."""
        return sum(self.counts.values()) - 1


@dataclass(frozen=True)
class Hit:
    """A ranked component in an answer, with its score and the parts of that score."""

    component: Component
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    whys: tuple[Why, ...] = ()
    aged: str = ""  # when the component was last changed; empty unless it is stale
    demoted: str = ""  # evidence that tasks went better without the component, for which its rank is lowered
    muted: bool = False  # a person asked that the component be suggested no more
    refused: bool = False  # settings deny it to the model in the project, turn it off or forbid it
    troubles: tuple[str, ...] = ()  # reasons against the component, from outside its own text, the gravest first
    there_as: str = ""  # id of an exact copy that is already installed
    unit: Unit | None = None  # the plugin that its install line installs, if it brings other components too


@dataclass(frozen=True)
class StageReport:
    """A report of one pipeline stage: its milliseconds, and its counts or the reason why it was skipped."""

    stage: str
    ms: float
    detail: str


@dataclass(frozen=True)
class Combination:
    """A combination of components or capabilities that are known to go together, with the evidence.

    `kind`: plugin, agent or project for a set that one of these declares; together, request or capabilities for a set
    that was found to recur.
    """

    name: str
    kind: str
    members: tuple[Component, ...]  # the members that matter here; for capabilities, those of the first in `seen`
    more: int = 0  # number of members that are left out of `members`
    capabilities: tuple[str, ...] = ()
    support: int = 1
    lift: float = 0.0
    seen: tuple[str, ...] = ()  # names of the plugins, agents or projects in which the combination was found


@dataclass(frozen=True)
class Answer:
    """A ranked list of components; if `fits` is False, none is good enough and the hits are the nearest misses."""

    hits: tuple[Hit, ...]
    fits: bool
    confidence: float  # probability, 0 to 1, that the first hits serve the query
    report: tuple[StageReport, ...] = ()
    degraded: tuple[str, ...] = ()  # what the answer had to do without: the model, or vectors that are still to be made
    combinations: tuple[Combination, ...] = ()  # where known combinations are asked for
    companions: tuple[Other, ...] = ()  # components that are known to go with those in use or in the question


@dataclass(frozen=True)
class Other:
    """A component that an answer names beside its set, with the reason why it is there, or why not in the set."""

    component: Component
    reason: str = ""  # why it is not in the set
    remedy: str = ""  # the change that would bring it in, found by assembling again; empty: no single one does


@dataclass(frozen=True)
class Item:
    """A component of a recommended set, with its role in the set."""

    hit: Hit
    role: str  # the capabilities of the task that it covers, or the member that requires it
    tokens: int
    lacking: tuple[str, ...] = ()  # its requirements that this machine does not meet
    alternatives: tuple[Other, ...] = ()  # other components that do the same job
    spare: bool = False  # whether it is needed only if the first component does not serve


@dataclass(frozen=True)
class Dependency:
    """A dependency of a set's member: on another member, by id, or on something of the machine, of another `kind`."""

    member: str
    needs: str
    kind: str  # component, or binary, env, mcp_server, package, runtime


@dataclass(frozen=True)
class Facet:
    """A question to ask back when a task says too little: the part, goal or technology, with the likeliest answers."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Recommendation:
    """The smallest set of components that fits a task; without items nothing fits, and `near` are the nearest misses.

    If the task is too vague, `facets` are the questions to ask the person before the next recommendation.
    """

    items: tuple[Item, ...]
    near: tuple[Hit, ...] = ()
    gaps: tuple[str, ...] = ()  # needed capabilities that nothing in the set covers
    gap_words: Mapping[str, str] = field(default_factory=dict)  # by gap, the task's word for it if it is another
    unprovided: tuple[str, ...] = ()  # the gaps that no known component provides
    why_not: tuple[Other, ...] = ()  # the runners-up, each with the reason why it is not in the set
    companions: tuple[Other, ...] = ()  # components outside the set that are known to go with it or with those in use
    combinations: tuple[Combination, ...] = ()  # where known combinations are asked for
    install: tuple[str, ...] = ()  # exact lines for all but the spares, in order, each once
    reserve: tuple[str, ...] = ()  # those for the spares
    dependencies: tuple[Dependency, ...] = ()
    warnings: tuple[str, ...] = ()
    fits: bool = True  # False with items: the set is the nearest there is, and unsure
    confidence: float = 0.0
    facets: tuple[Facet, ...] = ()
    report: tuple[StageReport, ...] = ()
    degraded: tuple[str, ...] = ()

"""Questions and answers: what a door asks the app, and what it renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repertoire.domain.component import Component

# parts of the pipeline that `repertoire eval --without` can switch off
PARTS = tuple(
    "text vectors clauses code graph patterns capabilities meant need vague binding direction priors learning rerank "
    "languages".split()
)

# how much work an answer may be: fast is words and names, and meaning where the model is in memory; thorough looks
# at more candidates
FAST, BALANCED, THOROUGH = "fast", "balanced", "thorough"
MODES = (FAST, BALANCED, THOROUGH)

BUDGET = 10_000  # tokens that a set may add to each request: a twentieth of what a model holds

# vector spaces; one vec0 table for each of them and each model
BODY_SPACE, DESCRIPTION_SPACE, CODE_SPACE, REQUEST_SPACE = "body", "description", "code", "request"


@dataclass(frozen=True)
class Query:
    """A question: its text, the types that are wanted, and its project."""

    text: str
    types: tuple[str, ...] = ()  # empty: all
    using: tuple[str, ...] = ()  # ids or names of components already in use
    installed: bool | None = None  # None: installed and available
    limit: int = 10
    repository: str = ""  # answer from one repository alone
    project: str = ""  # the folder at hand: what fits its stack is preferred
    without: frozenset[str] = frozenset()
    mode: str = BALANCED


@dataclass(frozen=True)
class Task:
    """A task that needs a set; `budget` counts the tokens that the set adds to every request.

    What is installed as a whole costs as a whole.
    """

    text: str
    budget: int = BUDGET
    limit: int | None = None  # None: as many as such a task usually takes
    types: tuple[str, ...] = ()
    using: tuple[str, ...] = ()
    installed: bool | None = None
    repository: str = ""
    project: str = ""
    without: frozenset[str] = frozenset()
    mode: str = BALANCED


@dataclass(frozen=True)
class Why:
    """One reason for a hit. `kind`: name, words, similarity, path, pattern, request, capability, profile."""

    kind: str
    text: str


@dataclass(frozen=True)
class Unit:
    """What one line installs, as a whole: `counts` by type, `tokens` about what it adds to each session's listing."""

    name: str  # PLUGIN@MARKETPLACE
    counts: Mapping[str, int]
    tokens: int


@dataclass(frozen=True)
class Hit:
    """A component in an answer, with the parts of its score."""

    component: Component
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    whys: tuple[Why, ...] = ()
    aged: str = ""  # when it was last changed, where that makes it stale
    demoted: str = ""  # on what evidence it stands lower than it fits: tasks went better without it
    muted: bool = False  # a person wants it suggested no more
    troubles: tuple[str, ...] = ()  # what speaks against it from outside, the grave first
    there_as: str = ""  # the id of an installed exact copy, where it is there already
    unit: Unit | None = None  # what its install line brings, where that is more than itself


@dataclass(frozen=True)
class StageReport:
    """What one stage did: milliseconds, and counts or why it was skipped."""

    stage: str
    ms: float
    detail: str


@dataclass(frozen=True)
class Combination:
    """Components or capabilities that are known to go together, with the evidence.

    `kind`: plugin, agent or project, for what is one's as a whole; together, request or capabilities for what recurs.
    """

    name: str
    kind: str
    members: tuple[Component, ...]  # that matter for what was asked; of capabilities, as the first of `seen` has them
    more: int = 0  # members that are not among these
    capabilities: tuple[str, ...] = ()
    support: int = 1
    lift: float = 0.0
    seen: tuple[str, ...] = ()  # names of plugins, agents, projects


@dataclass(frozen=True)
class Answer:
    """A ranked list. `fits` is False where nothing is good enough: the hits are then the nearest misses."""

    hits: tuple[Hit, ...]
    fits: bool
    confidence: float  # 0..1: how sure it is that the first hits serve the query
    report: tuple[StageReport, ...] = ()
    degraded: tuple[str, ...] = ()  # what was missing: no model, vectors still to come
    combinations: tuple[Combination, ...] = ()  # where known combinations are asked for
    companions: tuple[Other, ...] = ()  # what is known to go with what is in use, or was asked about


@dataclass(frozen=True)
class Other:
    """A component that is named beside the set, with the reason."""

    component: Component
    reason: str = ""  # what kept it out
    remedy: str = ""  # what would bring it in, found by assembling again; empty: no single change does


@dataclass(frozen=True)
class Item:
    """A component in a recommended set, with the part it plays."""

    hit: Hit
    role: str  # what of the task it covers, or whose requirement it is
    tokens: int
    lacking: tuple[str, ...] = ()  # what it requires and this machine has not
    alternatives: tuple[Other, ...] = ()  # others that do its job


@dataclass(frozen=True)
class Dependency:
    """What a member of a set needs: another member by its id, or, of another `kind`, something of the machine."""

    member: str
    needs: str
    kind: str  # component, or binary, env, mcp_server, package, runtime


@dataclass(frozen=True)
class Facet:
    """What to ask back of a task that says too little: which part, goal or technology, and the likeliest answers."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Recommendation:
    """The smallest set that fits a task. Empty items: nothing fits, `near` are the nearest misses.

    With `facets` the task is too vague to tell: they are what to ask the person, before asking again.
    """

    items: tuple[Item, ...]
    near: tuple[Hit, ...] = ()
    gaps: tuple[str, ...] = ()  # needed capabilities that nothing in the set covers
    unprovided: tuple[str, ...] = ()  # those of them that nothing known provides
    why_not: tuple[Other, ...] = ()  # the runners-up
    companions: tuple[Other, ...] = ()  # what is known to go with the set, or with what is in use, and is not in it
    combinations: tuple[Combination, ...] = ()  # where known combinations are asked for
    install: tuple[str, ...] = ()  # exact lines, in order, each once
    dependencies: tuple[Dependency, ...] = ()
    warnings: tuple[str, ...] = ()
    fits: bool = True  # False with items: the nearest there is, and unsure
    confidence: float = 0.0
    facets: tuple[Facet, ...] = ()
    report: tuple[StageReport, ...] = ()
    degraded: tuple[str, ...] = ()

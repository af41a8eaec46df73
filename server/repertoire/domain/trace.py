"""A trace: one problem that was solved (or was not), what was tried, where, and what others said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from repertoire.domain.trust import Flag

TRACE, SIGNATURE = "trace", "signature"  # kinds of nodes
# Of the rules by which an error gets its signature. Raise it when they give other keys than before: a refresh then
# reads the errors of the traces that are kept again.
SIGNATURES_VERSION = "4"
SHOWS, CONCERNS, SUPERSEDES = "shows", "concerns", "supersedes"  # relations
PROBLEM_SPACE, SOLUTION_SPACE = "problem", "solution"  # vector spaces

WORKED, PARTLY, FAILED = "worked", "partly", "failed"
OUTCOMES = (WORKED, PARTLY, FAILED)
DRAFT, ACTIVE, SUPERSEDED, EXPIRED = "draft", "active", "superseded", "expired"
OUTDATED, WRONG, UNSAFE, SPAM = "outdated", "wrong", "security_concern", "spam"
COMPLAINTS = (OUTDATED, WRONG, UNSAFE, SPAM)
PLACES = ("language", "framework", "os", "package_manager", "runtime")  # what an environment may name

TITLE, TEXT, NOTE, TAGS, USES = 200, 20_000, 500, 12, 20  # the most characters and items that are kept
LEFT_OUT = "left out: the middle"  # stands in a text of which only the beginning and the end are kept
IN_PROJECT = ("file:", "symbol:", "section:")  # how the keys begin of what lies in one project: they stay at home
ME = "me"  # who contributes and votes on this machine
OTHERS = "somebody else"  # whose traces a file brought that names nobody


@dataclass(frozen=True)
class Trace:
    """A solved problem as it is kept; `key` is made of its words, so that the same trace has one name everywhere."""

    key: str
    title: str
    context: str
    solution: str
    tags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)  # of PLACES: a name, and perhaps its version
    outcome: str = WORKED
    status: str = DRAFT
    review_after: str = ""  # a day
    watch: str = ""  # "until library X >= 3"
    uses: tuple[str, ...] = ()  # keys of components, capabilities, packages, and of what it took of its project
    signatures: Mapping[str, str] = field(default_factory=dict)  # of its errors: key to template
    session: str = ""
    project: str = ""
    author: str = ME
    licence: str = ""
    version: int = 1
    supersedes: str = ""  # the key of what it replaces
    flags: tuple[Flag, ...] = ()
    at: str = ""


@dataclass(frozen=True)
class Vote:
    """The vote of one contributor on one trace, with the voter's environment; a later vote replaces it."""

    trace: str
    voter: str
    up: bool
    at: str
    tag: str = ""  # of COMPLAINTS
    note: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trust:
    """The trust in a trace: confidence bounds, and the votes behind them."""

    bound: float  # lower confidence bound of the share of uses in which it helps
    high: float = 1.0  # upper confidence bound
    ups: int = 0
    votes: int = 0
    last: str = ""  # time of the last vote
    complaints: tuple[str, ...] = ()  # tags of the votes against it, each once

    @property
    def disputed(self) -> bool:
        """Tell whether there are votes for and against the trace."""
        return 0 < self.ups < self.votes


@dataclass(frozen=True)
class RatedTrace:
    """A trace and the trust in it."""

    trace: Trace
    trust: Trust

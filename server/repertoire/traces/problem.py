"""The small values that a session is folded into: problems with the attempts at them, failed commands, recent edits."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.traces.hunks import Change, Hunk
from repertoire.traces.invocations import Part

OPEN, SOLVED = "open", "solved"


@dataclass(frozen=True, slots=True)
class Mark:
    """What is kept of an error's signature."""

    key: str
    exact: str
    coarse: str
    exception: str
    template: str
    message: str

    @property
    def headline(self) -> str:
        """Return the error in one line: which, and what it says."""
        said = self.message or self.template
        return f"{self.exception}: {said}" if self.exception and self.exception not in said else said


@dataclass(frozen=True, slots=True)
class Round:
    """How a check failed: what it said, of which tests, and how often."""

    firsts: frozenset[str] = frozenset()  # the error that is blamed
    exacts: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    tests: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()  # files
    count: int = -1  # failures that it counted; -1: it told no number


@dataclass(frozen=True, slots=True)
class Pending:
    """What was changed since the last failure."""

    lines: tuple[str, ...] = ()  # a line each
    digests: frozenset[str] = frozenset()
    commands: tuple[str, ...] = ()
    aside: bool = False  # the last of it puts work aside, and mostly it comes back
    skipped: bool = False  # a test is no longer run
    edited: bool = False
    touched: bool = False  # a command ran that may have changed something
    setup: bool = False  # it is about packages or configuration


@dataclass(frozen=True, slots=True)
class Problem:
    """A command that failed, and what was tried until it passed."""

    part: Part
    folder: str
    opened: float  # seconds
    time: int  # how many failures there had been
    tested_first: bool = False  # a test was written just before
    state: str = OPEN
    solved: float = 0.0
    offered: bool = False
    seen: float = 0.0  # when it last failed
    marks: tuple[Mark, ...] = ()
    blamed: tuple[tuple[str, int], ...] = ()  # an error's key, and how often it was the one to blame
    commands: tuple[str, ...] = ()
    invocations: frozenset[str] = frozenset()
    excerpt: str = ""
    last: Round = Round()
    stuck: int = 0  # attempts after which it was the same error
    moved: int = 0  # after which it was another
    held: int = 0  # of these, in the same test
    eased: int = 0  # of these, where less failed than before
    varied: int = 0  # with the command alone, another way
    setup: int = 0  # attempts at packages or configuration
    reversals: int = 0
    reworks: int = 0
    network: bool = False  # nothing but the network failed
    usage: bool = False  # nothing but the command's own arguments were wrong
    looks: tuple[str, ...] = ()
    sought: bool = False  # one of them asked for the error itself
    attempts: tuple[str, ...] = ()
    tried: frozenset[str] = frozenset()
    pending: Pending = Pending()
    hunks: tuple[Hunk, ...] = ()
    passed: str = ""  # the command that passed in the end

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys of its errors, by which it is known again; of its command where it printed none."""
        return frozenset(key for key, _ in self.blamed) or frozenset((f"command:{self.part.family}",))

    @property
    def mark(self) -> Mark | None:
        """Return the error that took the most attempts, the first of equals."""
        counts = dict(self.blamed)
        return max(self.marks, key=lambda mark: counts.get(mark.key, 0), default=None)


@dataclass(frozen=True, slots=True)
class Failure:
    """A command that failed, while nothing that could matter has changed since."""

    key: str
    line: str
    headline: str
    at: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class SessionTrace:
    """What a session is folded into. Small: every part is capped."""

    failures: int = 0  # counted
    problems: tuple[Problem, ...] = ()
    failed: tuple[Failure, ...] = ()
    changes: tuple[Change, ...] = ()
    written_tests: bool = False  # a test was edited since something last failed or passed
    versions: tuple[tuple[str, str], ...] = ()
    languages: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()  # keys of problems that were offered

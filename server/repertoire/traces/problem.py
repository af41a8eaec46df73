"""Defines the values of a folded session: problems with the attempts at them, failed commands, recent edits."""

from __future__ import annotations

from dataclasses import dataclass

from repertoire.traces.hunks import Change, Hunk
from repertoire.traces.invocations import Part

OPEN, SOLVED = "open", "solved"


@dataclass(frozen=True, slots=True)
class Mark:
    """The stored parts of an error's signature."""

    key: str
    exact: str
    exception: str
    template: str
    message: str

    @property
    def headline(self) -> str:
        """Return the error in one line: exception and message."""
        said = self.message or self.template
        return f"{self.exception}: {said}" if self.exception and self.exception not in said else said


@dataclass(frozen=True, slots=True)
class Round:
    """One failed run of a check: its errors, tests and files, and the number of failures."""

    firsts: frozenset[str] = frozenset()  # exact keys of the error to which the failure is attributed
    exacts: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    tests: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()  # files in the errors
    count: int = -1  # the number of failures in its summary; -1 if it prints none


@dataclass(frozen=True, slots=True)
class Pending:
    """The changes since the last failure, which form the current attempt."""

    lines: tuple[str, ...] = ()  # one line for each change
    digests: frozenset[str] = frozenset()
    commands: tuple[str, ...] = ()
    aside: bool = False  # the last command put work aside (such as git stash), mostly for a short time
    skipped: bool = False  # the changes skip a test
    edited: bool = False
    touched: bool = False  # a command ran that may have changed files
    setup: bool = False  # the changes concern packages or configuration


@dataclass(frozen=True, slots=True)
class Problem:
    """A command that failed, and what was tried until it passed."""

    part: Part
    folder: str
    opened: float  # time of the first failure, in seconds
    time: int  # the number of failures in the session before it
    tested_first: bool = False  # a test was edited just before
    state: str = OPEN
    solved: float = 0.0
    offered: bool = False
    seen: float = 0.0  # time of the last failure
    marks: tuple[Mark, ...] = ()
    blamed: tuple[tuple[str, int], ...] = ()  # error keys, and how often each was the main error
    commands: tuple[str, ...] = ()
    invocations: frozenset[str] = frozenset()
    excerpt: str = ""
    last: Round = Round()
    stuck: int = 0  # attempts after which the error was the same
    moved: int = 0  # attempts after which the error was another
    held: int = 0  # those of `moved` in the same test
    eased: int = 0  # those of `moved` after which fewer tests failed
    varied: int = 0  # attempts that changed only the command
    setup: int = 0  # attempts that changed packages or configuration
    reversals: int = 0
    reworks: int = 0
    network: bool = False  # all failures were network errors
    usage: bool = False  # all failures were wrong arguments of the command
    looks: tuple[str, ...] = ()
    sought: bool = False  # one of the look-ups searched for the error itself
    attempts: tuple[str, ...] = ()
    tried: frozenset[str] = frozenset()
    pending: Pending = Pending()
    hunks: tuple[Hunk, ...] = ()
    passed: str = ""  # the command that passed in the end

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys that identify the problem: those of its errors, or of its command if it printed none."""
        return frozenset(key for key, _ in self.blamed) or frozenset((f"command:{self.part.family}",))

    @property
    def mark(self) -> Mark | None:
        """Return the error with the most attempts, the first of equals."""
        counts = dict(self.blamed)
        return max(self.marks, key=lambda mark: counts.get(mark.key, 0), default=None)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed command, since which nothing relevant was changed."""

    key: str
    line: str
    headline: str
    at: float
    times: int = 1
    folder: str = ""  # where it ran, as far as known


@dataclass(frozen=True, slots=True)
class SessionTrace:
    """A folded session; every part is capped."""

    failures: int = 0  # number of failures
    problems: tuple[Problem, ...] = ()
    failed: tuple[Failure, ...] = ()
    changes: tuple[Change, ...] = ()
    written_tests: bool = False  # a test was edited since the last run of a check
    languages: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()  # keys of problems that were proposed as traces

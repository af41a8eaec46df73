"""Reads of a question which sort of entry it asks for, and of which time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from repertoire.domain.project import NOTE, PROCEDURE, TASK, Entry
from repertoire.domain.text import content_words
from repertoire.projects.times import Span, span_of

# What speaks for an entry or against it: small, as no labelled set has questions of this sort.
_ASKED, _OUTSIDE = 1.1, 0.7
# A decision stands in no other sort of text: with less, a task or section that repeats the question's words leads.
_DECIDED = 1.4
_DECISION = "decision"  # a category of notes
_SORTS = (  # the first that a question has: kind, category, words
    (NOTE, _DECISION, re.compile(r"\b(?:decid\w*|decision\w*|chose|chosen|choice|agreed|settled)\b", re.IGNORECASE)),
    (NOTE, "preference", re.compile(r"\bprefer\w*\b", re.IGNORECASE)),
    (NOTE, "pattern", re.compile(r"\b(?:patterns?|conventions?|how do we usually)\b", re.IGNORECASE)),
    (NOTE, "blocker", re.compile(r"\b(?:blockers?|blocked|stuck)\b", re.IGNORECASE)),
    (
        NOTE,
        "technology",
        re.compile(r"\b(?:which|what) (?:library|framework|tool|database|stack|technology)\b", re.IGNORECASE),
    ),
    (TASK, "", re.compile(r"\b(?:to do|todos?|tasks?|left to|unfinished|open work)\b", re.IGNORECASE)),
    (PROCEDURE, "", re.compile(r"\b(?:procedure|runbook|steps (?:to|for))\b", re.IGNORECASE)),
)
_WHAT = re.compile(r"\b(?:what|which)\b", re.IGNORECASE)  # without it "decision" may be a name in a program
# words that with a time ask for all of that time, and with "what" for all decisions
_ANYTHING = frozenset(
    """decide decided decision decisions chose chosen agreed settled change changed changes happen happened save saved
    note notes noted task tasks new done finished learn learned know known memory project work worked""".split()
)


@dataclass(frozen=True)
class Hints:
    """What a question asks for beside its words: a kind and category of entries, and a time."""

    kind: str = ""
    category: str = ""
    span: Span | None = None
    all_of_it: bool = False  # it names a time, or asks what was decided, and nothing else

    def factor(self, entry: Entry) -> float:
        """Return what speaks for an entry (above 1) or against it (below 1)."""
        value = 1.0
        if self.kind == entry.kind and (not self.category or entry.data.get("category") == self.category):
            value *= _DECIDED if self.category == _DECISION else _ASKED
        return value if self.covers(entry) else value * _OUTSIDE

    def covers(self, entry: Entry) -> bool:
        """Tell whether an entry was saved or changed in the time that is asked for."""
        return (
            self.span is None or self.span.first.isoformat() <= _local_day(entry.changed) <= self.span.last.isoformat()
        )


def _local_day(at: str) -> str:
    """Return the day of a time in the machine's time zone, as that of a person who says `yesterday`."""
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone().date().isoformat()
    except (OverflowError, ValueError):
        return at[:10]


def hints_of(question: str, today: date) -> Hints:
    """Return what a question asks for beside its words."""
    span = span_of(question, today)
    kind, category = next(((kind, category) for kind, category, said in _SORTS if said.search(question)), ("", ""))
    decisions = category == _DECISION and _WHAT.search(question) is not None
    words = {*content_words(span.rest if span is not None else question)}
    return Hints(kind, category, span, (span is not None or decisions) and not words - _ANYTHING)

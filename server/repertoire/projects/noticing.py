"""Finds in what was said in a session the sentences that may be worth a note: decisions, preferences, blockers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repertoire.domain.project import NOTE, TASK
from repertoire.domain.text import content_words

_LONGEST, _SHORTEST, _MOST = 300, 4, 3  # characters and words of a sentence, sentences of one text
_LINES = 40  # lines of a text that are read: what is longer was pasted
_SENTENCE = re.compile(r"(?<=[.!;])\s+|\n")
_CODE = re.compile(r"^(?:\s{4,}|\t|[>$#|+<{}\[]|\d+[:|])")
# Each of what a person says of how things are to be from now on; a question or a request for one change is none.
_SAID = (
    ("decision", re.compile(r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|settled|chose)\b", re.IGNORECASE)),
    ("decision", re.compile(r"^(?:decision|decided|agreed)\s?[:\u2013-]\s?\S", re.IGNORECASE)),
    (
        "decision",
        re.compile(r"\b(?:let'?s|we(?:'ll| will)?) (?:stick (?:with|to)|standardi[sz]e on|go with)\b", re.IGNORECASE),
    ),
    ("decision", re.compile(r"\bfrom now on\b|\bgoing forward\b|\bin (?:the )?future,", re.IGNORECASE)),
    (
        "preference",
        re.compile(
            r"\b(?:we (?:always|never)|(?:we|i) prefer)\b|^(?:please )?(?:always|never|don'?t ever)\b", re.IGNORECASE
        ),
    ),
    (
        "fact",
        re.compile(
            r"^(?:please )?(?:remember|keep in mind|note|for the record)[,:]? (?:that\b|we\b|the\b|our\b|this\b)",
            re.IGNORECASE,
        ),
    ),
    (
        "blocker",
        re.compile(
            r"\b(?:we are|we're|i am|i'm|this is|it is|it's) (?:blocked (?:by|on)|waiting (?:for|on))\b", re.IGNORECASE
        ),
    ),
)
_ASKING = re.compile(
    r"^(?:recall|why|what|which|how|explain|did|do|does|can|could|should|document|find|list|show|we need to)\b"
    r"|\bwhy we\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"^\s*(?:[-*] )?(?:\*\*)?(?P<sort>decision|decided|blocker|blocked by|todo|left to do|not done(?: yet)?|follow-up)"
    r"(?:\*\*)?\s?:(?:\*\*)?\s*(?P<said>\S.*)$",
    re.IGNORECASE,
)
_SORTS = {"decision": "decision", "decided": "decision", "blocker": "blocker", "blocked by": "blocker"}


@dataclass(frozen=True)
class Noticed:
    """A sentence that may be worth a note or a task; `category` is empty for a task."""

    kind: str
    category: str
    said: str


def in_prompt(text: str) -> list[Noticed]:
    """Return what a person said that may be worth a note; of pasted code and of questions nothing is taken."""
    found = list[Noticed]()
    lines = text.split("\n")
    if len(lines) > _LINES or "```" in text:
        return []
    for sentence in _SENTENCE.split("\n".join(line for line in lines if not _CODE.match(line))):
        said = sentence.strip().strip("-*\u2022 ")
        category = next((category for category, shape in _SAID if shape.search(said)), "")
        if category and _tells(said) and not _ASKING.search(said):
            found.append(Noticed(NOTE, category, said))
    return found[:_MOST]


def in_message(text: str) -> list[Noticed]:
    """Return what Claude's last message lists as decided, blocked, or left to do."""
    found = list[Noticed]()
    for line in text.split("\n"):
        listed = _LISTED.match(line[: 2 * _LONGEST])
        if listed and _tells(said := listed["said"].strip("* ")):
            category = _SORTS.get(listed["sort"].lower(), "")
            found.append(Noticed(NOTE if category else TASK, category, said))
    return found[:_MOST]


def _tells(said: str) -> bool:
    words = said.split()
    return (
        len(words) >= _SHORTEST
        and len(said) <= _LONGEST
        and not said.endswith(("?", ":", "\u2026"))
        and len(content_words(said)) >= _SHORTEST - 1
    )

"""Reads a question: its words, the types it asks for, the capabilities it names, and whether it names a component."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repertoire.domain.answer import Query
from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, SKILL
from repertoire.domain.text import content_words

SEARCH, RECOMMEND = "search", "recommend"
MAX_WORDS = 400  # a prompt may be a pasted log; what follows its first words no longer says what is wanted
_TYPE_WORDS = {
    "skill": SKILL,
    "agent": AGENT,
    "subagent": AGENT,
    "sub-agent": AGENT,
    "command": COMMAND,
    "hook": HOOK,
    "mcp": MCP_SERVER,
    "mcp server": MCP_SERVER,
    "plugin": PLUGIN,
    "setting": SETTING,
}
# "an agent that …", "which hooks …", "a skill for …": the type is the head of what is wanted, not a word of the task
_WANTED = re.compile(
    r"\b(?:an?|any|some|which|what|the|find|list|best|good)\s+(?:\w+\s+)?"
    r"(mcp servers?|mcp|skills?|sub-?agents?|agents?|(?:slash )?commands?|hooks?|plugins?|settings?)\s+"
    r"(?:that|which|who|for|to|can|could|is|are|do|does|exists?)\b",
    re.IGNORECASE,
)
# where one wish ends and the next begins
_BREAK = re.compile(
    r"[.?!;:\n]+\s+|[.?!;]+$|,\s+(?:and\s+)?(?:then\s+)?|"
    r"\s+(?:and then|and also|as well as|after that|afterwards|and|then|also|additionally|finally|but|plus)\s+"
)
_CLAUSE_WORDS = 2  # a clause of fewer words of meaning says nothing by itself
MAX_CLAUSES = 8
_LONGEST_NAME = 200

Capabilities = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Plan:
    """How a question is to be answered."""

    query: Query
    intent: str
    words: tuple[str, ...]
    clauses: tuple[str, ...]  # its parts, where it has several
    wanted: tuple[str, ...]  # types that the words ask for: preferred, while Query.types are required
    capabilities: tuple[str, ...]
    name: str  # what might be a component's id or name; empty where the question is longer than any


def make_plan(query: Query, intent: str, capabilities: Capabilities | None = None) -> Plan:
    """Read a question; `capabilities` finds the capabilities that a text names."""
    text = query.text.strip()
    return Plan(
        query=query,
        intent=intent,
        words=tuple(content_words(text)[:MAX_WORDS]),
        clauses=tuple(clauses(text)),
        wanted=wanted_types(text),
        capabilities=tuple(capabilities(text)) if capabilities and "capabilities" not in query.without else (),
        name=text.removeprefix("/") if len(text) <= _LONGEST_NAME and "\n" not in text else "",
    )


def clauses(text: str) -> list[str]:
    """Take a question apart into what it asks for one after the other; empty where it asks for one thing."""
    parts = (part.strip(" ,.-\"'") for part in _BREAK.split(text) if part)
    found = list(dict.fromkeys(part for part in parts if len(content_words(part)) >= _CLAUSE_WORDS))
    return found[:MAX_CLAUSES] if len(found) > 1 else []


def wanted_types(text: str) -> tuple[str, ...]:
    """Return the component types that a question asks for in so many words."""
    found = []
    for match in _WANTED.finditer(text):
        word = match.group(1).lower().removeprefix("slash ").removesuffix("s")
        found.append(_TYPE_WORDS[word])
    return tuple(dict.fromkeys(found))

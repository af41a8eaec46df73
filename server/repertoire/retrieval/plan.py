"""Reads a question: what it wants, in which words and clauses, of how many components, worth how much work."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from repertoire import linear
from repertoire.domain.answer import BALANCED, FAST, THOROUGH, Query
from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, PLUGIN, SETTING, SKILL
from repertoire.domain.text import content_words
from repertoire.retrieval.code import is_code
from repertoire.retrieval.foreign import Reading, read

SEARCH, RECOMMEND, EXPLAIN = "search", "recommend", "explain"
SIMPLE, MODERATE, COMPLEX = "simple", "moderate", "complex"
MAX_WORDS = 400  # a prompt may be a pasted log; what follows its first words no longer says what is wanted
# A task speaks of tools, packages and workflows without asking for a component that is one.
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
_TYPES = r"(?:mcp servers?|mcp|skills?|sub-?agents?|agents?|(?:slash )?commands?|hooks?|plugins?|settings?)"
# "an agent that …", "which hooks …", "a skill for …": the type is the head of what is wanted, not a word of the task
_WANTED = re.compile(
    rf"\b(?:an?|any|some|which|what|the|find|list|best|good)\s+(?:\w+\s+)?({_TYPES})\s+"
    r"(?:that|which|who|for|to|can|could|is|are|do|does|exists?)\b",
    re.IGNORECASE,
)
# "what does pdf-forms do", "explain the docker skill": one component is asked about, by its name
_EXPLAINED = re.compile(
    r"(?:please |can you |could you )*"
    r"(?:explain|describe|tell me about|what (?:does|is|are)|how does|why (?:was|were|is|did you \w+))\s+"
    rf"(?P<article>the |an? )?(?P<name>[^\s?.!,\"]+)(?P<type> {_TYPES})?"
    r"(?: do| does| for| work| works| used for| suggested| recommended| offered| here)*\s*[?.!]*",
    re.IGNORECASE,
)
_RECOMMENDED = re.compile(
    r"""\b(?:recommend | suggest
    | what\ (?:should|could|can)\ (?:i|we)\ (?:use|install) | which\ .{0,60}\b(?:should|could)\ (?:i|we)
    | (?:set|combination|stack|bundle)\ of | best\ (?:set|way|combination) | (?:i|we)\ (?:need|have|want)\ to)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# "common auth stacks", "what goes with pdf-forms": what is asked for is a known combination, of or around a topic
_KNOWN = r"(?:common|typical|usual|popular|proven|known|standard|frequent)(?:ly used)?"
_STACKS = r"(?:stacks?|combinations?|combos?|bundles?|(?:component|skill|agent|tool) sets?)"
_PARTS = r"(?:components?|skills?|agents?|commands?|hooks?|plugins?|mcp servers?|tools?)"
_USED = r"(?:(?:goes|go|works?|fits?|pairs?)|(?:is|are) (?:used|combined|installed))"
_OFTEN = r"(?: (?:well|best|nicely|often|commonly|usually|together))*"
_COMBINED = tuple(
    linear.compile(rf"(?i)(?:(?:show me|tell me|list|find|what are|which are) )?(?:the )?(?:most )?{form}[\s?.!]*")
    for form in (
        rf"{_KNOWN} (?P<topic>.+?) {_STACKS}",
        rf"{_KNOWN} {_STACKS}(?: of {_PARTS})? (?:for|of|with|around) (?P<topic>.+?)",
        rf"(?:what|which)(?: else| other)?(?: {_PARTS})? {_USED}{_OFTEN} with (?P<topic>.+?)",
        rf"(?:what|which)(?: {_PARTS})? (?:is|are|do people|do others){_OFTEN} used?{_OFTEN} with (?P<topic>.+?)",
        rf"(?:which|what) {_PARTS} are{_OFTEN} used{_OFTEN} for (?P<topic>.+?)",
        r"(?:companions|complements) (?:of|for|to) (?P<topic>.+?)",
    )
)
# where one wish ends and the next begins
_BREAK = linear.compile(
    r"[.?!;:\n]+\s+|[.?!;]+$|,\s+(?:and\s+)?(?:then\s+)?|"
    r"\s+(?:and then|and also|as well as|after that|afterwards|and|then|also|additionally|finally|but|plus)\s+"
)
_AROUND_TOPIC = re.compile(r"^(?:the|an?|our|my) |[`'\"]", re.IGNORECASE)
_CLAUSE_WORDS = 2  # a clause of fewer words of meaning says nothing by itself
MAX_CLAUSES = 8
_LONGEST_NAME = 200
_SIMPLE_WORDS, _COMPLEX_WORDS = 8, 60
_BRIEF = 5, 10  # words of meaning: up to the first a question is brief, from the second on it is not
_COMPLEX_CLAUSES = 4
# Components that a task needs, learned on the train splits of four labelled sets (`bench/quality/size.py`)
_SIZE, _SIZE_A_CLAUSE, _SIZE_A_CAPABILITY = 1.35, 0.19, 0.29
MOST_NEEDED = 6

Capabilities = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Stack:
    """What the project at hand is made of, and what could be told of it and is not there, as capabilities."""

    uses: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Effort:
    """How much work an answer is worth."""

    clauses: bool  # whether clauses are embedded apart
    loading: bool  # whether it may wait for the model to be loaded
    walking: bool
    depth: int  # of the lists of candidates, in usual depths
    reranked: int  # rows at the head that are looked at again
    thorough: bool = False  # whether even what looks clear is looked at again


EFFORTS = {
    FAST: Effort(clauses=False, loading=False, walking=False, depth=1, reranked=0),
    BALANCED: Effort(clauses=True, loading=True, walking=True, depth=1, reranked=20),
    THOROUGH: Effort(clauses=True, loading=True, walking=True, depth=4, reranked=50, thorough=True),
}


@dataclass(frozen=True)
class QueryPlan:
    """How a question is to be answered."""

    query: Query
    intent: str
    words: tuple[str, ...]
    clauses: tuple[str, ...]  # its parts, where it has several
    wanted: tuple[str, ...]  # types that the words ask for: preferred, while Query.types are required
    capabilities: tuple[str, ...]
    name: str  # what might be a component's id or name; empty where the question is longer than any
    code: bool = False  # whether it is a snippet or an API's name
    complexity: str = MODERATE
    size: int = 1  # how many components the task is likely to need
    effort: Effort = field(default=EFFORTS[BALANCED])
    stack: Stack = Stack()
    near: tuple[str, ...] = ()  # capabilities that it is about in meaning, words or not; known once it is embedded
    reading: Reading | None = None  # how the question was read, where it is not in English; the query is in English

    @property
    def brevity(self) -> float:
        """How short the question is: 1 for a few words, 0 for a sentence or more."""
        few, many = _BRIEF
        return min(max((many - len(self.words)) / (many - few), 0.0), 1.0)


def make_plan(
    query: Query, intent: str, capabilities: Capabilities | None = None, *, stack: Stack | None = None
) -> QueryPlan:
    """Read a question; `capabilities` finds those that a text names; `intent` is what the door asks for.

    What is asked about one component by its name is explained whatever the door. What is not in English is read in
    English first.
    """
    asked = query.text.strip()
    reading = None if "languages" in query.without else read(asked)
    if reading is not None:
        query = replace(query, text=reading.text)
    text = query.text.strip()
    named = tuple(capabilities(text)) if capabilities and "capabilities" not in query.without else ()
    words = tuple(content_words(text)[:MAX_WORDS])
    parts = tuple(clauses(text)) if "clauses" not in query.without else ()
    explained = explained_name(text)
    name = text if is_identifier(text) else asked
    return QueryPlan(
        query=query,
        intent=EXPLAIN if explained else intent or intent_of(text),
        words=words,
        clauses=parts,
        wanted=wanted_types(text),
        capabilities=named,
        name=explained or (name.removeprefix("/") if len(name) <= _LONGEST_NAME and "\n" not in name else ""),
        code=is_code(text),
        complexity=complexity_of(words, parts),
        size=size_of(parts, named),
        effort=EFFORTS[query.mode],
        stack=stack or Stack(),
        reading=reading,
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


def explained_name(text: str) -> str:
    """Return the name of the one component that a question is about; empty where it is about anything else."""
    match = _EXPLAINED.fullmatch(text.strip()) if len(text) <= _LONGEST_NAME else None
    if match is None:
        return ""
    name = match["name"].removeprefix("/").strip("`'")
    # "what is docker" asks about docker; only a word that can be nothing but a name, or is called a skill, names one
    return name if match["type"] or is_identifier(name) else ""


def combined_topic(text: str) -> str:
    """Return the topic of a question that asks what goes together; empty for any other question."""
    if len(text) > _LONGEST_NAME or "\n" in text:
        return ""
    found = next((match for form in _COMBINED if (match := form.fullmatch(text.strip()))), None)
    if found is None:
        return ""
    topic = _AROUND_TOPIC.sub("", found["topic"].strip())
    return topic.removeprefix("/")


def is_identifier(name: str) -> bool:
    """Tell a name that can only be a name from a plain word, which is as likely a topic."""
    return " " not in name and any(mark in name for mark in ":-_/.")


def intent_of(text: str) -> str:
    """Tell by its wording what a question wants: one component explained, a set recommended, or a list."""
    if explained_name(text):
        return EXPLAIN
    return RECOMMEND if _RECOMMENDED.search(text) else SEARCH


def complexity_of(words: Sequence[str], parts: Sequence[str]) -> str:
    """Tell how much a question asks for: one thing in a few words, several, or a whole undertaking."""
    if len(parts) >= _COMPLEX_CLAUSES or len(words) > _COMPLEX_WORDS:
        return COMPLEX
    return SIMPLE if not parts and len(words) <= _SIMPLE_WORDS else MODERATE


def size_of(parts: Sequence[str], named: Sequence[str]) -> int:
    """Estimate how many components a task needs, from its clauses and the capabilities that it names."""
    size = _SIZE + _SIZE_A_CLAUSE * max(len(parts), 1) + _SIZE_A_CAPABILITY * len(set(named))
    return min(max(round(size), 1), MOST_NEEDED)

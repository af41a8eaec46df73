"""Plans how a question is answered: its intent, words, clauses and capabilities, its set size and the effort."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from repertoire import linear
from repertoire.domain.answer import BALANCED, FAST, THOROUGH, Query
from repertoire.domain.text import content_words
from repertoire.retrieval.code import is_code
from repertoire.retrieval.component_request import ASKING, ComponentRequest, component_request, type_named
from repertoire.retrieval.exclusion import EXCLUSION, Exclusion, exclusion_in
from repertoire.retrieval.products import Products
from repertoire.retrieval.spelling import Spelling
from repertoire.retrieval.translation import Translation, translate

SEARCH, RECOMMEND, EXPLAIN, PROMPT = "search", "recommend", "explain", "prompt"
SIMPLE, MODERATE, COMPLEX = "simple", "moderate", "complex"
MAX_WORDS = 400  # of a question; the rest of a longer prompt is mostly a pasted log
_TYPES = r"(?:mcp servers?|mcp|skills?|sub-?agents?|agents?|(?:slash )?commands?|hooks?|plugins?|settings?)"
# "an agent that …", "which hooks …", "a skill for …": the type is the noun that is asked for, not a word of the task
_WANTED = re.compile(
    rf"\b(?:an?|any|some|which|what|the|find|list|best|good)\s+(?:\w+\s+)?({_TYPES})\s+"
    r"(?:that|which|who|for|to|can|could|is|are|do|does|exists?)\b",
    re.IGNORECASE,
)
# "what does pdf-forms do", "explain the docker skill": a question about one component, by its name
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
# "common auth stacks", "what goes with pdf-forms": a question about known combinations on a topic
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
# boundaries between clauses, each of which asks for one thing
_BREAK = linear.compile(
    r"[.?!;:\n]+\s+|[.?!;]+$|,\s+(?:and\s+)?(?:then\s+)?|(?:^|\s)\(?\d{1,2}\)\s+|"
    r"\s+(?:and then|and also|as well as|after that|afterwards|and|then|also|additionally|finally|but|plus)\s+"
)
_AROUND_TOPIC = re.compile(r"^(?:the|an?|our|my) |[`'\"]", re.IGNORECASE)
_CLAUSE_WORDS = 2  # content words that a clause has at least
MAX_CLAUSES = 8
_LONGEST_NAME = 200  # characters
_SIMPLE_WORDS, _COMPLEX_WORDS = 8, 60  # content words: a simple question has at most, a complex one more than
_BRIEF = 5, 10  # content words: up to the first a question is fully brief, from the second on not at all
_MOST_COUNTED = 12  # words of a question beyond which it is no longer
_COMPLEX_CLAUSES = 4  # clauses that make a question complex
# Number of components that a task needs: a constant, and its growth with each clause and each named capability.
# Learned on the train splits of four labelled sets (`bench/quality/size.py`).
_SIZE, _SIZE_A_CLAUSE, _SIZE_A_CAPABILITY = 1.35, 0.19, 0.29
MOST_NEEDED = 6

Capabilities = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Stack:
    """The technologies of a project as capabilities: those it uses, and recognisable ones that it does not use."""

    uses: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Effort:
    """The amount of work that a query mode spends on an answer."""

    clauses: bool  # whether each clause is embedded too
    loading: bool  # whether the answer may wait for the model to load
    walking: bool  # whether PageRank is computed
    depth: int  # factor on the number of candidates that full text gives
    reranked: int  # rows at the head that are reranked
    thorough: bool = False  # whether the head is reranked even if its first row leads clearly


EFFORTS = {
    FAST: Effort(clauses=False, loading=False, walking=False, depth=1, reranked=0),
    BALANCED: Effort(clauses=True, loading=True, walking=True, depth=1, reranked=20),
    THOROUGH: Effort(clauses=True, loading=True, walking=True, depth=4, reranked=50, thorough=True),
}


@dataclass(frozen=True)
class QueryPlan:
    """A question with all that its text says about how to answer it."""

    query: Query
    intent: str
    words: tuple[str, ...]
    clauses: tuple[str, ...]  # the parts of the question, if it has several
    wanted: tuple[str, ...]  # component types that the words ask for: preferred, while Query.types are required
    capabilities: tuple[str, ...]
    name: str  # the part that may be a component's id or name; empty if the question is longer than any name
    code: bool = False  # whether the question is a snippet or an API name
    complexity: str = MODERATE
    size: int = 1  # estimated number of components that the task needs
    effort: Effort = field(default=EFFORTS[BALANCED])
    stack: Stack = Stack()
    near: tuple[str, ...] = ()  # capabilities whose centroid is near to the question's vector, once it is embedded
    translation: Translation | None = None  # of a question that is not in English; the query holds its text
    exclusion: Exclusion | None = None  # what the question rules out; the query holds its text without that
    spelling: Spelling | None = None  # of misspelt names; the query holds its text
    request: ComponentRequest | None = None  # for components of a type; the query holds the job, if one is told

    @property
    def names_no_job(self) -> bool:
        """Whether the question asks for components and tells nothing that they are for."""
        return self.request is not None and not self.request.job

    @property
    def brevity(self) -> float:
        """The brevity of the question: 1 for a few words, 0 for a sentence or more."""
        few, many = _BRIEF
        return min(max((many - len(self.words)) / (many - few), 0.0), 1.0)

    @property
    def length(self) -> float:
        """The number of words, as a share of `_MOST_COUNTED`, and 1 for more of them."""
        return min(len(self.words), _MOST_COUNTED) / _MOST_COUNTED


def make_plan(
    query: Query,
    intent: str,
    capabilities: Capabilities | None = None,
    *,
    stack: Stack | None = None,
    products: Products | None = None,
) -> QueryPlan:
    """Plan a question; `capabilities` finds the capabilities that a text names, `intent` comes from the caller.

    A question about one named component is always an explanation, whatever the intent. A question in another language
    is translated into English first; what it rules out, of these `products`, is taken from it and from the stack. Of a
    request for components only the job is read, and the type is preferred; without a job, the stack stands for it.
    """
    request = None if ASKING in query.without else component_request(query.text)
    if request is not None and not request.job and stack is not None and stack.uses:
        request = replace(request, job=", ".join(sorted(stack.uses)), of_project=True)
    if request is not None and request.job:
        query = replace(query, text=request.job)
    asked = query.text.strip()
    translation = None if "languages" in query.without else translate(asked)
    if translation is not None:
        query = replace(query, text=translation.text)
    exclusion = exclusion_in(query.text, products) if products and EXCLUSION not in query.without else None
    if exclusion is not None:
        query = replace(query, text=exclusion.text)
        stack = replace(stack, uses=stack.uses - exclusion.products) if stack else None
    text = query.text.strip()
    told = request is None or bool(request.job)  # else the words name types of components alone
    named = tuple(capabilities(text)) if capabilities and told and "capabilities" not in query.without else ()
    words = tuple(content_words(text)[:MAX_WORDS])
    parts = tuple(clauses(text)) if "clauses" not in query.without else ()
    explained = explained_name(text)
    name = text if is_identifier(text) else asked
    return QueryPlan(
        query=query,
        intent=EXPLAIN if explained else intent or intent_of(text),
        words=words,
        clauses=parts,
        wanted=request.types if request else wanted_types(text),
        capabilities=named,
        name=explained or (name.removeprefix("/") if len(name) <= _LONGEST_NAME and "\n" not in name else ""),
        code=is_code(text),
        complexity=complexity_of(words, parts),
        size=size_of(parts, named),
        effort=EFFORTS[query.mode],
        stack=stack or Stack(),
        translation=translation,
        exclusion=exclusion,
        request=request,
    )


def clauses(text: str, least: int = _CLAUSE_WORDS) -> list[str]:
    """Split a question into clauses of so many content words at least; return none if there is only one."""
    parts = (part.strip(" ,.-\"'") for part in _BREAK.split(text) if part)
    found = list(dict.fromkeys(part for part in parts if len(content_words(part)) >= least))
    return found[:MAX_CLAUSES] if len(found) > 1 else []


def wanted_types(text: str) -> tuple[str, ...]:
    """Return the component types that a question asks for explicitly."""
    return tuple(dict.fromkeys(type_named(match.group(1)) for match in _WANTED.finditer(text)))


def explained_name(text: str) -> str:
    """Return the name of the component that a question asks to explain; empty for any other question."""
    match = _EXPLAINED.fullmatch(text.strip()) if len(text) <= _LONGEST_NAME else None
    if match is None:
        return ""
    name = match["name"].removeprefix("/").strip("`'")
    # "what is docker" asks about Docker: a component is named by an identifier, or by a word with a type behind it
    return name if match["type"] or is_identifier(name) else ""


def combined_topic(text: str) -> str:
    """Return the topic of a question that asks for known combinations; empty for any other question."""
    if len(text) > _LONGEST_NAME or "\n" in text:
        return ""
    found = next((match for form in _COMBINED if (match := form.fullmatch(text.strip()))), None)
    if found is None:
        return ""
    topic = _AROUND_TOPIC.sub("", found["topic"].strip())
    return topic.removeprefix("/")


def is_identifier(name: str) -> bool:
    """Tell whether a name has one of `: - _ / .` and no blank, so that it is an id or a name and no topic."""
    return " " not in name and any(mark in name for mark in ":-_/.")


def intent_of(text: str) -> str:
    """Return the intent of a question by its wording: EXPLAIN one component, RECOMMEND a set, or SEARCH."""
    if explained_name(text):
        return EXPLAIN
    return RECOMMEND if _RECOMMENDED.search(text) else SEARCH


def complexity_of(words: Sequence[str], parts: Sequence[str]) -> str:
    """Return the complexity of a question by its numbers of words and clauses: SIMPLE, MODERATE or COMPLEX."""
    if len(parts) >= _COMPLEX_CLAUSES or len(words) > _COMPLEX_WORDS:
        return COMPLEX
    return SIMPLE if not parts and len(words) <= _SIMPLE_WORDS else MODERATE


def size_of(parts: Sequence[str], named: Sequence[str]) -> int:
    """Estimate the number of components that a task needs, from its clauses and named capabilities."""
    size = _SIZE + _SIZE_A_CLAUSE * max(len(parts), 1) + _SIZE_A_CAPABILITY * len(set(named))
    return min(max(round(size), 1), MOST_NEEDED)

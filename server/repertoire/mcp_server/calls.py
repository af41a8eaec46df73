"""Which verb each tool asks, and how its arguments, checked before, become the verb's question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repertoire.app.ask.explain import ExplainRequest
from repertoire.app.traces.search import Wanted
from repertoire.app.traces.telling import Told
from repertoire.app.traces.voting import Verdict
from repertoire.domain.answer import BUDGET, Query, Task
from repertoire.domain.trace import WORKED
from repertoire.verbs.decisions import CORRECT, FORGET, MUTE, REPORT, Correction, Deletion, Saying, Silence
from repertoire.verbs.explain import EXPLAIN
from repertoire.verbs.questions import RECOMMEND, SEARCH
from repertoire.verbs.state import STATUS
from repertoire.verbs.traces import (
    AMEND,
    CONTRIBUTE,
    SEARCH_TRACES,
    SHOW_TRACE,
    TAGS,
    VOTE,
    Amending,
    Contributing,
    environment_from,
)
from repertoire.verbs.verb import Verb

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A verb, and what makes its question of a tool's arguments."""

    verb: Verb[Any, Any]
    question: Callable[[Arguments], Any]


def _query(arguments: Arguments) -> Query:
    return Query(
        arguments["query"],
        types=tuple(arguments.get("types", ())),
        using=tuple(arguments.get("using", ())),
        installed=arguments.get("installed"),
        limit=arguments["limit"],
        mode=arguments["mode"],
    )


def _task(arguments: Arguments) -> Task:
    return Task(
        arguments["task"],
        budget=arguments.get("budget", BUDGET),
        limit=arguments.get("size"),
        types=tuple(arguments.get("types", ())),
        using=tuple(arguments.get("using", ())),
        installed=arguments.get("installed"),
        mode=arguments["mode"],
    )


def _asked(arguments: Arguments) -> ExplainRequest:
    return ExplainRequest(arguments["id"], arguments.get("task", ""), graph=arguments["detail"] == "graph")


def _silence(arguments: Arguments) -> Silence:
    return Silence(arguments["target"], here=arguments.get("here", False), undo=arguments.get("undo", False))


def _saying(arguments: Arguments) -> Saying:
    return Saying(arguments["id"], arguments["outcome"], arguments.get("note", ""))


def _correction(arguments: Arguments) -> Correction:
    return Correction(arguments["id"], tuple(arguments["capabilities"]))


def _deletion(arguments: Arguments) -> Deletion:
    return Deletion(arguments["what"], arguments.get("trace", ""))


def _wanted(arguments: Arguments) -> Wanted:
    return Wanted(
        arguments.get("query", ""),
        arguments.get("error", ""),
        tuple(arguments.get("tags", ())),
        environment_from(tuple(arguments.get("context", ()))),
        arguments["limit"],
        arguments["include_expired"],
    )


def _contributing(arguments: Arguments) -> Contributing:
    if arguments.get("token"):
        return Contributing(token=arguments["token"], discard=arguments.get("discard", False))
    words = ("title", "context", "solution", "error", "watch", "review_after")
    told = Told(
        **{name: arguments.get(name, "") for name in words},
        tags=tuple(arguments.get("tags", ())),
        environment=environment_from(tuple(arguments.get("environment", ()))),
        outcome=arguments.get("outcome", WORKED),
        uses=tuple(arguments.get("uses", ())),
    )
    return Contributing(told)


def _amending(arguments: Arguments) -> Amending:
    return Amending(arguments["id"], {name: value for name, value in arguments.items() if name != "id"})


def _verdict(arguments: Arguments) -> Verdict:
    return Verdict(
        arguments["id"],
        arguments["vote"] == "up",
        arguments.get("feedback_tag", ""),
        arguments.get("feedback_text", ""),
        environment_from(tuple(arguments.get("context", ()))),
    )


CALLS: Mapping[str, Call] = {
    "search_components": Call(SEARCH, _query),
    "recommend_set": Call(RECOMMEND, _task),
    "explain_component": Call(EXPLAIN, _asked),
    "status": Call(STATUS, lambda _: None),
    "mute": Call(MUTE, _silence),
    "report_outcome": Call(REPORT, _saying),
    "set_capabilities": Call(CORRECT, _correction),
    "forget": Call(FORGET, _deletion),
    "search_traces": Call(SEARCH_TRACES, _wanted),
    "get_trace": Call(SHOW_TRACE, lambda arguments: arguments["id"]),
    "contribute_trace": Call(CONTRIBUTE, _contributing),
    "amend_trace": Call(AMEND, _amending),
    "vote_trace": Call(VOTE, _verdict),
    "list_tags": Call(TAGS, lambda _: None),
}

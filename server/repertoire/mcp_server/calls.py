"""Maps each tool to its verb, and converts the checked arguments of a call to the verb's question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from repertoire.app.ask.explain import ExplainRequest
from repertoire.app.packs.describe import PackDescriptionRequest
from repertoire.app.packs.query import PackQuestion
from repertoire.app.projects.entry_requests import (
    DeleteRequest,
    LinkRequest,
    ListQuery,
    MoveRequest,
    SaveRequest,
    save_request,
)
from repertoire.app.projects.review import ReviewRequest
from repertoire.app.projects.search import MemoryQuery
from repertoire.app.projects.show import FileQuery
from repertoire.app.projects.symbols import SymbolQuery
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.search import TraceQuery
from repertoire.app.traces.voting import NewVote
from repertoire.domain.answer import BUDGET, Query, Task
from repertoire.domain.trace import WORKED
from repertoire.verbs.decisions import (
    CORRECT,
    FORGET,
    MUTE,
    REPORT,
    CorrectionRequest,
    DeletionRequest,
    FeedbackRequest,
    MuteRequest,
)
from repertoire.verbs.explain import EXPLAIN
from repertoire.verbs.memory import DELETE_MEMORY, LINK_MEMORY, LIST_MEMORY, MOVE_MEMORY, REVIEW_MEMORY, SAVE_MEMORY
from repertoire.verbs.packs import LIST_PACKS, PACK_INFO, QUERY_PACK
from repertoire.verbs.projects import CODE_SYMBOLS, FILE_INFO, GET_MEMORY, OUTLINE, SEARCH_MEMORY
from repertoire.verbs.questions import RECOMMEND, SEARCH
from repertoire.verbs.status import STATUS
from repertoire.verbs.traces import (
    AMEND,
    CONTRIBUTE,
    SEARCH_TRACES,
    SHOW_TRACE,
    TAGS,
    VOTE,
    AmendRequest,
    ContributeRequest,
    environment_from,
)
from repertoire.verbs.verb import Verb

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """The verb of a tool, and the function that converts arguments to its question."""

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


def _explain_request(arguments: Arguments) -> ExplainRequest:
    return ExplainRequest(arguments["id"], arguments.get("task", ""), graph=arguments["detail"] == "graph")


def _mute_request(arguments: Arguments) -> MuteRequest:
    return MuteRequest(arguments["target"], here=arguments.get("here", False), undo=arguments.get("undo", False))


def _feedback_request(arguments: Arguments) -> FeedbackRequest:
    return FeedbackRequest(arguments["id"], arguments["outcome"], arguments.get("note", ""))


def _correction_request(arguments: Arguments) -> CorrectionRequest:
    return CorrectionRequest(arguments["id"], tuple(arguments["capabilities"]))


def _deletion_request(arguments: Arguments) -> DeletionRequest:
    return DeletionRequest(arguments["what"], arguments.get("trace", ""))


def _trace_query(arguments: Arguments) -> TraceQuery:
    return TraceQuery(
        arguments.get("query", ""),
        arguments.get("error", ""),
        tuple(arguments.get("tags", ())),
        environment_from(tuple(arguments.get("context", ()))),
        arguments["limit"],
        arguments["include_expired"],
    )


def _contribute_request(arguments: Arguments) -> ContributeRequest:
    if arguments.get("token"):
        return ContributeRequest(token=arguments["token"], discard=arguments.get("discard", False))
    words = ("title", "context", "solution", "error", "watch", "review_after")
    told = TraceFields(
        **{name: arguments.get(name, "") for name in words},
        tags=tuple(arguments.get("tags", ())),
        environment=environment_from(tuple(arguments.get("environment", ()))),
        outcome=arguments.get("outcome", WORKED),
        uses=tuple(arguments.get("uses", ())),
    )
    return ContributeRequest(told)


def _amend_request(arguments: Arguments) -> AmendRequest:
    return AmendRequest(arguments["id"], {name: value for name, value in arguments.items() if name != "id"})


def _vote(arguments: Arguments) -> NewVote:
    return NewVote(
        arguments["id"],
        arguments["vote"] == "up",
        arguments.get("feedback_tag", ""),
        arguments.get("feedback_text", ""),
        environment_from(tuple(arguments.get("context", ()))),
    )


def _pack_description(arguments: Mapping[str, Any]) -> PackDescriptionRequest:
    name, about = arguments["name"], arguments.get("about", "").strip()
    article, _, anchor = about.partition("#")
    is_citation = bool(article and anchor) and not any(map(str.isspace, about))
    asked = PackDescriptionRequest(name, about, offset=arguments["offset"])
    return replace(asked, about="", citation=about) if is_citation else asked


def _pack_question(arguments: Arguments) -> PackQuestion:
    switches = arguments.get("stages", "").replace(",", " ").split()
    return PackQuestion(
        arguments["question"],
        tuple(arguments.get("packs", ())),
        arguments["limit"],
        arguments.get("profile", ""),
        tuple(name.removeprefix("+") for name in switches if not name.startswith("-")),
        tuple(name.removeprefix("-") for name in switches if name.startswith("-")),
    )


def _memory_query(arguments: Arguments) -> MemoryQuery:
    return MemoryQuery(
        arguments.get("query", ""),
        tuple(arguments.get("kinds", ())),
        arguments["mode"],
        arguments["limit"],
        arguments.get("in", ""),
        arguments.get("language", ""),
    )


def _symbol_query(arguments: Arguments) -> SymbolQuery:
    return SymbolQuery(
        arguments["name"],
        arguments["action"],
        below=arguments.get("in", ""),
        depth=arguments["depth"],
        limit=arguments["limit"],
    )


def _list_query(arguments: Arguments) -> ListQuery:
    words = {name: arguments.get(name, "") for name in ("kind", "status", "tag", "words", "linked")}
    flags = {name: arguments[name] for name in ("ready", "stale")}
    return ListQuery(**words, **flags, limit=arguments["limit"], offset=arguments["offset"])


def _move_request(arguments: Arguments) -> MoveRequest:
    return MoveRequest(
        tuple(arguments["ids"]),
        arguments.get("status", ""),
        arguments.get("priority"),
        arguments.get("expected_version"),
    )


def _save_request(arguments: Arguments) -> SaveRequest:
    return save_request(arguments, key=arguments.get("id", ""))


def _file_query(arguments: Arguments) -> FileQuery:
    return FileQuery(arguments.get("path", ""), arguments.get("language", ""), arguments["limit"], arguments["offset"])


CALLS: Mapping[str, Call] = {
    "search_components": Call(SEARCH, _query),
    "recommend_set": Call(RECOMMEND, _task),
    "explain_component": Call(EXPLAIN, _explain_request),
    "status": Call(STATUS, lambda _: None),
    "mute": Call(MUTE, _mute_request),
    "report_outcome": Call(REPORT, _feedback_request),
    "set_capabilities": Call(CORRECT, _correction_request),
    "forget": Call(FORGET, _deletion_request),
    "search_traces": Call(SEARCH_TRACES, _trace_query),
    "get_trace": Call(SHOW_TRACE, lambda arguments: arguments["id"]),
    "contribute_trace": Call(CONTRIBUTE, _contribute_request),
    "amend_trace": Call(AMEND, _amend_request),
    "vote_trace": Call(VOTE, _vote),
    "list_tags": Call(TAGS, lambda _: None),
    "query_pack": Call(QUERY_PACK, _pack_question),
    "list_packs": Call(LIST_PACKS, lambda _: None),
    "pack_info": Call(PACK_INFO, _pack_description),
    "memory_list": Call(LIST_MEMORY, _list_query),
    "memory_save": Call(SAVE_MEMORY, _save_request),
    "memory_move": Call(MOVE_MEMORY, _move_request),
    "memory_link": Call(
        LINK_MEMORY,
        lambda given: LinkRequest(given["id"], given["relation"], given["target"], remove=given["remove"]),
    ),
    "memory_review": Call(
        REVIEW_MEMORY,
        lambda arguments: ReviewRequest(tuple(arguments.get("accept", ())), tuple(arguments.get("reject", ()))),
    ),
    "memory_delete": Call(
        DELETE_MEMORY, lambda given: DeleteRequest(tuple(given["ids"]), given.get("expected_version"))
    ),
    "memory_search": Call(SEARCH_MEMORY, _memory_query),
    "memory_get": Call(GET_MEMORY, lambda arguments: arguments["id"]),
    "code_symbols": Call(CODE_SYMBOLS, _symbol_query),
    "doc_outline": Call(OUTLINE, lambda arguments: arguments["path"]),
    "file_info": Call(FILE_INFO, _file_query),
}

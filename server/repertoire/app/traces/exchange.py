"""Exports traces as JSON lines and imports them, so that a team can share them as a file."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from repertoire.app.traces.fields import TraceFields, trace_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import Moment
from repertoire.domain.text import clean_line
from repertoire.domain.trace import (
    ACTIVE,
    DRAFT,
    EXPIRED,
    IN_PROJECT,
    ME,
    OTHERS,
    OUTCOMES,
    PLACES,
    SUPERSEDED,
    TEXT,
    TITLE,
    Trace,
)
from repertoire.store.database import Store

_STRING = {"type": "string"}
_LINE = {"type": "string", "maxLength": 500}
_LINES = {"type": "array", "items": _LINE, "maxItems": 100}
SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["title", "context", "solution"],
    "additionalProperties": False,
    "properties": {
        "key": _LINE,
        "title": {"type": "string", "minLength": 1, "maxLength": TITLE},
        "context": {"type": "string", "minLength": 1, "maxLength": TEXT},
        "solution": {"type": "string", "minLength": 1, "maxLength": TEXT},
        "tags": _LINES,
        "environment": {"type": "object", "properties": dict.fromkeys(PLACES, _LINE), "additionalProperties": False},
        "outcome": {"enum": list(OUTCOMES)},
        "status": {"enum": [ACTIVE, SUPERSEDED, EXPIRED]},
        "review_after": _LINE,
        "watch": _LINE,
        "uses": _LINES,
        "author": _LINE,
        "licence": _LINE,
        "version": {"type": "integer", "minimum": 1, "maximum": 10_000},
        "supersedes": _LINE,
        "at": _LINE,
    },
}
_LONGEST = 200_000  # characters of a line
_SAID = 160
_BATCH = 250  # lines a transaction: so many are done again where an import is interrupted


@dataclass(frozen=True)
class Imported:
    """The result of an import: the number of new and of known traces, and why lines were rejected, by line number."""

    added: int
    known: int
    refused: tuple[tuple[int, str], ...] = ()


def exported(store: Store) -> Iterator[str]:
    """Yield every trace except drafts as a JSON line, without sessions, projects and votes."""
    for trace in store.traces.all():
        if trace.status != DRAFT:
            yield json.dumps(line_fields(trace), ensure_ascii=False, sort_keys=True)


def line_fields(trace: Trace) -> dict[str, Any]:
    """Return the fields of a trace that a JSON line holds."""
    told = {name: getattr(trace, name) for name in SCHEMA["properties"]}
    told["uses"] = tuple(use for use in trace.uses if not use.startswith(IN_PROJECT))
    told["author"] = "" if trace.author == ME else trace.author  # who `me` is differs from home to home
    return {name: list(value) if isinstance(value, tuple) else value for name, value in told.items() if value}


def import_lines(
    store: Store,
    lines: Iterable[str],
    *,
    moment: Moment,
    may_replace_own: bool = False,
    report: Callable[[int], None] = lambda _done: None,
) -> Imported:
    """Import the traces of JSON lines; each is redacted, scanned and given its key, as a contribution is.

    What is in the file is active, however its key is spelled there; the same trace again changes nothing. It replaces
    no trace that was written here, unless it `may_replace_own`: where a server has checked who amends what. `report`
    hears how many lines are done, and what was done by then is kept, whatever ends the rest.
    """
    validator = Draft202012Validator(SCHEMA)
    added = known = 0
    refused: list[tuple[int, str]] = []
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    while batch := list(itertools.islice(numbered, _BATCH)):
        traces: dict[str, Trace] = {}
        for number, line in batch:
            try:
                told = _told(validator, line)
                trace = None if _is_kept(store, told) else _trace(told, moment)
            except InvalidRequest as error:
                refused.append((number, str(error)))
                continue
            known += trace is None or trace.key in traces
            if trace is not None:
                traces.setdefault(trace.key, trace)
        with store.transaction():  # all that needs no lock is done before it is taken
            new = [trace for trace in traces.values() if _is_new(store, trace)]
            new = new if may_replace_own else [_beside_own(store, trace) for trace in new]
            store.traces.put_many(new, now=moment.at)
        added, known = added + len(new), known + len(traces) - len(new)
        report(batch[-1][0])
    return Imported(added, known, tuple(refused))


def _is_kept(store: Store, told: Mapping[str, Any]) -> bool:
    """Tell whether the store has exactly the trace of a line, so that it need not be scanned again."""
    kept = store.traces.get(told["key"]) if "key" in told else None
    return (
        kept is not None
        and kept.status != DRAFT
        and all(told[name] == getattr(kept, name) for name in ("title", "context", "solution"))
    )


def _beside_own(store: Store, trace: Trace) -> Trace:
    """Return a trace that leaves in use what was written here, though a stranger's file says that it replaces it."""
    replaced = store.traces.get(trace.supersedes) if trace.supersedes else None
    return replace(trace, supersedes="") if replaced is not None and replaced.author == ME else trace


def _is_new(store: Store, trace: Trace) -> bool:
    state = store.traces.state(trace.key)
    return state in {"", DRAFT}


def _told(validator: Draft202012Validator, line: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(line) if len(line) <= _LONGEST else {}
    except (ValueError, RecursionError) as error:
        message = f"is no JSON ({clean_line(str(error), _SAID)})"
        raise InvalidRequest(message) from error
    wrong = best_match(validator.iter_errors(told))
    if wrong is not None:
        where = "/".join(map(str, wrong.path))
        message = clean_line(f"{where}: {wrong.message}" if where else wrong.message, _SAID)
        raise InvalidRequest(message)
    return told


def _trace(told: Mapping[str, Any], moment: Moment) -> Trace:
    names = (
        "title",
        "context",
        "solution",
        "environment",
        "outcome",
        "review_after",
        "watch",
        "licence",
        "author",
        "supersedes",
    )
    values: dict[str, Any] = {name: told[name] for name in names if name in told}
    values.update((name, tuple(told[name])) for name in ("tags", "uses") if name in told)
    trace = trace_of(TraceFields(**values), project="", session="", now=moment.at)
    return replace(
        trace,
        author=OTHERS if trace.author == ME else trace.author,  # as it is stored: one that is not readable is `me` too
        status=told.get("status", ACTIVE),
        version=told.get("version", 1),
        at=clean_line(told.get("at", ""), 20) or moment.at,
    )

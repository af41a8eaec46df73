"""Makes a trace from its author's fields: cut, redacted, scanned, with the signatures of its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from repertoire.domain.component import SKILL, Component
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.project import is_day
from repertoire.domain.text import clean_line
from repertoire.domain.trace import (
    LEFT_OUT,
    ME,
    NOTE,
    OUTCOMES,
    PLACES,
    SIGNATURE,
    SUPERSEDED,
    TAGS,
    TEXT,
    TITLE,
    TRACE,
    USES,
    WORKED,
    Trace,
)
from repertoire.domain.trust import HIGH, MEDIUM, Flag, rank
from repertoire.traces.privacy import without_places
from repertoire.traces.signature import HEAD, TAIL, Signature, signatures_in
from repertoire.trust.prompt_injection import ORDER
from repertoire.trust.redaction import MOST, redact, without_key_blocks
from repertoire.trust.scan import scan

_TAG, _PLACE, _KEY, _LEAST = 40, 60, 300, 10
_PASSES = 8  # a place that is taken out may show a secret, as in `pass=hunter22@/home/jane`
_TAIL = TAIL - 100  # characters of a long text's end, beside a line that says what is left out


@dataclass(frozen=True)
class TraceFields:
    """The fields of a trace as its author gives them."""

    title: str
    context: str
    solution: str
    tags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    error: str = ""  # what was printed: it joins the context
    outcome: str = WORKED
    uses: tuple[str, ...] = ()
    review_after: str = ""
    watch: str = ""
    licence: str = ""
    supersedes: str = ""
    author: str = ME


def fields_to_amend(trace: Trace) -> TraceFields:
    """Return the fields of a new version of a trace, as long as nothing is changed."""
    return TraceFields(
        trace.title,
        trace.context,
        trace.solution,
        trace.tags,
        trace.environment,
        outcome=trace.outcome,
        uses=trace.uses,
        review_after=trace.review_after,
        watch=trace.watch,
        licence=trace.licence,
        supersedes=trace.key,
    )


def amending(trace: Trace, before: Trace) -> Trace:
    """Return a trace as the next version of another.

    Raises:
        InvalidRequest: the other one was amended already.
    """
    if before.status == SUPERSEDED:
        message = f"{before.key} was amended already; amend the trace that superseded it"
        raise InvalidRequest(message)
    return replace(trace, supersedes=before.key, version=before.version + 1)


def says_the_same(trace: Trace, before: Trace) -> bool:
    """Tell whether an amended version changes nothing that an amendment can change."""
    parts = ("title", "context", "solution", "outcome", "review_after", "watch")
    return all(getattr(trace, part) == getattr(before, part) for part in parts)


def trace_of(told: TraceFields, *, project: str, session: str, now: str) -> Trace:
    """Return a draft of a trace: its texts redacted, its errors' signatures found, its words scanned.

    Raises:
        InvalidRequest: a part is missing, or none that there is.
    """
    title, context, solution = (
        clean_line(redacted(told.title, project), TITLE),
        redacted(_with_error(told), project),
        redacted(told.solution, project),
    )
    for name, text in (("title", title), ("context", context), ("solution", solution)):
        if not text.strip():
            message = f"the {name} is empty; a trace needs title, context and solution"
            raise InvalidRequest(message)
    if told.outcome not in OUTCOMES:
        message = f"{clean_line(told.outcome, 40)!r} is no outcome; send one of {', '.join(OUTCOMES)}"
        raise InvalidRequest(message)
    if told.review_after.strip() and not is_day(told.review_after.strip()):
        message = f"{clean_line(told.review_after, 40)!r} is no day; send one as 2026-12-31"
        raise InvalidRequest(message)
    trace = Trace(
        key_of(title, context, solution),
        title,
        context,
        solution,
        tags_of(told.tags),
        environment_of(told.environment),
        told.outcome,
        uses=tuple(dict.fromkeys(clean_line(use, _KEY) for use in told.uses if use.strip()))[:USES],
        review_after=clean_line(told.review_after, 10),
        watch=clean_line(redacted(told.watch, project), NOTE),
        signatures=signatures_of(context),
        session=session,
        project=project,
        author=clean_line(told.author, _PLACE) or ME,
        licence=clean_line(told.licence, _PLACE),
        supersedes=told.supersedes,
        at=now,
    )
    trace = replace(trace, flags=flags_of(trace))
    return replace(trace, key=_key_in_the_same_words(trace)) if amends_in_the_same_words(trace) else trace


def redacted(text: str, project: str = "") -> str:
    """Return a text without secrets, addresses, and names of users and machines.

    Of one that is longer than what is stored, the beginning and the end are kept, where a log tells of its error.
    """
    text = without_key_blocks(text)  # a half of one is known for none
    head = _cleaned(text[:TEXT], project)
    if max(len(text), len(head)) <= TEXT:
        return head
    tail = _cleaned(text[-TEXT:], project)  # cut after it was redacted: half a secret is not known for one
    head, tail = head[:HEAD].rpartition("\n")[0] or head[:HEAD], tail[-_TAIL:].partition("\n")[2] or tail[-_TAIL:]
    return f"{head}\n[… {LEFT_OUT} of {len(text)} characters …]\n{tail}"


def _cleaned(text: str, project: str) -> str:
    for _ in range(_PASSES):
        told = text
        parts = (told[start : start + MOST] for start in range(0, len(told), MOST))
        text = without_places("".join(redact(part) for part in parts), project).strip()
        if text == told:
            break
    return text


def key_of(title: str, context: str, solution: str) -> str:
    """Return the key of a trace: a hash of its words, the same on every machine."""
    told = "\0".join((title, context, solution))
    return f"{TRACE}:{digest_of(told)[:12]}"


def amends_in_the_same_words(trace: Trace) -> bool:
    """Tell whether a trace supersedes one of the same words, as their keys say."""
    return trace.supersedes.startswith(key_of(trace.title, trace.context, trace.solution))


def _key_in_the_same_words(trace: Trace) -> str:
    """Return the key of an amendment that keeps the words, which without the rest would be the one of what it amends.

    It is made of what is told of the trace alone, so that every machine gives it the same, whatever it has stored.
    """
    changed = "\0".join((trace.supersedes, trace.outcome, trace.review_after, trace.watch))
    return f"{key_of(trace.title, trace.context, trace.solution)}-{digest_of(changed)[:8]}"


def tags_of(tags: Sequence[str]) -> tuple[str, ...]:
    """Return normalised tags, each once, without those that hold a secret, an address or a place."""
    spelled = ("-".join(clean_line(tag, _TAG).lower().split()) for tag in tags if redacted(tag) == tag.strip())
    return tuple(dict.fromkeys(tag for tag in spelled if tag))[:TAGS]


def environment_of(told: Mapping[str, str]) -> dict[str, str]:
    """Return the parts of an environment that are stored: those that can be compared, redacted.

    Raises:
        InvalidRequest: it names a place that there is not.
    """
    unknown = [place for place in told if place not in PLACES]
    if unknown:
        message = f"an environment names {', '.join(PLACES)}, not {clean_line(unknown[0], 40)!r}"
        raise InvalidRequest(message)
    return {place: clean_line(redacted(str(told[place])), _PLACE).lower() for place in PLACES if told.get(place)}


def keys_of(signature: Signature) -> tuple[str, ...]:
    """Return the keys of an error's signature, from the most to the least specific."""
    return (
        f"{SIGNATURE}:exact:{signature.exact}",
        f"{SIGNATURE}:key:{signature.key}",
        f"{SIGNATURE}:coarse:{signature.coarse}",
    )


def signatures_of(text: str) -> dict[str, str]:
    """Map the signature keys of every error in a text to the error's masked message."""
    return {key: f"{one.exception} {one.template}".strip() for one in signatures_in(text) for key in keys_of(one)}


def flags_of(trace: Trace) -> tuple[Flag, ...]:
    """Return the flags that the scan of components raises for what a model may read of a trace, the gravest first.

    What is doubtful in a skill, which is written for a model, is grave here: nobody tells of an error by giving orders.
    """
    texts = (trace.title, trace.context, trace.solution)
    beside = (trace.watch, trace.licence, trace.author, *trace.environment.values())
    names = (tag.replace("-", " ") for tag in trace.tags)
    body = "\n\n".join((*texts, *filter(None, beside)))
    found = scan(Component(TRACE, TRACE, SKILL, body=body, path=f"{TRACE}.md"), body, shown=(*texts, *beside, *names))
    raised = (
        replace(flag, severity=HIGH) if flag.rule == ORDER and flag.severity == MEDIUM else flag for flag in found
    )
    return tuple(sorted(raised, key=lambda flag: -rank(flag.severity)))


def _with_error(told: TraceFields) -> str:
    error = told.error.strip()
    return told.context if not error or error in told.context else f"{told.context.rstrip()}\n\n{error}"

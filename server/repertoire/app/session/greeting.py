"""Writes the greeting's text: the project's technologies, and the components that fit them, each with a reason.

The session hook runs this with any Python from 3.9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from repertoire.app.session.install_program import missing_program
from repertoire.catalogue.fitting import COMMON, Fit
from repertoire.catalogue.profile import Profile
from repertoire.domain.hint import HintItem, hint_text
from repertoire.domain.text import clean_line, in_quotes
from repertoire.domain.tokens import tokens_of

_NAMED_TERMS = 4
_TITLE = 120  # characters of a trace's or an entry's title
_FAULT = 200  # characters of what is wrong with the settings
_OFFER = (
    "Repertoire can remember this project (code, documents, decisions, tasks); nothing is read before somebody runs "
    "`repertoire project init`. This line comes once."
)


@dataclass(frozen=True)
class Greeting:
    """The greeting's text, and the components and traces that it names."""

    text: str = ""
    items: tuple[HintItem, ...] = ()
    solved: tuple[tuple[str, str], ...] = ()  # key and title of the traces that it names
    held: Mapping[str, str] = field(default_factory=dict)  # key of each trace that it leaves out, and why
    offers_memory: bool = False


def worded(profile: Profile, fits: Sequence[Fit], solved: Sequence[tuple[str, str]] = ()) -> Greeting:
    """Return the greeting's text: the components that fit the project's technologies, and what was `solved` in it."""
    items = tuple(_item(profile, fit) for fit in fits)
    named = dict.fromkeys(_said(term, profile.evidence[term]) for term in profile.terms if term not in COMMON)
    told = ", ".join(list(named)[:_NAMED_TERMS])  # one package may stand for several terms
    hint = hint_text(f"Repertoire: this project uses {told}; components that fit it", items)
    return Greeting("\n".join(part for part in (hint, _solved_lines(solved)) if part), items, tuple(solved))


def with_memory(
    greeting: Greeting, parts: Sequence[tuple[str, Sequence[tuple[str, str]]]], *, most_tokens: int
) -> Greeting:
    """Return a greeting that also names entries of the project, by id and title under headings, within its tokens."""
    text = greeting.text
    for heading, named in parts:
        before = heading
        for key, title in named:
            said = "\n".join(part for part in (text, before, solved_line(key, title)) if part)
            if tokens_of(said) <= most_tokens:
                text, before = said, ""
    return replace(greeting, text=text)


def with_offer(greeting: Greeting, *, most_tokens: int) -> Greeting:
    """Return a greeting that also says how the project's memory is begun, if it stays within its tokens."""
    said = "\n".join(part for part in (greeting.text, _OFFER) if part)
    return replace(greeting, text=said, offers_memory=True) if tokens_of(said) <= most_tokens else greeting


def with_fault(greeting: Greeting, fault: str) -> Greeting:
    """Return a greeting that also says in one line which setting is left out as invalid."""
    said = clean_line(fault.partition("; ")[0], _FAULT)
    line = f"Repertoire: {said}; hooks go on with what is valid, `repertoire doctor` says more."
    return replace(greeting, text=f"{greeting.text}\n{line}")


def _solved_lines(traces: Sequence[tuple[str, str]]) -> str:
    """Return a heading and one line for each solved trace, its title quoted; empty without traces."""
    if not traces:
        return ""
    lines = [solved_line(*trace) for trace in traces]
    return "\n".join(["Repertoire: problems that were solved in this project (search_traces, get_trace)", *lines])


def solved_line(key: str, title: str) -> str:
    """Return the line of one trace."""
    return f"- {in_quotes(title, _TITLE)} ({key})"


def _item(profile: Profile, fit: Fit) -> HintItem:
    candidate = fit.candidate
    telling = [term for term in fit.terms if term not in COMMON] or list(fit.terms)
    reasons = [_reason(term, clean_line(profile.evidence[term], 60)) for term in telling[:2]]
    return HintItem(
        id=candidate.id,
        name=candidate.call if candidate.installed and candidate.call else candidate.name,
        type=candidate.type,
        description=candidate.description,
        why=" and ".join(reasons),
        installed=candidate.installed,
        install=candidate.install,
        along=candidate.along,
        whole=candidate.whole,
        alone=candidate.alone,
        by_person=candidate.by_person,
        missing=missing_program(candidate.install),
    )


def _said(term: str, evidence: str) -> str:
    """Return a technology's name as the project's manifest writes it, else its term in the vocabulary."""
    package, named, _ = evidence.partition(" in ")
    return clean_line(package, 60) if named else term


def _reason(term: str, evidence: str) -> str:
    return evidence if evidence.lower().startswith(f"{term} in ") else f"{term} ({evidence})"

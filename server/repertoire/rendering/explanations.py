"""Renders everything known about one component; its author's text is capped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from repertoire.app.ask.explain import Explanation, RankForTask, Twin, UseHistory
from repertoire.domain.answer import Item, Other
from repertoire.domain.component import (
    AGENT,
    ALTERNATIVE_TO,
    CATALOGUE,
    CO_OCCURS_WITH,
    COMMAND,
    HOOK,
    MENTIONS,
    ONE_PLUGIN,
    PART_OF,
    REQUIREMENT,
    SKILL,
    Component,
)
from repertoire.domain.invocation import MODEL
from repertoire.domain.soundness import LOST
from repertoire.domain.technologies import technologies_of
from repertoire.domain.text import clean_line, counted, to_copy
from repertoire.ports import Link, StoredComponent
from repertoire.rendering.answers import (
    LINE,
    NAME,
    client_text,
    elsewhere_lines,
    invocation_lines,
    other_text,
    own_value_lines,
    state_of,
    type_name,
    unit_lines,
    why_text,
)
from repertoire.rendering.data import unit_data
from repertoire.rendering.flags import description_of, flag_lines, is_withheld, refused_install
from repertoire.rendering.freshness import copy_text, freshness_text, lost_text
from repertoire.rendering.graphs import graph_data, graph_text
from repertoire.rendering.traces import named_data, named_text
from repertoire.rendering.usage import lift_text
from repertoire.sources.requirement_checks import RequirementCheck

_DESCRIPTION = 600
_EXCERPT = 400
_EXPORTS = 12
_EVIDENCE = 100
_RELATED, _ID = 8, 200
_NAMESAKES, _NAMESAKES_DATA = 3, 19
_CHECKED = frozenset((SKILL, AGENT, COMMAND, HOOK))  # all that they consist of is read
_RELATIONS = {
    CO_OCCURS_WITH: "often together with",
    ALTERNATIVE_TO: "alternative to",
    (PART_OF, True): "part of",
    (PART_OF, False): "contains",
    (MENTIONS, True): "mentions",
    (MENTIONS, False): "mentioned by",
}


def explanation_text(explanation: Explanation) -> str:
    """Render an explanation, without the lines that would be empty."""
    component = explanation.stored.component
    lines = [f"{clean_line(component.name, NAME)} ({type_name(component)}, {state_of(component)})"]
    lines += _chosen(explanation)
    lines += _line("warning", explanation.warning)
    lines += [client_text(component)] if component.client else []
    lines += flag_lines(component.flags) or _line("checks", _checked(explanation.stored))
    lines += _line("description", description_of(component, _DESCRIPTION))
    if not is_withheld(component):
        lines += _line("excerpt", _excerpt(component))
        lines += _line("examples", "; ".join(clean_line(example, LINE) for example in component.examples[:2]))
        lines += _fields(component)
    lines += _starting(component, explanation.refused)
    lines += _line("provides", _names(explanation.provides))
    lines += _line("needs", "; ".join(_need(link, explanation.conditions) for link in explanation.needs))
    lines += _line("allowed tools", clean_line(", ".join(component.allowed_tools), LINE))
    lines += _relations(explanation)
    lines += _standing(explanation.standing)
    lines += _install(component)
    lines += unit_lines(explanation.unit, component)
    lines += _line("origin", _origin(explanation))
    lines += _line("licence", clean_line(component.licence, NAME) or "not stated")
    lines += _line("dates", _dates(explanation))
    lines += _line("freshness", freshness_text(explanation.freshness))
    lines += _line("installed copy", copy_text(explanation.copy))
    lines += _line("source", lost_text(explanation.lost))
    lines += [
        f"warning: {clean_line(trouble.text, 2 * LINE)}" for trouble in explanation.troubles if trouble.kind != LOST
    ]
    lines += _line("used", _used(explanation))
    lines += _line("lift", lift_text(explanation.lift))
    lines += ["solved with it (get_trace, or `repertoire trace show`, shows each):"] if explanation.traces else []
    lines += [f"  - {named_text(named)}" for named in explanation.traces]
    namesakes = [clean_line(one, _ID) for one in explanation.namesakes]
    lines += _line("same name", ", ".join(_first(namesakes, _NAMESAKES)))
    lines += [f"id: {clean_line(component.id, 300)}"]
    return "\n".join([*lines, *([graph_text(explanation.graph)] if explanation.graph is not None else [])])


def _relations(explanation: Explanation) -> list[str]:
    called = _names_apart(explanation)
    needing = [called[link.other] for link in explanation.needed_by]
    related = [_related(link, called) for link in explanation.goes_with]
    against = [_against(link, called) for link in explanation.conflicts]
    beside = [*related[:_RELATED], *map(other_text, _companions(explanation)), *_more(len(related) - _RELATED)]
    return [
        *_line("needed by", ", ".join(_first(needing, _RELATED))),
        *_list("works with", beside),
        *_list("conflicts with", _first(against, _RELATED)),
        *_list("copies", [*map(_twin, explanation.twins), *_more(explanation.more_twins)]),
    ]


def _companions(explanation: Explanation) -> list[Other]:
    """Return the companions but those that are told to be of the same plugin already."""
    named = {link.other for link in explanation.goes_with[:_RELATED] if link.evidence == ONE_PLUGIN}
    return [other for other in explanation.companions if other.component.id not in named]


def _list(label: str, rows: Sequence[str]) -> list[str]:
    return [f"{label}:", *(f"  - {row}" for row in rows)] if rows else []


def _chosen(explanation: Explanation) -> list[str]:
    """Return the line that says which of several components of a name is explained."""
    component, several = explanation.stored.component, len(explanation.namesakes) + 1
    named = f"{several} are called {clean_line(component.name, NAME)}; this is {clean_line(component.id, _ID)}"
    return [named] if several > 1 else []


def _first(told: list[str], most: int) -> list[str]:
    return [*told[:most], *_more(len(told) - most)]


def _more(count: int) -> list[str]:
    return [f"and {count} more"] if count > 0 else []


def _checked(stored: StoredComponent) -> str:
    """Say what the checks did with a component without a flag; nothing of what has its programs elsewhere."""
    if stored.accepted:
        return f"accepted by you on {stored.accepted[:10]}"
    if stored.source_kind == CATALOGUE:
        place = clean_line(stored.component.repository, NAME)
        return f"none, its files were not read; ingest_repo, or `repertoire ingest https://{place}`, reads them"
    return "nothing found" if stored.component.type in _CHECKED else ""


def _excerpt(component: Component) -> str:
    """Return the beginning of a component's text, without the description that the catalogue's texts begin with."""
    description = component.description.strip()
    return clean_line(component.body.strip().removeprefix(description), _EXCERPT)


def _standing(standing: RankForTask | None) -> list[str]:
    if standing is None:
        return []
    task = clean_line(standing.task, 120)
    verdict = f"confidence {standing.confidence:.2f}" + ("" if standing.fits else ", nothing fits well")
    if standing.hit is None:
        lines = [f'for "{task}": not ranked ({verdict})']
    else:
        parts = ", ".join(f"{name} {value:.3f}" for name, value in sorted(standing.hit.parts.items()) if value)
        lines = [f'for "{task}": rank {standing.rank} ({verdict})']
        lines += _line("  why", "; ".join(why_text(why) for why in standing.hit.whys))
        lines += _line("  score", f"{standing.hit.score:.3f} ({parts})" if parts else f"{standing.hit.score:.3f}")
    lines += _line("  in the set", _verdict(standing))
    lines += _line(
        "  stages", "; ".join(f"{stage.stage} {stage.ms:.1f} ms ({stage.detail})" for stage in standing.report)
    )
    if standing.rank != 1:
        first = ", ".join(f"{clean_line(c.name, NAME)} ({type_name(c)})" for c in standing.first)
        lines += _line("  ranked first", first)
    return lines


def _verdict(standing: RankForTask) -> str:
    told = standing.verdict
    if isinstance(told, Item):
        role = clean_line(told.role, LINE)
        return f"yes, for {role}" if role else "yes"
    return f"no, {other_text(told).partition(': ')[2]}" if told is not None else ""


def _line(label: str, text: str) -> list[str]:
    return [f"{label}: {text}"] if text else []


def _fields(component: Component) -> list[str]:
    fields = technologies_of(component.front_matter)
    exports = ", ".join(fields.exports[:_EXPORTS]) + (", …" if len(fields.exports) > _EXPORTS else "")
    technologies = "; ".join(", ".join(part) for part in (fields.languages, fields.frameworks, fields.patterns) if part)
    return [*_line("technologies", technologies), *_line("exports", exports)]


def _starting(component: Component, refused: str) -> list[str]:
    """Return the name that starts an installed component, where it is not its own, and who alone can start it."""
    name = component.call_name if component.installed else component.name
    by_model = ["only the model can start it"] if component.invocation == MODEL else []
    started = _line("started as", clean_line(name, LINE) if name != component.name else "")
    return [*started, *by_model, *invocation_lines(component), *([clean_line(refused, LINE)] if refused else [])]


def _names(links: Sequence[Link]) -> str:
    return ", ".join(clean_line(link.other_name, NAME) for link in links)


def _need(link: Link, conditions: Mapping[str, RequirementCheck]) -> str:
    if link.other_type != REQUIREMENT:
        return clean_line(link.other_name, NAME)
    kind, _, name = link.other_name.partition(":")  # such as `binary:docker`, `env:API_KEY`
    condition = conditions.get(link.other_name)
    if condition is None or condition.met is None:
        state = ""
    else:
        state = " (here)" if condition.met else f" ({condition.text.rpartition(', ')[2]})"
    return clean_line(f"{kind.replace('_', ' ')} {name}{state}", NAME)


def _names_apart(explanation: Explanation) -> dict[str, str]:
    """Return the name of each related component by its id, with the id where another one, or it itself, is so called.

    Without the ids nobody could look at one of five `code-review`, or act on it.
    """
    links = (*explanation.needed_by, *explanation.goes_with, *explanation.conflicts)
    names = {explanation.stored.component.id: explanation.stored.component.name}
    names |= {link.other: link.other_name for link in links}
    times = Counter(name.lower() for name in names.values())
    return {
        key: clean_line(name, NAME) + (f" [{clean_line(key, _ID)}]" if times[name.lower()] > 1 else "")
        for key, name in names.items()
    }


def _related(link: Link, called: Mapping[str, str]) -> str:
    relation = _RELATIONS.get(link.relation) or _RELATIONS[link.relation, link.outgoing]
    evidence = clean_line(link.evidence, _EVIDENCE)
    return f"{relation} {called[link.other]}" + (f" ({evidence})" if evidence else "")


def _against(link: Link, called: Mapping[str, str]) -> str:
    evidence = clean_line(link.evidence, LINE)
    return called[link.other] + (f" ({evidence})" if evidence else "")


def _twin(twin: Twin) -> str:
    state = ", installed" if twin.installed else ""
    told = f"{clean_line(twin.evidence, _EVIDENCE)}{state}"
    return f"{clean_line(twin.id, 200)} ({told}): {clean_line(twin.difference, LINE)}"


def _install(component: Component) -> list[str]:
    if component.installed or not component.install:
        return elsewhere_lines(component)
    if refusal := refused_install(component):
        return [f"install: {refusal}"]
    return ["install:", *(f"  {line}" for line in (*to_copy(component.install), *own_value_lines(component.install)))]


def _origin(explanation: Explanation) -> str:
    component = explanation.stored.component
    parts = [component.repository or explanation.stored.source, component.path]
    if component.plugin:
        place = f"plugin {component.plugin}" + (
            f" of marketplace {component.marketplace}" if component.marketplace else ""
        )
        parts.append(place)
    return ", ".join(clean_line(part, 200) for part in parts if part)


def _dates(explanation: Explanation) -> str:
    component = explanation.stored.component
    parts = []
    if component.first_commit:
        parts.append(f"first commit {component.first_commit[:10]}, last {component.last_commit[:10]}")
    parts.append(f"known here since {explanation.stored.first_seen[:10]}, version {component.version}")
    return "; ".join(parts)


def _used(explanation: Explanation) -> str:
    times, history = explanation.selections, explanation.history
    counts = ((history.installed, "installed"), (history.offered, "suggested"))
    told = [_calls(history), *(f"{what} {_often(count)}" for count, what in counts if count)]
    if history.used and history.failed:
        told.append(f"its call failed {_often(history.failed)}")
    if times:
        told.append("chosen for one request" if times == 1 else f"chosen for {times} requests")
    known = history.went_well + history.went_wrong
    if known:
        told.append(f"went well {history.went_well} of {counted(known, 'time')} with a known outcome")
    return "; ".join([*told, *(["muted, so not suggested here"] if explanation.muted else [])])


def _calls(history: UseHistory) -> str:
    if history.used:
        return f"{_often(history.used)}, last {history.last_used[:10]}"
    if not history.failed:
        return "not recorded yet"
    return "called once, which failed" if history.failed == 1 else f"called {history.failed} times, all failed"


def _often(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def explanation_data(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as a JSON object."""
    component, standing = explanation.stored.component, explanation.standing
    return {
        "id": component.id,
        "name": clean_line(component.name, 80),
        "type": component.type,
        "installed": component.installed,
        "description": description_of(component, 1000),
        "flags": flag_lines(component.flags),
        "provides": _other_names(explanation.provides),
        "needs": _other_names(explanation.needs),
        "goes_with": [
            *_other_names(explanation.goes_with[:_RELATED]),
            *(clean_line(other.component.name, 80) for other in _companions(explanation)),
        ],
        "conflicts": _other_names(explanation.conflicts[:_RELATED]),
        "same_name": list(explanation.namesakes[:_NAMESAKES_DATA]),
        "install": list(to_copy(component.install)),
        "client": component.client,
        "brings": unit_data(explanation.unit),
        "source": explanation.stored.source,
        "licence": clean_line(component.licence, 80),
        "muted": explanation.muted,
        "refused": bool(explanation.refused),
        "used": _history_data(explanation.history),
        "traces": [named_data(named) for named in explanation.traces],
        "rank": standing.rank if standing is not None else None,
        "in_set": _in_set(standing),
        "whys": [why_text(why) for why in standing.hit.whys] if standing and standing.hit else [],
        "lacking": [clean_line(c.text, 200) for c in explanation.conditions.values() if c.met is False],
        **({"graph": graph_data(explanation.graph)} if explanation.graph is not None else {}),
    }


def _history_data(history: UseHistory) -> dict[str, int]:
    return {
        "offered": history.offered,
        "selected": history.used + history.installed,
        "installed": history.installed,
        "failed": history.failed,
    }


def _in_set(standing: RankForTask | None) -> str:
    """Return `yes` if the component is in the set for the task, else the reason why not; empty without a task."""
    if standing is None:
        return ""
    if isinstance(standing.verdict, Item):
        return "yes"
    return clean_line(standing.verdict.reason, 200) if standing.verdict is not None else "not close enough"


def _other_names(links: Sequence[Link]) -> list[str]:
    return [clean_line(link.other_name, 80) for link in links]

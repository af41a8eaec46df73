"""Renders search results and recommended sets; an author's text is always one capped, printable line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from repertoire.domain.answer import Answer, Facet, Hit, Item, Other, Recommendation, Unit, Why
from repertoire.domain.component import COMPONENT, Component, alone_line, is_pointer, not_installable, stands_alone
from repertoire.domain.hint import MANY
from repertoire.domain.invocation import MATCHED, NOBODY, PERSON, REFUSED
from repertoire.domain.text import clean_line, counted, few, to_copy
from repertoire.installing.steps import own_values
from repertoire.rendering.combinations import combination_lines, companion_lines
from repertoire.rendering.flags import description_of, flag_lines, refused_install

DESCRIPTION, NAME, LINE = 200, 80, 160
_WHYS = 3  # reasons shown for a hit
_MISSES = 3  # shown where nothing fits
_NEXT = 4  # shown beside a set: of 130 sets that a model judged, it took 22 of these instead, and no fifth
_TROUBLES = 2
_NEEDS = 6


def answer_text(answer: Answer) -> str:
    """Render a ranked list; if nothing fits, say so and list the nearest misses."""
    beside = [*combination_lines(answer.combinations), *companion_lines(answer.companions)]
    if not answer.hits:
        return _join(beside or ["Nothing fits, and nothing is close."], degraded_lines(answer.degraded))
    heading = (
        f"{counted(len(answer.hits), 'component')}, best first:"
        if answer.fits
        else "Nothing fits well. The nearest misses:"
    )
    blocks = [hit_lines(hit, f"{rank}.") for rank, hit in enumerate(answer.hits, 1)]
    return _join(beside, [heading], *blocks, degraded_lines(answer.degraded))


def recommendation_text(recommendation: Recommendation) -> str:
    """Render a set with reasons, install lines and the needs it does not cover; or say that nothing fits."""
    if recommendation.facets:
        return _join(_facets(recommendation.facets), degraded_lines(recommendation.degraded))
    if not recommendation.items:
        near = [hit_lines(hit, "-") for hit in recommendation.near[:_MISSES]]
        heading = "Nothing fits this task."
        if near:
            heading += " The nearest misses:"
        beside = [*combination_lines(recommendation.combinations), *companion_lines(recommendation.companions)]
        return _join(
            [heading],
            *near,
            beside,
            _gaps(recommendation),
            [f"Warning: {clean_line(warning, LINE)}" for warning in recommendation.warnings],
            degraded_lines(recommendation.degraded),
        )
    return _join(
        [_heading(recommendation)],
        *_members(recommendation.items),
        _companions(recommendation.companions),
        combination_lines(recommendation.combinations),
        _install(recommendation),
        _needs(recommendation),
        _gaps(recommendation),
        [f"Warning: {clean_line(warning, LINE)}" for warning in recommendation.warnings],
        _next(recommendation),
        _why_not(recommendation),
        degraded_lines(recommendation.degraded),
    )


def _facets(facets: Sequence[Facet]) -> list[str]:
    """Render the questions that narrow a vague task, one facet a line."""
    asked = _indent(
        f"{facet.name}: {', '.join(clean_line(value, NAME) for value in facet.values)}, or else" for facet in facets
    )
    return [
        "This task is too vague for a set. Ask which of these is meant; likely answers:",
        *asked,
        "Ask again with the answer in the task.",
    ]


def other_text(other: Other) -> str:
    """Render a component that is not in the set: the reason, and the change that would add it."""
    name = f"{clean_line(other.component.name, NAME)} ({type_name(other.component)})"
    return ": ".join((name, *_refusal(other)))


def hit_lines(hit: Hit, bullet: str) -> list[str]:
    """Render a hit: name, type, state, one line of description, reasons, install line and id."""
    component = hit.component
    return [
        f"{bullet} {_title(component)}",
        *_indent(_described(component)),
        *_indent(_why_line(hit.whys)),
        *_indent(flag_lines(component.flags)),
        *_indent(note_lines(hit)),
        *_indent(_install_lines(hit)),
        *_indent([] if hit.there_as else unit_lines(hit.unit, component)),  # it need not be installed
        f"   id: {clean_line(component.id, 300)}",
    ]


def note_lines(hit: Hit) -> list[str]:
    """Render the warnings about a hit: for another client, denied, old, demoted, with troubles, muted."""
    return [
        *([client_text(hit.component)] if hit.component.client else []),
        *invocation_lines(hit.component),
        *([REFUSED] if hit.refused else []),
        *([hit.aged] if hit.aged else []),
        *([hit.demoted] if hit.demoted else []),
        *(f"warning: {clean_line(trouble, LINE)}" for trouble in hit.troubles[:_TROUBLES]),
        *(["muted: not suggested here"] if hit.muted else []),
    ]


def client_text(component: Component) -> str:
    """Say which other client a component is for, and by which sign this was recognised."""
    return f"for {component.client}, not for Claude Code: {clean_line(component.client_reason, LINE)}"


def invocation_lines(component: Component) -> list[str]:
    """Say so if the model cannot start a component: a person alone can, or nobody, or only after some file."""
    if component.invocation == NOBODY:
        return ["neither a person nor the model can start it: front matter or settings turn both off"]
    if component.invocation == MATCHED:
        return ["it can be started only once the session has read or written a file that its `paths` match"]
    if component.invocation != PERSON:
        return []
    with_name = f", with /{clean_line(component.call_name, NAME)}" if component.installed else ""
    return [f"only a person can start it{with_name}"]


def unit_lines(unit: Unit | None, component: Component) -> list[str]:
    """Say what an install line installs if that is more than one component, and how to install one of many alone."""
    if unit is None or unit.others < 1:
        return []
    counts = ", ".join(counted(number, kind.replace("_", " ")) for kind, number in unit.counts.items())
    bound, about = ("", "about") if unit.whole else ("at least ", "at least")  # the catalogue holds only some of it
    tokens = f"{about} {unit.tokens:,} tokens in each session's listing"
    told = f"{clean_line(unit.name, NAME)} brings {bound}{counts}; {tokens}"
    if unit.others < MANY or not stands_alone(component.type, component.marketplace, component.body):
        return [told]
    [line] = to_copy([alone_line(component.id)])
    servers = few([f"the MCP server {clean_line(server, NAME)}" for server in unit.servers], _NEEDS)
    return [told, f"only this one: {line}", *([f"alone it lacks what it needs: {servers}"] if servers else [])]


def why_text(why: Why) -> str:
    """Render one reason; a past request is mentioned but never quoted, because it may come from another project."""
    if why.kind == "request":
        return "chosen before for a similar request"
    return clean_line(why.text, LINE)


def degraded_lines(degraded: Sequence[str]) -> list[str]:
    """Render the notes about what an answer had to do without, such as the model."""
    return [f"Note: {clean_line(note, 300)}" for note in degraded]


def type_name(component: Component) -> str:
    """Return a component's type as words."""
    return component.type.replace("_", " ")


def _heading(recommendation: Recommendation) -> str:
    spares = sum(item.spare for item in recommendation.items)
    count = counted(len(recommendation.items) - spares, "component")
    sure = f"confidence {recommendation.confidence:.2f}"
    reserve = f" and {spares} in reserve" if spares else ""
    if not recommendation.fits:
        return f"No set clearly fits this task. The nearest set ({count}{reserve}, {sure}) may not fit:"
    return f"{count} for this task{reserve}, {sure}:"


def _members(items: Sequence[Item]) -> Iterator[list[str]]:
    """Render the members of a set in order, and under a heading of their own those that stand in reserve."""
    ordered = sorted(items, key=lambda item: item.spare)
    headed = next((item for item in ordered if item.spare), None)
    for rank, item in enumerate(ordered, 1):
        yield [*(["In reserve:"] if item is headed else []), *_item_lines(item, f"{rank}.")]


def _item_lines(item: Item, bullet: str) -> list[str]:
    title, *rest = hit_lines(replace(item.hit, troubles=()), bullet)  # the warnings of the set include the troubles
    role = clean_line(item.role, LINE)
    own = item.hit.component.name
    names = dict.fromkeys(other.component.name for other in item.alternatives if other.component.name != own)
    beside = ", ".join(clean_line(name, NAME) for name in names)
    return [
        title,
        *([f"   for: {role}"] if role else []),
        *rest[:-1],
        *([f"   or: {beside}"] if beside else []),
        rest[-1],
    ]


def _title(component: Component) -> str:
    name = component.call_name if component.installed else component.name
    return f"{clean_line(name, NAME)} ({type_name(component)}, {state_of(component)})"


def state_of(component: Component) -> str:
    """Say whether a component is installed, available, or known only from an entry in a list."""
    if is_pointer(component.id):
        return "listed, not read"
    return "installed" if component.installed else "available"


def elsewhere_lines(component: Component) -> list[str]:
    """Say where a component known only from a list is, or why it cannot be installed; no line for any other."""
    if not is_pointer(component.id):
        never = not_installable(component)
        return [f"install: not as it is: {never}"] if never else []
    read = f"; `repertoire ingest https://{component.repository}` reads it" if component.repository else ""
    return [f"at: {clean_line(component.path + read, LINE)}"]


def _described(component: Component, length: int = DESCRIPTION) -> list[str]:
    description = description_of(component, length)
    return [description] if description else []


def _why_line(whys: Sequence[Why]) -> list[str]:
    reasons = list(dict.fromkeys(text for why in whys if (text := why_text(why))))
    return [f"why: {'; '.join(reasons[:_WHYS])}"] if reasons else []


def _install_lines(hit: Hit) -> list[str]:
    component = hit.component
    if hit.there_as:
        return [f"the same component is installed already: {clean_line(hit.there_as, 200)}"]
    if component.installed or not component.install:
        return elsewhere_lines(component)
    if refusal := refused_install(component):  # who copies the lines would pass the check by
        return [f"install: {refusal}"]
    first, *more = to_copy(component.install)
    return [f"install: {first}", *(f"then: {line}" for line in more), *own_value_lines(component.install)]


def _install(recommendation: Recommendation) -> list[str]:
    """Render the lines that install the set, and apart from them those of what stands in reserve."""
    lines = recommendation.install
    reserve = [line for line in recommendation.reserve if line not in lines]
    return [
        *(["Install:", *_indent((*to_copy(lines), *own_value_lines(lines)))] if lines else []),
        *(
            ["In reserve, to be installed only if needed:", *_indent((*to_copy(reserve), *own_value_lines(reserve)))]
            if reserve
            else []
        ),
    ]


def own_value_lines(lines: Sequence[str]) -> list[str]:
    """Render what a person puts a value of their own in place of, as `install` says it."""
    words = [clean_line(word, NAME) for word in own_values(lines)]
    return [f"with your value in place of {', '.join(words)}"] if words else []


def _companions(others: Sequence[Other]) -> list[str]:
    beside = "; ".join(f"{clean_line(o.component.name, NAME)} ({clean_line(o.reason, LINE)})" for o in others)
    return [f"Works well with it, if you need it: {beside}"] if others else []


def _gaps(recommendation: Recommendation) -> list[str]:
    unprovided = set(recommendation.unprovided)
    words = recommendation.gap_words
    gaps = ", ".join(
        (clean_line(f"{words[gap]} ({gap})" if gap in words else gap, NAME))
        + (" (no known component provides it)" if gap in unprovided else "")
        for gap in recommendation.gaps
    )
    return [f"Not covered by this set: {gaps}"] if gaps else []


def _needs(recommendation: Recommendation) -> list[str]:
    """Render the dependencies of the set, one line for each member that has any."""
    names = {item.hit.component.id: item.hit.component.name for item in recommendation.items}
    needed: dict[str, list[str]] = {}
    for one in recommendation.dependencies:
        kind = f" ({one.kind.replace('_', ' ')})" if one.kind != COMPONENT else ""
        needed.setdefault(one.member, []).append(clean_line(names.get(one.needs, one.needs), NAME) + kind)
    lines = [f"{clean_line(names[member], NAME)} needs {few(what, _NEEDS)}" for member, what in needed.items()]
    return ["Who needs what:", *_indent(lines)] if lines else []


def _next(recommendation: Recommendation) -> list[str]:
    """Render the next likeliest with what they are for: who reads the task may see that one of them serves better."""
    left_out = {other.component.id: other for other in recommendation.why_not}
    lines = []
    for hit in recommendation.near[:_NEXT]:
        component = hit.component
        lines.append(": ".join((_title(component), *_described(component, LINE))))
        reason = _refusal(left_out[component.id]) if component.id in left_out else []
        told = (*reason, *flag_lines(component.flags), *note_lines(hit))
        lines += _indent((*told, f"id: {clean_line(component.id, 300)}"))
    return ["Next likeliest, not in the set:", *_indent(lines)] if lines else []


def _why_not(recommendation: Recommendation) -> list[str]:
    near = {hit.component.id for hit in recommendation.near}
    others = [other for other in recommendation.why_not if other.component.id not in near]
    return ["Why not:", *_indent(other_text(other) for other in others)] if others else []


def _refusal(other: Other) -> list[str]:
    remedy = f"would be chosen {clean_line(other.remedy, LINE)}" if other.remedy else ""
    told = "; ".join(filter(None, (clean_line(other.reason, LINE), remedy)))
    return [told] if told else []


def _indent(lines: Iterable[str]) -> list[str]:
    return [f"   {line}" for line in lines]


def _join(*blocks: Sequence[str]) -> str:
    return "\n".join(line for block in blocks for line in block)

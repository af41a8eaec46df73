"""Renders the statistics learned from use, and the relations that use suggests; names from strangers are capped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from repertoire.app.usage.learned_requests import LearnedRequest, LearnedRequests, LearnedSelection
from repertoire.app.usage.review import WAITING, ReviewedSuggestion
from repertoire.app.usage.stats import ComponentStats, HintStats, Stats
from repertoire.domain.confidence_intervals import Interval
from repertoire.domain.text import clean_line, counted
from repertoire.learning.lift import Lift
from repertoire.learning.usage import ComponentUsage
from repertoire.rendering.answers import LINE, NAME
from repertoire.store.preferences import Mute

_ID = 200
_WHOLE = 2_000  # characters: the log keeps no more of a prompt
_KEY = len("request:") + 12  # characters of a past request's key, which name it


def stats_data(found: Stats) -> dict[str, Any]:
    """Return the statistics of use as a JSON object."""
    return {
        "project": found.project,
        "half_life_days": found.half_life_days,
        "offered": found.offered,
        "selected": found.selected,
        "followed": found.followed,
        "installed": found.installed,
        "taken": _interval_data(found.taken),
        "outcomes": dict(found.outcomes),
        "by_rank": [
            {"rank": at.rank, "offered": at.offered, "selected": at.selected, "looked_at": at.looked_at}
            for at in found.by_rank
        ],
        "hints": [_hint_data(one) for one in found.hints],
        "silenced": [
            {"target": one.target, "scope": one.scope, "project": one.project, "how": one.how, "at": one.at}
            for one in found.silenced
        ],
        "components": [_learned_data(learned) for learned in found.components],
        "more": found.more,
        "requests": found.requests,
        "most_requests": found.most_requests,
        "explored": {"offers": found.explored.offers, "first": found.explored.first},
        "edges": [suggestion_data(one) for one in found.edges],
    }


def learned_requests_data(found: LearnedRequests) -> dict[str, Any]:
    """Return past requests as a JSON object."""
    return {"requests": [_request_data(one) for one in found.requests], "more": found.more}


def _request_data(one: LearnedRequest) -> dict[str, Any]:
    return {
        "id": one.past.key,
        "text": clean_line(one.past.text, _WHOLE),
        "last": one.past.last,
        "projects": list(one.past.projects),
        "selected": [
            {
                "id": selected.id,
                "name": clean_line(selected.name, NAME),
                "times": selected.times,
                "outcome": selected.outcome,
                "because": selected.because,
            }
            for selected in one.selected
        ],
    }


def suggestion_data(one: ReviewedSuggestion) -> dict[str, Any]:
    """Return a relation that use suggests as a JSON object."""
    return {
        "id": one.id,
        "relation": one.relation,
        "first": one.first,
        "second": one.second,
        "weight": round(one.weight, 4),
        "strong": one.strong,
        "evidence": clean_line(one.evidence, _ID),
        "state": one.state,
        "by": one.by,
    }


def _learned_data(learned: ComponentStats) -> dict[str, Any]:
    return {
        "id": learned.id,
        "name": clean_line(learned.name, NAME),
        "here": _usage_data(learned.here),
        "everywhere": _usage_data(learned.everywhere),
        "log_odds": learned.log_odds,
        "selected_with": {clean_line(name, NAME): times for name, times in learned.selected_with.items()},
    }


def _usage_data(record: ComponentUsage) -> dict[str, Any]:
    return {
        "recommended": record.recommended,
        "selected": record.selected,
        "ok": record.ok,
        "failed": record.failed,
        "success": _interval_data(record.success),
        "last_recommended": record.last_recommended,
        "last_selected": record.last_selected,
        "lift": _lift_data(record.lift),
    }


def _lift_data(lift: Lift) -> dict[str, Any] | None:
    if not lift.known:
        return None
    difference = lift.difference
    return {
        "with": {"ok": lift.used.ok, "failed": lift.used.failed},
        "without": {"ok": lift.unused.ok, "failed": lift.unused.failed},
        "difference": {
            "value": round(difference.value, 4),
            "low": round(difference.low, 4),
            "high": round(difference.high, 4),
        },
        "harmful": lift.harmful,
    }


def _hint_data(one: HintStats) -> dict[str, Any]:
    rate = one.rate
    return {
        "moment": rate.moment,
        "type": rate.type,
        "offered": rate.offered,
        "followed": rate.followed,
        "rate": _interval_data(rate.rate),
        "demand": one.demand,
        "held_back": one.held_back,
    }


def _interval_data(interval: Interval) -> dict[str, float]:
    return {"low": round(interval.low, 4), "high": round(interval.high, 4)}


def stats_text(found: Stats) -> str:
    """Render the statistics of use."""
    if not found.components:
        nothing = "No component was offered or used yet, so there are no statistics."
        return "\n".join([nothing, *_hint_lines(found.hints)])
    low, high = 100 * found.taken.low, 100 * found.taken.high
    told = ", ".join(f"{times} {outcome}" for outcome, times in found.outcomes.items())
    installed = f" ({found.installed} of them by installing it)" if found.installed else ""
    offered, followed = (counted(number, "time") for number in (found.offered, found.followed))
    lines = [
        f"Offered {offered}, followed {followed} ({low:.0f}-{high:.0f} %, 95 % confidence).",
        f"Selected {counted(found.selected, 'time')}{installed}. Outcomes: {told}.",
        f"A use counts half after {found.half_life_days} days.",
        f"{found.requests} past requests are kept, {found.most_requests} at most.",
        f"Of the newest {found.explored.offers} offers, {found.explored.first} were the first of their component.",
        "",
        "rank  offered  followed  chance to be seen",
        *(f"{at.rank:>4}  {at.offered:>7}  {at.selected:>8}  {at.looked_at:.2f}" for at in found.by_rank),
        *_hint_lines(found.hints),
        "",
        f"Components (here: {clean_line(found.project, _ID)}):",
        *(line for learned in found.components for line in _learned_lines(learned)),
    ]
    if found.more:
        lines.append(f"{found.more} more: --limit shows them")
    if found.silenced:
        lines += ["", "Muted or dismissed:", *(_silenced_line(one) for one in found.silenced)]
    if found.edges:
        lines += ["", "Relations that use suggests:", *(line for one in found.edges for line in _judged_lines(one))]
    return "\n".join(lines)


def learned_requests_text(found: LearnedRequests) -> str:
    """Render past requests with what was selected for them, and how to forget one."""
    if not found.requests:
        of = f" for which {clean_line(found.component, NAME)} was selected" if found.component else ""
        return f"No past request{of} is kept."
    lines = [line for one in found.requests for line in _request_lines(one)]
    more = [f"{found.more} more: --limit shows them"] if found.more else []
    return "\n".join([*lines, *more, "repertoire forget --request ID deletes one, with what was learned from it"])


def _request_lines(one: LearnedRequest) -> list[str]:
    past = one.past
    text = clean_line(past.text, LINE) or "its text is not kept"
    where = [f"    in {', '.join(clean_line(project, _ID) for project in past.projects)}"] if past.projects else []
    selected = [*map(_selection_line, one.selected)] or ["    nothing is learned from it"]
    return [f"{past.key[:_KEY]}  {past.last[:10]}  {text}", *selected, *where]


def _selection_line(one: LearnedSelection) -> str:
    often = f", {one.times} times" if one.times > 1 else ""
    told = f"{one.outcome}: {one.because}" if one.because else f"outcome {one.outcome}"
    return f"    {clean_line(one.name, NAME)}{often}, {told}  {clean_line(one.id, _ID)}"


def lift_text(lift: Lift) -> str:
    """Render a component's lift: outcomes with it against outcomes without it; empty if either is unknown."""
    if not lift.known:
        return ""
    used, unused, difference = lift.used, lift.unused, lift.difference
    low, high = 100 * difference.low, 100 * difference.high
    told = (
        f"{used.ok} of {used.known} went well with it, {unused.ok} of {unused.known} where it was only offered: "
        f"{100 * difference.value:+.0f} points ({low:+.0f} to {high:+.0f}, 95 % confidence)"
    )
    return f"{told}; {lift.demoted}" if lift.demoted else told


def review_text(found: Sequence[ReviewedSuggestion]) -> str:
    """Render the relations that use suggests, those that wait for a decision first."""
    if not found:
        return "Use suggests no relation between components yet."
    lines = [line for one in found for line in _judged_lines(one)]
    if any(one.state == WAITING for one in found):
        lines.append("--accept ID applies one, --reject ID rejects it")
    lines.append("--reject ID revokes what is applied; --undo ID undoes a decision")
    return "\n".join(lines)


def _hint_lines(found: Sequence[HintStats]) -> list[str]:
    if not found:
        return []
    return ["", "Hints:", *(_hint_line(one) for one in found)]


def _hint_line(one: HintStats) -> str:
    rate = one.rate
    told = (
        f"  {rate.moment.replace('_', ' ')}, {clean_line(rate.type, NAME).replace('_', ' ') or 'type unknown'}: "
        f"offered {rate.offered}, followed {rate.followed} ({100 * rate.rate.low:.0f}-{100 * rate.rate.high:.0f} %)"
    )
    if round(one.demand, 1) > 1.0:
        told += f"; needs {one.demand:.1f} times the usual odds of fitting"
    return told + (f", {one.held_back} held back" if one.held_back else "")


def _silenced_line(one: Mute) -> str:
    where = f"in {clean_line(one.project, _ID)} alone" if one.project else "anywhere"
    return f"  {clean_line(one.target, _ID)} ({one.scope}), {where}: {one.how} {one.at[:10]}"


def _judged_lines(one: ReviewedSuggestion) -> list[str]:
    by = f" by {one.by}" if one.by else ""
    return [
        f"  {one.id}  {one.relation.replace('_', ' ')}: {one.state}{by}, weight {one.weight:.2f}",
        f"    {clean_line(one.first, _ID)}",
        f"    {clean_line(one.second, _ID)}",
        f"    {clean_line(one.evidence, _ID)}",
    ]


def _learned_lines(learned: ComponentStats) -> list[str]:
    lines = [f"  {clean_line(learned.name, NAME)}  {learned.log_odds:+.2f} log-odds  {clean_line(learned.id, _ID)}"]
    here = learned.here
    if here.recommended or here.selected or here.ok or here.failed:
        lines.append(f"    here: {_counted(here)}")
    lines.append(f"    everywhere: {_counted(learned.everywhere)}")
    lines += [f"    lift: {told}"] if (told := lift_text(learned.everywhere.lift)) else []
    if learned.selected_with:
        beside = (f"{clean_line(name, NAME)} ({times})" for name, times in learned.selected_with.items())
        lines.append(f"    selected with: {', '.join(beside)}")
    return lines


def _counted(record: ComponentUsage) -> str:
    told = f"recommended {record.recommended}, selected {record.selected}"
    if record.ok or record.failed:
        low, high = 100 * record.success.low, 100 * record.success.high
        told += f", {record.ok} ok and {record.failed} failed ({low:.0f}-{high:.0f} % succeed)"
    last = [f"last {what} {at[:10]}" for what, at in _lasts(record) if at]
    return ", ".join([told, *last])


def _lasts(record: ComponentUsage) -> tuple[tuple[str, str], ...]:
    return ("recommended", record.last_recommended), ("selected", record.last_selected)

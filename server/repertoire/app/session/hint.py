"""Decides which components a prompt's hint names: at most three that fit well, and mostly none."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from repertoire.app.ask.own_setup import asks_own_setup
from repertoire.app.ask.set_candidates import twin_marks
from repertoire.app.session.hint_confidence import INSTALLED_FIRST_THRESHOLD, hint_confidence, is_ready
from repertoire.app.session.install_program import missing_program
from repertoire.app.usage.usage_cache import USE
from repertoire.domain.answer import BODY_SPACE, DESCRIPTION_SPACE, Hit, Query, Why
from repertoire.domain.component import PLUGIN, Component, is_pointer, stands_alone
from repertoire.domain.hint import MAX_ITEMS, HintItem, hint_text
from repertoire.domain.invocation import MATCHED, PERSON
from repertoire.domain.soundness import is_retired
from repertoire.domain.text import content_words
from repertoire.learning.arbiter import HINT_THRESHOLD, Occasion
from repertoire.learning.corrections import only_undoes
from repertoire.learning.hints import PROMPT, is_exploration
from repertoire.learning.pasted import without_images, without_pasted
from repertoire.learning.prompts import MOST, is_needless, names
from repertoire.learning.selections import OURS
from repertoire.ports import Summary
from repertoire.retrieval import plan
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.fuse import GRAPH, PAST
from repertoire.retrieval.installation_units import listing_tokens
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.sets.candidates import LIGHTER, NEARLY
from repertoire.retrieval.snapshot import Snapshot
from repertoire.retrieval.translation import in_english
from repertoire.retrieval.vector import nearness
from repertoire.store.database import Store
from repertoire.trust.hidden import suspicion

HEADING = "Repertoire: components that may help with this prompt"
# The next two thresholds are shares of the best component's score.
SECOND_ITEM_THRESHOLD = 0.45  # another component with this share is named beside the best
INSTALLED_PROVIDER_THRESHOLD = 0.35  # an installed component that provides an asked capability needs only this share
EXPLORATION_LOOKS = 2.0  # exploration begins once the first component of a hint was looked at so often
_EXPLORATION_DEPTH = 5  # exploration adds one of so many components that fit best
_FROM_USE = frozenset((PAST, GRAPH, USE))  # score parts from past use; the graph walk starts at past requests too
_LIKELIER_THAN_NOT = 0.5
_CONSIDERED, _LOOKED_THROUGH = 8, 30
# Share of the shorter description's words that two components of one name and type have in common, if they are one.
_NAMESAKE = 0.5
_SEQUENCE = re.compile(r"\b(?:then|after that|afterwards|and finally)\b", re.IGNORECASE)


@dataclass(frozen=True)
class HintLimits:
    """The limits of a hint: muted and seen ids to leave out, the number of items, and how sure it must be of each."""

    muted: frozenset[str] = frozenset()  # ids, sources and repositories
    seen: frozenset[str] = frozenset()
    items: int = 2  # a third is the one that serves in 8 of 508 hints, and is of no use in 45 of 211
    without: frozenset[str] = frozenset()
    project: str = ""
    session: str = ""
    demands: Mapping[str, float] = field(default_factory=dict)  # by type: factor on the odds that a hint needs
    weary: Mapping[str, float] = field(default_factory=dict)  # by component: the same factor (hint fatigue)
    looks: Mapping[str, float] = field(default_factory=dict)  # by component: how often it was looked at
    present: frozenset[tuple[str, str]] = frozenset()  # types and names of what is installed; `offer` finds them


@dataclass(frozen=True)
class Offer:
    """The components of a hint, best first."""

    hits: tuple[Hit, ...] = ()
    confidence: float = 0.0
    held: tuple[Hit, ...] = ()  # what would have come first, held back since such hints are rarely followed

    @property
    def text(self) -> str:
        """What the model reads; empty for an empty hint."""
        return hint_text(HEADING, map(hint_item, self.hits))


def names_components(store: Store, prompt: str) -> bool:
    """Return whether a prompt shares a word with any component, so that it is worth loading the model."""
    if is_needless(prompt):
        return False
    return bool(store.graph.match(content_words(in_english(prompt[:MOST]))[:40], limit=1, weights=(4, 2, 1)))


def offer(pipeline: Pipeline, prompt: str, limits: HintLimits) -> Offer:
    """Return the hint for a prompt; most hints are empty."""
    forms = dict.fromkeys((prompt, in_english(prompt)))
    if only_undoes(prompt) or any(is_needless(said) or asks_own_setup(said) for said in forms):
        return Offer()
    prompt = without_pasted(without_images(prompt))
    query = Query(prompt[:MOST], project=limits.project, without=limits.without)
    ranking = pipeline.rank(query, intent=plan.PROMPT, muted=limits.muted, stale=True)  # nobody waits for a hint
    seen, limits = limits.seen, _with_copies(limits, ranking.snapshot)
    hits = pipeline.hits(ranking, ranking.answering[:_CONSIDERED])
    sure = hint_confidence(ranking, hits, ready=is_ready(ranking, hits))
    if (
        sure < HINT_THRESHOLD
        or ranking.plan.names_no_job
        or any(hit.component.installed and names(prompt, hit.component.name, hit.component.type) for hit in hits)
    ):
        return Offer(confidence=sure)
    limits, told = _with_namesakes(ranking, hits, limits, seen)
    likely, near = _likely(pipeline, ranking, hits, limits, told)
    unwanted = _unwanted(sure, prompt, limits)
    named = [hit for hit in likely if _is_wanted(hit, unwanted)]
    chosen = _chosen(_lighter_first([hit for hit in near if _is_wanted(hit, unwanted)]), limits)
    held = tuple(hit for hit in likely[:1] if hit not in named)
    if chosen and (withheld := _withheld(hits, chosen, unwanted, limits)):
        own = _sure_without(pipeline, query, withheld, chosen, limits)
        unwanted = _unwanted(own, prompt, limits)
        chosen = [hit for hit in chosen if own >= HINT_THRESHOLD and _is_wanted(hit, unwanted)]
        sure = own if chosen else sure
    chosen = [hit for hit in chosen if hit is chosen[0] or _is_wanted_beside(hit, chosen[0], sure, prompt, limits)]
    chosen += _newcomer(named, chosen, prompt, limits)
    return Offer(tuple(chosen), sure, held)


def limited_to(found: Offer, keys: Collection[str]) -> Offer:
    """Return an offer with those of its components alone that have one of these ids."""
    return replace(found, hits=tuple(hit for hit in found.hits if hit.component.id in keys))


def hint_item(hit: Hit) -> HintItem:
    """Return a hit as an item of a hint."""
    component = hit.component
    return HintItem(
        id=component.id,
        name=component.call_name if component.installed else component.name,
        type=component.type,
        description=component.description,
        why=reason_for(hit.whys),
        installed=component.installed,
        install=component.install,
        along=hit.unit.others if hit.unit else 0,
        whole=hit.unit.whole if hit.unit else True,
        by_person=component.invocation == PERSON,
        alone=stands_alone(component.type, component.marketplace, component.body),
        missing=missing_program(component.install),
    )


def reason_for(whys: Sequence[Why]) -> str:
    """Return the reason for a hit in a few words; a past request, perhaps another project's, is never quoted."""
    if any(why.kind == "request" for why in whys):
        return "chosen before for a similar request"
    texts = [why.text for why in whys if why.kind != "path"] or [why.text for why in whys]
    return "; ".join(texts[:2])


def _with_copies(limits: HintLimits, snapshot: Snapshot) -> HintLimits:
    """Return limits that hold for the copies of a component too, and that know what is installed."""
    weary = {copy: times for one, times in limits.weary.items() for copy in snapshot.same_as((one,))}
    return replace(limits, seen=snapshot.same_as(limits.seen), weary=weary, present=_present(snapshot, limits.muted))


def _likely(
    pipeline: Pipeline, ranking: Ranking, hits: Sequence[Hit], limits: HintLimits, told: Sequence[Component]
) -> tuple[list[Hit], list[Hit]]:
    """Return the hits in the order in which a hint names them, installed ones first, and those near the best of them.

    What similar prompts mostly refused, as by failing, stands behind the others; what they refused again and again, and
    what a reader takes for what the session was `told` of, is left out.
    """
    past, row_of = ranking.past, ranking.snapshot.row_of
    likely = [hits[place] for place in _as_asked_for(ranking, ranking.answering[: len(hits)])]
    best = max((hit.score for hit in likely), default=0.0)
    here = _installed(pipeline, ranking, likely, best)
    likely = [*here, *(hit for hit in likely if hit not in here)]
    likely = [hit for hit in likely if not past.refused_again(row_of(hit.component.id))]
    likely.sort(key=lambda hit: past.refused(row_of(hit.component.id)))
    if any(hit.component.id in limits.seen and hit.score >= INSTALLED_FIRST_THRESHOLD * best for hit in here):
        likely = [hit for hit in likely if hit.component.installed]  # one that is there, and known, does this already
    likely = [hit for hit in likely if not any(_is_taken_for(hit.component, one) for one in told)]
    return likely, [hit for hit in likely if hit.score >= SECOND_ITEM_THRESHOLD * best or hit in here]


def _with_namesakes(
    ranking: Ranking, hits: Sequence[Hit], limits: HintLimits, seen: frozenset[str]
) -> tuple[HintLimits, Sequence[Component]]:
    """Return limits by which what a reader takes for a `seen` component is seen as well, and these components."""
    rows = np.array([row for one in seen if (row := ranking.snapshot.row_of(one)) >= 0], dtype=np.int64)
    told = [entry.component for _, entry in ranking.reader.at(rows)]
    alike = {hit.component.id for hit in hits if any(_is_taken_for(hit.component, one) for one in told)}
    return replace(limits, seen=limits.seen | alike), told


def _unwanted(sure: float, prompt: str, limits: HintLimits) -> frozenset[str]:
    """Return the types and components that this hint may not name, because such hints were ignored."""
    occasion = Occasion(PROMPT, f"{limits.session}\0{prompt}", demands=limits.demands, weary=limits.weary)
    return occasion.too_rarely_taken(sure)


def _is_wanted(hit: Hit, unwanted: frozenset[str]) -> bool:
    return unwanted.isdisjoint((hit.component.type, hit.component.id))


def _is_wanted_beside(hit: Hit, first: Hit, sure: float, prompt: str, limits: HintLimits) -> bool:
    """Tell whether a hit that was ignored is likely enough itself, however sure the first item of the hint is."""
    return _is_wanted(hit, _unwanted(sure * min(hit.score / first.score, 1.0), prompt, limits))


def _withheld(
    hits: Sequence[Hit], chosen: Sequence[Hit], unwanted: frozenset[str], limits: HintLimits
) -> frozenset[str]:
    """Return what may not be named of a ranking that one of these leads, unless what is chosen says the same."""
    withheld = [hit for hit in hits if not (_is_wanted(hit, unwanted) and _may_be_named(hit, (), limits))]
    lead = hits[0].component
    if hits[0] not in withheld or any(
        one.component.name.lower() == lead.name.lower() or _reads_the_same(one.component, lead) for one in chosen
    ):
        return frozenset()
    return frozenset(hit.component.id for hit in withheld)


def _sure_without(
    pipeline: Pipeline, query: Query, withheld: frozenset[str], chosen: Sequence[Hit], limits: HintLimits
) -> float:
    """Return how sure what is chosen is in its own right, as if what may not be named were not there.

    Of 185 graded prompts that drew a hint 61 drew another one once its first component was named, of which 22 served;
    by their own chance 32 do, of which 14 serve.
    """
    ranking = pipeline.rank(query, intent=plan.PROMPT, muted=limits.muted | withheld, stale=True)
    first = pipeline.hits(ranking, ranking.answering[:1])
    is_chosen = any(one.component.id == hit.component.id for one in chosen for hit in first)
    return hint_confidence(ranking, first) if is_chosen else 0.0


def _as_asked_for(ranking: Ranking, rows: Rows) -> list[int]:
    """Return the order of the first rows; for a task in steps, components for the first step come first.

    "Implement it and then test it" first needs a component that implements, though one that tests may rank as high.
    """
    question, count = ranking.question, len(rows)
    if question is None or len(question.clauses) < 2 or not _SEQUENCE.search(ranking.plan.query.text):
        return list(range(count))
    spaces = [ranking.snapshot.spaces[space] for space in (BODY_SPACE, DESCRIPTION_SPACE)]
    near = np.max([nearness(space, question.clauses[0], rows) for space in spaces], axis=0)
    likely = [
        place
        for place in range(count)
        if ranking.scores[rows[place]] >= SECOND_ITEM_THRESHOLD * ranking.scores[rows[0]]
    ]
    return sorted(likely, key=lambda place: -near[place]) + [place for place in range(count) if place not in likely]


def _lighter_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits with each heavy one behind its copy of nearly the same score that costs far fewer tokens."""
    found: list[Hit] = []
    for hit in hits:
        heavier = next((place for place, other in enumerate(found) if _is_lighter(hit, other)), len(found))
        found.insert(heavier, hit)
    return found


def _is_lighter(hit: Hit, other: Hit) -> bool:
    if hit.component.installed or other.component.installed or other.unit is None:
        return False
    if not twin_marks(hit.component) & twin_marks(other.component) or hit.score < NEARLY * other.score:
        return False
    return LIGHTER * (hit.unit.tokens if hit.unit else listing_tokens(hit.component)) <= other.unit.tokens


def _installed(pipeline: Pipeline, ranking: Ranking, likely: Sequence[Hit], best: float) -> list[Hit]:
    """Return installed components near the best one or with its name, else the first with an asked capability.

    Many available components repeat a prompt's words, so an installed one may rank far behind them.
    """
    snapshot, head = ranking.snapshot, ranking.answering[:_LOOKED_THROUGH]
    here = head[snapshot.column("installed")[head]]
    name = _called(likely[0].component) if likely else None
    namesakes = np.array([_called(snapshot.summaries[row]) == name for row in here.tolist()], dtype=np.bool_)
    near = here[namesakes | (ranking.scores[here] >= INSTALLED_FIRST_THRESHOLD * best)]
    here = here[ranking.scores[here] >= INSTALLED_PROVIDER_THRESHOLD * best]
    provides = here[snapshot.provided(ranking.plan.capabilities)[here]]
    rows = near if len(near) else np.array([row for row in provides.tolist() if _may_help(ranking, row)][:1], int)
    known = {hit.component.id: hit for hit in likely}
    ids = [snapshot.summaries[row].id for row in rows.tolist()]
    new = rows[[key not in known for key in ids]] if ids else rows
    known.update((hit.component.id, hit) for hit in pipeline.hits(ranking, new))
    return [known[key] for key in ids if key in known]


def _may_help(ranking: Ranking, row: int) -> bool:
    """Tell whether a component helps more likely than not, where that is known."""
    return ranking.grades is None or ranking.chances(row)[1] >= _LIKELIER_THAN_NOT


def _chosen(hits: Sequence[Hit], limits: HintLimits) -> list[Hit]:
    chosen: list[Hit] = []
    for hit in hits:
        if len(chosen) == min(limits.items, MAX_ITEMS):
            break
        if _may_be_named(hit, chosen, limits):
            chosen.append(hit)
    return chosen


def _newcomer(hits: Sequence[Hit], chosen: Sequence[Hit], prompt: str, limits: HintLimits) -> list[Hit]:
    """Return, for few prompts (exploration), a fitting component that nobody has seen, to be named beside known ones.

    Without it hints would name only components with past success, and better ones would never be tried.
    """
    if (
        not chosen
        or len(chosen) == min(limits.items, MAX_ITEMS)
        or not is_exploration(f"new\0{limits.session}\0{prompt}")
    ):
        return []
    if limits.looks.get(chosen[0].component.id, 0.0) < EXPLORATION_LOOKS:
        return []
    by_itself = sorted(hits, key=_by_itself, reverse=True)[:_EXPLORATION_DEPTH]
    unseen = (hit for hit in by_itself if not limits.looks.get(hit.component.id) and hit not in chosen)
    return [hit for hit in unseen if _may_be_named(hit, chosen, limits)][:1]


def _by_itself(hit: Hit) -> float:
    """Return a hit's score without the parts that come from past use."""
    return sum(odds for part, odds in hit.parts.items() if part not in _FROM_USE)


def _may_be_named(hit: Hit, chosen: Sequence[Hit], limits: HintLimits) -> bool:
    component = hit.component
    if component.id in limits.seen or component.plugin == OURS:
        return False
    # a pointer to further components answers no prompt; of what waits for a file Claude Code tells at the right time
    if is_pointer(component.id) or component.invocation == MATCHED:
        return False
    no_use = not component.install or _called(component) in limits.present
    if not component.installed and (no_use or is_retired(component.description)):
        return False
    if any(_comes_with(component, one.component) or _comes_with(one.component, component) for one in chosen):
        return False
    named = {one.component.name.lower() for one in chosen}
    # readers take a command and a skill with the same name for one component
    if component.name.lower() in named or any(_reads_the_same(component, one.component) for one in chosen):
        return False
    return not suspicion(_words_of(hit))


def _present(snapshot: Snapshot, muted: frozenset[str]) -> frozenset[tuple[str, str]]:
    """Return types and names of what is installed, without what other projects have, whose sources are muted here."""
    here = np.flatnonzero(snapshot.column("installed")).tolist()
    return frozenset(_called(one) for row in here if (one := snapshot.summaries[row]).source not in muted)


def _called(one: Component | Summary) -> tuple[str, str]:
    return one.type, one.name.lower()


def _comes_with(part: Component, plugin: Component) -> bool:
    return plugin.type == PLUGIN and part.plugin == plugin.name and part.repository == plugin.repository


def _is_taken_for(one: Component, other: Component) -> bool:
    """Tell whether a reader who was told of one component takes another for it."""
    return one.name.lower() == other.name.lower() or _reads_the_same(one, other)


def _reads_the_same(one: Component, other: Component) -> bool:
    """Tell whether two components of one type have the same description, or one name and nearly the same."""
    shared = twin_marks(one) & twin_marks(other)
    if not shared or one.name.lower() != other.name.lower():
        return bool(shared)
    mine, theirs = set(content_words(one.description)), set(content_words(other.description))
    return len(mine & theirs) >= _NAMESAKE * min(len(mine), len(theirs))


def _words_of(hit: Hit) -> str:
    component = hit.component
    return f"{component.name}\n{component.description}\n{component.body}"

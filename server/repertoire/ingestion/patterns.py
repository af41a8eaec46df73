"""Finds patterns: components that a plugin, agent or project puts together, and itemsets that recur in these."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from operator import and_

from repertoire.domain.component import CAPABILITY, MEMBER_OF, PATTERN, PROVIDES, Edge, Node
from repertoire.domain.digest import digest_of

PLUGIN_SET, AGENT_SET, PROJECT_SET, REQUESTS, TOGETHER, CAPABILITIES = (
    "plugin",
    "agent",
    "project",
    "request",
    "together",  # components that recur in several of the first three
    "capabilities",  # capabilities that recur in several of the first three
)

MAX_ITEMS = 4  # items in the largest itemset
_MINED = 40  # items in the largest transaction that is mined; a larger one is a collection, whose pairs tell nothing
_WHOLE = 24  # members in the largest plugin, agent or project that becomes one pattern
_LEVEL = 4000  # itemsets of one size that are extended: two copies of a large plugin must not become a million
_TERMS = 12  # capabilities that are kept of one pattern
_EACH = 20  # recurring itemsets that are kept of one item, so that frequent items do not crowd out the others
_EVIDENCE = 5
_NAMED = 4
_SURE = 0.5


@dataclass(frozen=True)
class Transaction:
    """Components that occur together in one plugin, agent, project or past request, which `key` and `name` identify."""

    origin: str
    key: str
    name: str
    members: frozenset[str]


@dataclass(frozen=True)
class PatternMember:
    """A component as a member of patterns: its name, and its capabilities with their certainty."""

    name: str
    capabilities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Itemset:
    """A set of items that occur together in `support` transactions.

    `confidence[i]` is the share of the transactions with all other items that hold item i too. Each item is with the
    others at least `lift` times as often as by chance.
    """

    items: tuple[str, ...]
    support: int
    lift: float
    confidence: tuple[float, ...]


@dataclass(frozen=True)
class PatternBounds:
    """The thresholds of itemsets (support and lift), and the number that is kept."""

    support: int = 2
    lift: float = 1.5
    most: int = 1000


@dataclass(frozen=True)
class Pattern:
    """A combination of components or capabilities; `lift` is 0 if a plugin, agent or project declares it whole."""

    key: str
    name: str
    origin: str
    members: Mapping[str, float]  # component id -> confidence that it belongs to the others
    capabilities: Mapping[str, float]  # term -> share of the members that provide it
    support: int
    lift: float = 0.0
    evidence: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()  # keys of the plugins or projects in `evidence`, if their members differ

    @property
    def confidence(self) -> float:
        """The lowest confidence of a member."""
        return min((self.members or self.capabilities).values())

    def node(self) -> Node:
        """Return the pattern as a graph node."""
        data = {
            "origin": self.origin,
            "support": self.support,
            "lift": round(self.lift, 2),
            "confidence": round(self.confidence, 3),
            "evidence": list(self.evidence),
            **({"wholes": list(self.wholes)} if self.wholes else {}),
        }
        return Node(f"{PATTERN}:{self.key}", PATTERN, self.name, data)

    def edges(self) -> Iterator[Edge]:
        """Yield the edges from the members to the pattern, and from it to its capabilities."""
        evidence = f"{self.origin}, support {self.support}"
        for member, weight in self.members.items():
            yield Edge(member, f"{PATTERN}:{self.key}", MEMBER_OF, round(weight, 3), evidence)
        for term, weight in self.capabilities.items():
            yield Edge(f"{PATTERN}:{self.key}", f"{CAPABILITY}:{term}", PROVIDES, round(weight, 3), evidence)


def patterns(transactions: Sequence[Transaction], known: Mapping[str, PatternMember]) -> list[Pattern]:
    """Return the patterns that plugins, agents and projects declare, and those that recur in them."""
    ordered = sorted(transactions, key=lambda one: (one.origin, one.key))
    return [
        *_whole(ordered, known),
        *(
            _recurring(itemset, ordered, known, TOGETHER)
            for itemset in _varied(frequent([one.members for one in ordered], PatternBounds()))
        ),
        *_capabilities(ordered, known),
    ]


def used_patterns(transactions: Sequence[Transaction], known: Mapping[str, PatternMember]) -> list[Pattern]:
    """Return the patterns that recur in the selections of past requests, without the requests' texts."""
    return [
        _recurring(itemset, (), known, REQUESTS)
        for itemset in _varied(frequent([one.members for one in transactions], PatternBounds()))
    ]


def frequent(transactions: Iterable[frozenset[str]], bounds: PatternBounds) -> list[Itemset]:
    """Return the itemsets of two to four items above the thresholds, ordered by support times log lift, best first.

    An itemset that never occurs without the rest of a larger one is left out.
    """
    baskets = [basket for basket in transactions if 1 <= len(basket) <= _MINED]
    holds = _holds(baskets)
    level = _strongest(_pairs(baskets, holds, bounds.support), holds, len(baskets))
    explained: set[tuple[str, ...]] = set()
    found: dict[tuple[str, ...], Itemset] = {}
    while level:
        for items, together in level.items():
            itemset = _itemset(items, together, holds, len(baskets))
            if itemset.lift >= bounds.lift:
                found[items] = itemset
                explained.update(
                    part for part in _parts(items) if part in found and found[part].support == itemset.support
                )
        larger = {} if len(next(iter(level))) == MAX_ITEMS else _grown(level, holds, bounds.support)
        level = _strongest(larger, holds, len(baskets))
    kept = (itemset for items, itemset in found.items() if items not in explained)
    return sorted(kept, key=_order)[: bounds.most]


def _order(itemset: Itemset) -> tuple[float, tuple[str, ...]]:
    return -round(itemset.support * math.log(itemset.lift), 9), itemset.items


def _holds(baskets: Sequence[frozenset[str]]) -> dict[str, int]:
    """Map each item to a bit mask of the transactions that hold it."""
    holds: dict[str, int] = {}
    for number, basket in enumerate(baskets):
        for item in basket:
            holds[item] = holds.get(item, 0) | 1 << number
    return holds


def _pairs(baskets: Sequence[frozenset[str]], holds: Mapping[str, int], support: int) -> dict[tuple[str, ...], int]:
    counts = Counter(
        pair
        for basket in baskets
        for pair in combinations(sorted(item for item in basket if holds[item].bit_count() >= support), 2)
    )
    return {(low, high): holds[low] & holds[high] for (low, high), count in counts.items() if count >= support}


def _grown(level: Mapping[tuple[str, ...], int], holds: Mapping[str, int], support: int) -> dict[tuple[str, ...], int]:
    """Return the itemsets with one more item whose parts are all in this level (Apriori)."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for items in level:
        groups.setdefault(items[:-1], []).append(items[-1])
    found = {}
    for head, tails in groups.items():
        for low, high in combinations(sorted(tails), 2):
            together = level[(*head, low)] & holds[high]
            if together.bit_count() >= support and (*head[1:], low, high) in level:
                found[(*head, low, high)] = together
    return found


def _strongest(
    level: Mapping[tuple[str, ...], int], holds: Mapping[str, int], total: int
) -> dict[tuple[str, ...], int]:
    if len(level) <= _LEVEL:
        return dict(level)
    best = sorted((_itemset(items, together, holds, total) for items, together in level.items()), key=_order)
    return {itemset.items: level[itemset.items] for itemset in best[:_LEVEL]}


def _itemset(items: tuple[str, ...], together: int, holds: Mapping[str, int], total: int) -> Itemset:
    support = together.bit_count()
    others = [reduce(and_, (holds[other] for other in part)).bit_count() for part in _parts(items)]
    alone = [holds[item].bit_count() for item in items]
    lift = min(support * total / (rest * one) for rest, one in zip(others, alone, strict=True))
    return Itemset(items, support, lift, tuple(support / rest for rest in others))


def _parts(items: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the itemset without each of its items in turn."""
    for index in range(len(items)):
        yield (*items[:index], *items[index + 1 :])


def _varied(itemsets: Iterable[Itemset]) -> Iterator[Itemset]:
    """Yield the itemsets, without those of an item that is already in many stronger ones."""
    uses: Counter[str] = Counter()
    for itemset in itemsets:
        if all(uses[item] < _EACH for item in itemset.items):
            uses.update(itemset.items)
            yield itemset


def _whole(transactions: Sequence[Transaction], known: Mapping[str, PatternMember]) -> Iterator[Pattern]:
    """Yield a pattern for each plugin, agent or project; equal combinations become one pattern."""
    carried: dict[frozenset[str], list[Transaction]] = {}
    for one in transactions:
        if 2 <= len(one.members) <= _WHOLE:
            carried.setdefault(one.members, []).append(one)
    for members, by in carried.items():
        first = by[0]
        yield Pattern(
            first.key,
            first.name,
            first.origin,
            dict.fromkeys(sorted(members), 1.0),
            _provided(members, known),
            support=len(by),
            evidence=tuple(dict.fromkeys(one.name for one in by))[:_EVIDENCE],
        )


def _recurring(
    itemset: Itemset, transactions: Sequence[Transaction], known: Mapping[str, PatternMember], origin: str
) -> Pattern:
    items = frozenset(itemset.items)
    where = dict.fromkeys(one.name for one in transactions if items <= one.members and len(one.members) <= _MINED)
    name = _name([known[item].name for item in itemset.items])
    return Pattern(
        f"{name}~{_digest(origin, itemset.items)}",
        name,
        origin,
        dict(zip(itemset.items, itemset.confidence, strict=True)),
        _provided(items, known),
        itemset.support,
        itemset.lift,
        tuple(where)[:_EVIDENCE],
    )


def _capabilities(transactions: Sequence[Transaction], known: Mapping[str, PatternMember]) -> Iterator[Pattern]:
    """Yield a pattern for each set of capabilities that plugins and projects combine more often than by chance."""
    wholes = [one for one in transactions if one.origin != AGENT_SET]  # agents repeat the skills of their plugin
    provided = [
        frozenset(term for member in one.members for term, sure in known[member].capabilities.items() if sure >= _SURE)
        for one in wholes
    ]
    for itemset in _varied(frequent(provided, PatternBounds(support=3, most=300))):
        sure = dict(zip(itemset.items, itemset.confidence, strict=True))
        name = _name(itemset.items)
        key = f"{name}~{_digest(CAPABILITIES, itemset.items)}"
        together = zip(wholes, provided, strict=True)
        where = {
            one.name: one.key
            for one, terms in together
            if len(terms) <= _MINED and terms.issuperset(itemset.items)  # larger ones were not mined
        }
        names, keys = tuple(where)[:_EVIDENCE], tuple(where.values())[:_EVIDENCE]
        yield Pattern(key, name, CAPABILITIES, {}, sure, itemset.support, itemset.lift, names, keys)


def _provided(members: Iterable[str], known: Mapping[str, PatternMember]) -> dict[str, float]:
    found: dict[str, float] = {}
    total = 0
    for member in sorted(members):
        total += 1
        for term, weight in known[member].capabilities.items():
            found[term] = found.get(term, 0.0) + min(weight, 1.0)
    best = sorted(found, key=lambda term: (-found[term], term))[:_TERMS]
    return {term: found[term] / total for term in best}


def _name(names: Sequence[str]) -> str:
    return " + ".join(names[:_NAMED])


def _digest(origin: str, items: Sequence[str]) -> str:
    return digest_of("\0".join([origin, *items]))[:6]

"""Components that are known to go together: what is carried, declared or used as one, and what recurs in that."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from operator import and_

from repertoire.domain.component import CAPABILITY, MEMBER_OF, PATTERN, PROVIDES, Edge, Node

PLUGIN_SET, AGENT_SET, PROJECT_SET, REQUESTS, TOGETHER, CAPABILITIES = (
    "plugin",
    "agent",
    "project",
    "request",
    "together",  # found to recur in several of the first three
    "capabilities",  # the same of what they provide
)

MAX_ITEMS = 4
_MINED = 40  # items: what is carried with more is a collection, and its pairs tell nothing
_WHOLE = 24  # members of a set that is kept as a whole
_LEVEL = 4000  # itemsets of one size that are grown on: two copies of one large plugin must not become a million
_TERMS = 12  # capabilities of one pattern
_EACH = 20  # recurring combinations of one item: what is in everything must not crowd out all else that is known of it
_EVIDENCE = 5
_NAMED = 4
_SURE = 0.5


@dataclass(frozen=True)
class Transaction:
    """Components that were together once, `key` and `name` say where: one plugin, agent, project or past request."""

    origin: str
    key: str
    name: str
    members: frozenset[str]


@dataclass(frozen=True)
class PatternContext:
    """What naming a pattern takes: the name of every component, and what it provides how surely."""

    name: str
    capabilities: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Itemset:
    """Items that are together in `support` transactions.

    `confidence[i]` is the part of the transactions with all others that hold item i too; with the others an item is
    there at least `lift` times as often as it is anyhow.
    """

    items: tuple[str, ...]
    support: int
    lift: float
    confidence: tuple[float, ...]


@dataclass(frozen=True)
class PatternBounds:
    """How often and how far above chance an itemset has to be found, and how many are kept."""

    support: int = 2
    lift: float = 1.5
    most: int = 1000


@dataclass(frozen=True)
class Pattern:
    """A known combination. `lift` is 0 for one that is known as a whole, from its own plugin, agent or project."""

    key: str
    name: str
    origin: str
    members: Mapping[str, float]  # how surely each belongs to the others
    capabilities: Mapping[str, float]  # the part of the members that provides each
    support: int
    lift: float = 0.0
    evidence: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()  # keys of what `evidence` names, where the members are not the same everywhere

    @property
    def confidence(self) -> float:
        """How surely the least sure member belongs to the others."""
        return min((self.members or self.capabilities).values())

    def node(self) -> Node:
        """Return the pattern as a node."""
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
        """Yield the edges from its members, and to the capabilities that it provides."""
        evidence = f"{self.origin}, support {self.support}"
        for member, weight in self.members.items():
            yield Edge(member, f"{PATTERN}:{self.key}", MEMBER_OF, round(weight, 3), evidence)
        for term, weight in self.capabilities.items():
            yield Edge(f"{PATTERN}:{self.key}", f"{CAPABILITY}:{term}", PROVIDES, round(weight, 3), evidence)


def patterns(transactions: Sequence[Transaction], known: Mapping[str, PatternContext]) -> list[Pattern]:
    """Return the combinations that plugins, agents and projects make, and what recurs in them."""
    ordered = sorted(transactions, key=lambda one: (one.origin, one.key))
    return [
        *_whole(ordered, known),
        *(
            _recurring(itemset, ordered, known, TOGETHER)
            for itemset in _varied(frequent([one.members for one in ordered], PatternBounds()))
        ),
        *_capabilities(ordered, known),
    ]


def used_patterns(transactions: Sequence[Transaction], known: Mapping[str, PatternContext]) -> list[Pattern]:
    """Return the combinations that recur in what past requests selected; nothing of the requests themselves."""
    return [
        _recurring(itemset, (), known, REQUESTS)
        for itemset in _varied(frequent([one.members for one in transactions], PatternBounds()))
    ]


def frequent(transactions: Iterable[frozenset[str]], bounds: PatternBounds) -> list[Itemset]:
    """Return the itemsets of two to four items within the bounds, the most telling first.

    One that a larger one explains (it is never found without the rest) is left out.
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
    return sorted(kept, key=_telling)[: bounds.most]


def _telling(itemset: Itemset) -> tuple[float, tuple[str, ...]]:
    return -round(itemset.support * math.log(itemset.lift), 9), itemset.items


def _holds(baskets: Sequence[frozenset[str]]) -> dict[str, int]:
    """Map every item to the baskets that hold it, one bit each."""
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
    """Return the itemsets with one item more, all of whose parts are in a level."""
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
    best = sorted((_itemset(items, together, holds, total) for items, together in level.items()), key=_telling)
    return {itemset.items: level[itemset.items] for itemset in best[:_LEVEL]}


def _itemset(items: tuple[str, ...], together: int, holds: Mapping[str, int], total: int) -> Itemset:
    support = together.bit_count()
    others = [reduce(and_, (holds[other] for other in part)).bit_count() for part in _parts(items)]
    alone = [holds[item].bit_count() for item in items]
    lift = min(support * total / (rest * one) for rest, one in zip(others, alone, strict=True))
    return Itemset(items, support, lift, tuple(support / rest for rest in others))


def _parts(items: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the items without each of them in turn."""
    for index in range(len(items)):
        yield (*items[:index], *items[index + 1 :])


def _varied(itemsets: Iterable[Itemset]) -> Iterator[Itemset]:
    """Yield the itemsets none of whose items is in many better ones."""
    uses: Counter[str] = Counter()
    for itemset in itemsets:
        if all(uses[item] < _EACH for item in itemset.items):
            uses.update(itemset.items)
            yield itemset


def _whole(transactions: Sequence[Transaction], known: Mapping[str, PatternContext]) -> Iterator[Pattern]:
    """Yield what one plugin, agent or project puts together, each combination once."""
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
    itemset: Itemset, transactions: Sequence[Transaction], known: Mapping[str, PatternContext], origin: str
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


def _capabilities(transactions: Sequence[Transaction], known: Mapping[str, PatternContext]) -> Iterator[Pattern]:
    """Yield the capabilities that are provided together by different components, more often than by chance."""
    wholes = [one for one in transactions if one.origin != AGENT_SET]  # a plugin's agents declare the same skills again
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
            if len(terms) <= _MINED and terms.issuperset(itemset.items)  # of more, it was not counted
        }
        names, keys = tuple(where)[:_EVIDENCE], tuple(where.values())[:_EVIDENCE]
        yield Pattern(key, name, CAPABILITIES, {}, sure, itemset.support, itemset.lift, names, keys)


def _provided(members: Iterable[str], known: Mapping[str, PatternContext]) -> dict[str, float]:
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
    return hashlib.sha256("\0".join([origin, *items]).encode()).hexdigest()[:6]

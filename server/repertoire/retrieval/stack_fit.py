"""Tells which components are for a technology that the project is built with, and which for one that it is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from repertoire.domain.component import CAPABILITY
from repertoire.domain.product import FRAMEWORK, LANGUAGE, PLATFORM
from repertoire.retrieval.arrays import Floats, Mask, Rows, best_rows
from repertoire.retrieval.binding import BoundProducts
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.products import Products
from repertoire.retrieval.snapshot import Snapshot

_CERTAIN = 0.8  # certainty of a capability that stands in a component's name and in its description
_MOST_NAMED = 2  # technologies that are named beside the question


@dataclass(frozen=True)
class StackFit:
    """How components fit the stack of the project, one value for each.

    `technologies` holds what each is for, of what the project is built with; it is empty for one that is for nothing of
    it, or for something else as well. `elsewhere` marks those that are only for what the project is not built with.
    """

    technologies: tuple[str, ...]
    elsewhere: Mask

    @property
    def at_home(self) -> Mask:
        """The components that are for a technology of the project alone."""
        return np.array([bool(technology) for technology in self.technologies], dtype=np.bool_)

    def questions(self, text: str) -> list[str]:
        """Return a question as it is read with each component: with what the component is for behind it."""
        return [f"{text} in {technology}" if technology else text for technology in self.technologies]


def stack_fit(
    products: Products, snapshot: Snapshot, rows: Rows, bound: Mapping[int, BoundProducts], plan: QueryPlan
) -> StackFit:
    """Return how the components at these rows fit the stack of the plan's project; `bound` holds their products by row.

    The stack tells nothing about what the question names itself, and nothing at all where it names another language.
    """
    named, stack = products.in_question(plan.query.text), _Stack(products, plan.stack.uses)
    technologies, elsewhere = [""] * len(rows), np.zeros(len(rows), dtype=np.bool_)
    if stack.has_language and not any(products.languages(name) for name in named - stack.used):
        frameworks = frozenset(name for name in named if products.known[name].kind == FRAMEWORK)
        for place, names in enumerate(_built_with(products, snapshot, rows, bound)):
            is_for_named = _is_for_any(products, frameworks, bound.get(int(rows[place]), BoundProducts()))
            if not is_for_named and not named & products.implied(names):
                own = [stack.technology(name) for name in sorted(names)]
                technologies[place] = "" if None in own else " and ".join(list(filter(None, own))[:_MOST_NAMED])
                elsewhere[place] = None in own and not any(own)
    return StackFit(tuple(technologies), elsewhere)


def best_at_home(
    products: Products, snapshot: Snapshot, plan: QueryPlan, scores: Floats, *, without: Rows, limit: int
) -> Rows:
    """Return the best rows, beside those `without`, that surely provide what the plan's project is built with."""
    known = snapshot.provisions
    uses = (name for name in plan.stack.uses if name in products.known and _is_built_with(products, name))
    ends = [at for name in uses if (at := snapshot.position_of.get(f"{CAPABILITY}:{name}")) is not None]
    surely = (known.rows >= 0) & (known.certainty >= _CERTAIN) & np.isin(known.capabilities, ends)
    found = np.full(len(snapshot), -np.inf)
    found[known.rows[surely]] = scores[known.rows[surely]]
    found[without] = -np.inf
    return best_rows(found, limit)


class _Stack:
    """What a project is built with."""

    def __init__(self, products: Products, uses: Collection[str]) -> None:
        self._products = products
        self.used = products.implied(name for name in uses if name in products.known)
        self.has_language = any(products.known[name].kind == LANGUAGE for name in self.used)
        frameworks = [name for name in self.used if products.known[name].kind == FRAMEWORK]
        self._framed = frozenset[str]().union(*map(products.languages, frameworks))  # languages with a known framework

    def technology(self, name: str) -> str | None:
        """Return what of the stack a product is or belongs to, empty for what fits any; None for what is elsewhere."""
        languages = self._products.languages(name)
        if name in self.used:
            return name.replace("-", " ")
        if self._products.known[name].kind == LANGUAGE:  # one akin, as Kotlin to Java, is neither
            return "" if self._products.implied((name,)) & self.used else None
        ours = sorted(languages & self.used)
        if languages and (not ours or self._framed & languages):  # another framework is used
            return None
        return ours[0].replace("-", " ") if ours else ""


def _is_built_with(products: Products, name: str) -> bool:
    """Tell whether programs are written in, with or for a product, as for Rust, Django and Android, not for Redis."""
    return products.known[name].kind == PLATFORM or bool(products.languages(name))


def _is_for_any(products: Products, frameworks: frozenset[str], own: BoundProducts) -> bool:
    """Tell whether a component is for one of these ("Playwright or Cypress"), and its name says no language."""
    if frameworks.isdisjoint(own.name | own.within | own.lead):
        return False
    return not any(products.known[name].kind == LANGUAGE for name in own.name if name in products.known)


def _built_with(
    products: Products, snapshot: Snapshot, rows: Rows, bound: Mapping[int, BoundProducts]
) -> Iterator[frozenset[str]]:
    """Yield what each component is for, of what programs are built with: by name, else plugin, else text."""
    known, provided = snapshot.provisions, defaultdict[int, set[str]](set)
    surely = np.isin(known.rows, rows) & (known.certainty >= _CERTAIN)
    for row, end in zip(known.rows[surely].tolist(), known.capabilities[surely].tolist(), strict=True):
        provided[row].add(snapshot.topology.names[end])
    for row in rows.tolist():
        own = bound.get(row, BoundProducts())
        levels = (
            frozenset(name for name in names if name in products.known and _is_built_with(products, name))
            for names in (own.name, own.within, own.lead | provided[row])
        )
        yield products.without_implied(next(filter(None, levels), frozenset()))

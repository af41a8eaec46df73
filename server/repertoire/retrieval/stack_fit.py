"""Tells which components are for a technology that the project is built with, and which for one that it is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repertoire.domain.component import CAPABILITY
from repertoire.domain.product import LANGUAGE, PLATFORM
from repertoire.retrieval.arrays import Floats, Mask, Rows
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


def stack_fit(
    products: Products, snapshot: Snapshot, rows: Rows, bound: Mapping[int, BoundProducts], plan: QueryPlan
) -> StackFit:
    """Return how the components at these rows fit the stack of the plan's project; `bound` holds their products by row.

    The stack tells nothing about what the question names itself, and nothing at all where it names another language.
    """
    named = products.in_question(plan.query.text)
    used = products.implied(name for name in plan.stack.uses if name in products.known)
    technologies, elsewhere = [""] * len(rows), np.zeros(len(rows), dtype=np.bool_)
    asks_elsewhere = any(_is_of_a_language(products, name) for name in named - used)
    if asks_elsewhere or not any(products.known[name].kind == LANGUAGE for name in used):
        return StackFit(tuple(technologies), elsewhere)
    for place, names in enumerate(_products_of(products, snapshot, rows, bound)):
        if not named & products.implied(names):
            narrow = products.without_implied(names)
            here = sorted(name for name in narrow & used if _is_built_with(products, name))
            others = [name for name in narrow - used if _is_of_a_language(products, name)]
            technologies[place] = "" if others else " and ".join(here[:_MOST_NAMED]).replace("-", " ")
            elsewhere[place] = bool(others) and not here
    return StackFit(tuple(technologies), elsewhere)


def best_at_home(
    products: Products, snapshot: Snapshot, plan: QueryPlan, scores: Floats, *, without: Rows, limit: int
) -> Rows:
    """Return the best rows, beside those `without`, that surely provide what the plan's project is built with."""
    known = snapshot.provisions
    uses = (name for name in plan.stack.uses if name in products.known and _is_built_with(products, name))
    ends = [at for name in uses if (at := snapshot.position_of.get(f"{CAPABILITY}:{name}")) is not None]
    surely = (known.rows >= 0) & (known.certainty >= _CERTAIN) & np.isin(known.capabilities, ends)
    rows = np.setdiff1d(known.rows[surely], without)
    rows = rows[np.isfinite(scores[rows])]
    return rows[np.argsort(-scores[rows], kind="stable")][:limit]


def _is_of_a_language(products: Products, name: str) -> bool:
    return any(products.known[one].kind == LANGUAGE for one in products.implied((name,)))


def _is_built_with(products: Products, name: str) -> bool:
    """Tell whether programs are written in, with or for a product, as for Rust, Django and Android, not for Redis."""
    return products.known[name].kind == PLATFORM or _is_of_a_language(products, name)


def _products_of(
    products: Products, snapshot: Snapshot, rows: Rows, bound: Mapping[int, BoundProducts]
) -> list[frozenset[str]]:
    """Return the known products that each component is bound to, or that it surely provides."""
    known, provided = snapshot.provisions, defaultdict[int, set[str]](set)
    surely = np.isin(known.rows, rows) & (known.certainty >= _CERTAIN)
    for row, end in zip(known.rows[surely].tolist(), known.capabilities[surely].tolist(), strict=True):
        provided[row].add(snapshot.topology.names[end])
    found = []
    for row in rows.tolist():
        own = bound.get(row, BoundProducts())
        found.append(frozenset(products.known.keys() & (own.name | own.within | own.lead | provided[row])))
    return found

"""Lowers components that are bound to a product (a vendor, a framework, a language) which the question does not name.

A component is bound to the products that its name bears, to those of the plugin or server it belongs to, and to the
one or two in its first sentence. The shipped table knows products with their aliases; a brand that is not in it shows
in the graph itself: a word of a server's or plugin's name that nothing else here bears, and that the component's own
text writes with a capital.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from repertoire import linear
from repertoire.domain.component import HOOK, MCP_SERVER, PLUGIN, TOOL, Component
from repertoire.domain.product import CLIENT, CLOUD, DATABASE, FORMAT, FRAMEWORK, LANGUAGE, PLATFORM, SERVICE
from repertoire.ports import Summary
from repertoire.retrieval.arrays import Floats, Mask, Rows
from repertoire.retrieval.component_reader import ComponentReader
from repertoire.retrieval.plan import QueryPlan
from repertoire.retrieval.products import Products, Word, name_words, words_of
from repertoire.retrieval.snapshot import Snapshot

BINDING = "binding"
# Log-odds against a component bound to a product that the question does not name, by where the product is written: in
# the component's name, in its plugin's or server's name (_WITHIN), in its first sentence (lead). Only the largest
# counts. Learned on 3,700 plain requests with the components they were written for, and rounded; then twice that for a
# service, since each request was written for some vendor's component: of graded answers of equal odds, those bound to
# a service that nobody named serve less often still, by 1.4 (0.6 to 2.3).
_IN_NAME = {
    LANGUAGE: 0.8, FRAMEWORK: 0.8, DATABASE: 0.8, CLOUD: 0.8, SERVICE: 2.6, CLIENT: 0.8, FORMAT: 0.6, PLATFORM: 0.3
}  # fmt: skip
_IN_LEAD = {SERVICE: 1.3}
_WITHIN = 2.4
# Added where the question names another product: for a name (also beside that other product: ASP.NET in a component
# for Docker), for a lead.
_INSTEAD, _INSTEAD_TOLD = 0.5, 0.3
# Log-odds against a component for what the question rules out ("without Docker"): one that bears it in its name serves
# nobody then, another one may serve without that part.
_EXCLUDED_IN_NAME, _EXCLUDED_IN_LEAD = 6.0, 1.5
_VENDORS = frozenset((SERVICE, DATABASE, CLOUD))  # kinds of products of which one takes the place of another
_AKIN = 0.5  # factor where the bound product implies a named one, as Pydantic AI implies Python
_NAMED = 0.6  # log-odds for a component that is bound to a product which the question names
_MOST_TOLD = 2  # a first sentence that names more products than this only lists examples
_LEAD, _TEXT = 400, 600  # characters that are read of a first sentence, of a description
_FEW_FAMILIES = 3  # plugins or repositories whose component names hold a brand, at most: its own and connectors to it
_SHORTEST = 3  # letters that a brand has at least
MCP = "mcp"
_SERVING = frozenset((MCP_SERVER, PLUGIN, TOOL))  # types whose names say MCP without being about MCP
_FIRST = linear.compile(r"(?s)^\s*(.*?)(?:[.!?]\s|\n|$)")
# phrases after which a sentence lists examples or exceptions
_ASIDE = linear.compile(
    r"(?is)<example>|\bspecifically:|\bcontext:\s|\bexamples?:|\be\.g\.|\bsuch as\b|\bincluding\b|\(|\blike\s"
    r"|\bnot for\b|\bdo(?: no|n')t use\b|\binstead of\b|\brather than\b|\bunlike\b"
)
_PLAIN = re.compile(r"[^\W_]+")
_KINDS_OF_THING = frozenset(
    """agent agents ai and anthropic api app apps assistant claude cli cloud code data docs expert for helper in kit mcp
    of official plugin plugins pro remote sdk server servers skill skills the to tool toolkit tools use web with
    """.split()
)


@dataclass(frozen=True)
class BoundProducts:
    """The products that one component is bound to, each listed once, where it is written most plainly."""

    name: frozenset[str] = frozenset()
    within: frozenset[str] = frozenset()  # in the name of its plugin or server
    lead: frozenset[str] = frozenset()


def capitals(text: str) -> set[str]:
    """Return the capitalised words of a text, in lower case."""
    return {word.text for word in words_of(text) if word.capital}


class ProductBindings:
    """Caches the products that the components of the newest snapshot are bound to, each read when first needed."""

    def __init__(self, products: Products, synonyms: Mapping[str, Iterable[str]]) -> None:
        """Keep the products; `synonyms` maps capabilities to their other words, none of which is a brand."""
        self._products, self._synonyms = products, synonyms
        self._kept: Snapshot | None = None
        self._brands: frozenset[str] = frozenset()
        self._server: Mapping[int, str] = {}
        self._known: dict[int, BoundProducts] = {}

    @cached_property
    def _words(self) -> frozenset[str]:
        phrases = chain(self._synonyms, *self._synonyms.values())
        return _KINDS_OF_THING.union(word.text for phrase in phrases for word in name_words(phrase))

    def read(self, snapshot: Snapshot) -> None:
        """Find the brand words in the names of a snapshot's plugins and servers, unless that is done already."""
        if self._kept is snapshot or not self._products.known:
            return
        self._brands = self._brands_among(snapshot.summaries)
        inner, outer = (rows.tolist() for rows in snapshot.inside)
        self._server = {row: snapshot.summaries[other].name for row, other in zip(inner, outer, strict=True)}
        self._kept, self._known = snapshot, {}

    def named(self, plan: QueryPlan) -> frozenset[str]:
        """Return the products and brands that a question names, those they imply, and those that the project uses."""
        known = plan.stack.uses.union(plan.capabilities)
        brands = self._brands.intersection(word.text for word in name_words(plan.query.text))
        return self._products.in_question(plan.query.text, known) | brands

    def of(self, reader: ComponentReader, rows: Rows) -> Mapping[int, BoundProducts]:
        """Return the products that the components at these rows are bound to, by row."""
        new = [row for row in rows.tolist() if row not in self._known]
        for row, entry in reader.at(np.array(new, dtype=np.int64)):
            self._known[row] = self._bound_products(entry.component, self._server.get(row, ""))
        return self._known

    def odds(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows, plan: QueryPlan) -> Floats:
        """Return the log-odds that product binding adds to these rows; 0 for all other rows."""
        self.read(snapshot)
        odds = np.zeros(len(snapshot))
        if self._products.known:
            named, known = self.named(plan), self.of(reader, rows)
            for row in rows.tolist():
                odds[row] = self._component_odds(known.get(row, BoundProducts()), named)
        return odds

    def rivals(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows, plan: QueryPlan) -> Mask:
        """Return which of these rows are of a vendor other than one that the question names and another row is of.

        A row of both is no rival, nor is one of a product that implies the named one.
        """
        found = np.zeros(len(snapshot), dtype=bool)
        asked = frozenset(name for name in self._products.in_question(plan.query.text) if self._kind(name) in _VENDORS)
        if not asked:
            return found
        self.read(snapshot)
        known, named = self.of(reader, rows), self.named(plan)
        borne = {row: known[row].name | known[row].within for row in rows.tolist() if row in known}
        if any(asked & names for names in borne.values()):
            for row, names in borne.items():
                akin = named & (names | known[row].lead | self._products.implied(names - self._brands))
                found[row] = not akin and any(self._kind(name) in _VENDORS for name in names)
        return found

    def excluded(self, snapshot: Snapshot, reader: ComponentReader, rows: Rows, plan: QueryPlan) -> Floats:
        """Return the log-odds against each of these rows for what the question rules out, or what implies that."""
        against = np.zeros(len(rows))
        if plan.exclusion is not None:
            self.read(snapshot)
            known = self.of(reader, rows)
            for place, row in enumerate(rows.tolist()):
                bound = known.get(row, BoundProducts())
                for products, odds in ((bound.lead, _EXCLUDED_IN_LEAD), (bound.name | bound.within, _EXCLUDED_IN_NAME)):
                    if self._products.implied(products - self._brands) & plan.exclusion.products:
                        against[place] = odds
        return against

    def _component_odds(self, bound: BoundProducts, named: frozenset[str]) -> float:
        every = bound.name | bound.within | bound.lead
        fits = bool(named & every)
        akin = fits or bool(named & self._products.implied(every - self._brands))
        instead = _INSTEAD_TOLD if named - self._brands and not akin else 0.0
        against = [self._in_name(product, named) for product in bound.name - named]
        against += [_WITHIN * (_AKIN if akin else 1.0)] * bool(bound.within - named)
        if not fits:
            told = [_IN_LEAD.get(self._kind(product), 0.0) + instead for product in bound.lead]
            against += [_AKIN * odds if akin else odds for odds in told]
        return _NAMED * fits - max(against, default=0.0)

    def _in_name(self, product: str, named: frozenset[str]) -> float:
        """Return the log-odds against a product in a component's name that the question does not name."""
        kin = product in self._products.known and bool(named & self._products.implied((product,)))
        odds = _IN_NAME[self._kind(product)]
        return _AKIN * odds if kin else odds + _INSTEAD * bool(named - self._brands)

    def _kind(self, product: str) -> str:
        return self._products.known[product].kind if product in self._products.known else SERVICE

    def _bound_products(self, component: Component, server: str) -> BoundProducts:
        is_command = component.type == HOOK  # what stands as a hook's description
        description = "" if is_command else component.described[:_TEXT]
        own = self._products.name_words(component.name)
        groups = (name for name in (component.plugin, server) if name != component.name)
        group = [word for name in groups for word in self._products.name_words(name)]
        brands = self._brands_in([*own, *group], description)
        name = self._products_in(own, description, whole=component.type in {MCP_SERVER, PLUGIN})
        name |= brands.intersection(word.text for word in own)
        within = (self._products_in(group, description, whole=False) | brands) if group else brands
        if within and component.type != TOOL:  # not everything in a vendor's collection is about the vendor
            within &= self._products.in_text(description) | brands
        if component.type in _SERVING:
            name, within = name - {MCP}, within - {MCP}
        borne = self._narrow(name | within)
        lead = self._narrow(self._products.in_text(lead_of(description))) - self._products.implied(borne - self._brands)
        return BoundProducts(name & borne, (within - name) & borne, lead if len(lead) <= _MOST_TOLD else frozenset())

    def _products_in(self, words: Sequence[Word], text: str, *, whole: bool) -> frozenset[str]:
        """Return the products in a name; an ordinary word counts if the text capitalises it, or it fills the name."""
        borne = list(self._products.in_name(words))
        plain = {found.product for found in borne if not found.ordinary or (whole and len(found.words) == len(words))}
        if len(plain) == len(borne):
            return frozenset(plain)
        capital = capitals(text)
        return frozenset(plain).union(
            found.product for found in borne if any(word.text in capital for word in found.words)
        )

    def _brands_in(self, words: Sequence[Word], text: str) -> frozenset[str]:
        """Return the brands among a component's words that its text always capitalises."""
        found = self._brands.intersection(word.text for word in words)
        return found & capitals(text) - set(text.split()) if found else found

    def _narrow(self, names: frozenset[str]) -> frozenset[str]:
        listed = frozenset(name for name in names if name in self._products.known)
        return self._products.without_implied(listed) | (names - listed)

    def _brands_among(self, summaries: Sequence[Summary]) -> frozenset[str]:
        naming = (summary.name for summary in summaries if summary.type in {MCP_SERVER, PLUGIN})
        words = {word.text for name in naming for word in self._products.name_words(name)} - self._words
        candidates = {word for word in words if len(word) >= _SHORTEST and not self._products.has_word(word)}
        families: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for summary in summaries:
            for word in candidates.intersection(_PLAIN.findall(summary.name.lower())):
                families[word].add((summary.repository, summary.plugin))
        return frozenset(word for word in candidates if len(families[word]) <= _FEW_FAMILIES)


def lead_of(description: str) -> str:
    """Return the first sentence of a description up to its first example or exception."""
    match = _FIRST.search(description)
    first = match[1][:_LEAD] if match else description[:_LEAD]
    aside = _ASIDE.search(first)
    return first[: aside.start()] if aside else first

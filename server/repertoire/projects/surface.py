"""Compares what two states of a program offer to others: by which names other programs may notice a change."""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.domain.project import CLASS, LINES, MODULE, TYPE, CodeFacts, Definition, Symbol
from repertoire.projects.types import RETURNED

_STAR = "*"


def noticed(
    before: tuple[Iterable[Definition], CodeFacts], after: tuple[Iterable[Symbol], CodeFacts]
) -> frozenset[str] | None:
    """Return the names whose meaning for other programs changed; None where it may be any name.

    What happens inside of functions concerns no other program.
    """
    old, new = _defined(before[0]), _defined(after[0])
    if _typed(before[1], old) != _typed(after[1], new) or {*before[1].bases} != {*after[1].bases}:
        return None
    imports = {*before[1].imports} ^ {*after[1].imports}
    if any(one.alias == _STAR for one in imports):
        return None
    names = {name.rpartition(".")[2].partition("#")[0] for name, _ in {*old.items()} ^ {*new.items()}}
    return frozenset(names | {one.alias for one in imports})


def _defined(symbols: Iterable[Definition | Symbol]) -> dict[str, str]:
    return {one.qualname: one.kind for one in symbols if one.kind not in (MODULE, LINES)}


def _typed(facts: CodeFacts, defined: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the types that other programs may use: of a module's names, of attributes, of what functions return."""
    found = {}
    for where, told in facts.types.items():
        scope, _, name = where.rpartition(" ")
        if not scope or name.startswith("self.") or name == RETURNED or defined.get(scope) in (CLASS, TYPE):
            found[where] = told
    return found

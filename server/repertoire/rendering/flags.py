"""Renders the flags of static checks as one short line, and withholds the text of a component that gives orders."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from repertoire.domain.component import MCP_SERVER, Component
from repertoire.domain.text import clean_line, description_line, to_copy
from repertoire.domain.trust import HIGH, INSTALLABLE, Flag, rank, risk

WITHHELD = "text withheld: it gives a model orders; `repertoire trust show` shows it"
_TO_A_MODEL = frozenset(("order-to-model", "comment-order", "hidden-text", "exfiltration"))
_REASON, _NAME = 120, 80


def description_of(component: Component, limit: int) -> str:
    """Return a description as one line, or a notice instead if the text gives a model orders."""
    if is_withheld(component):
        return WITHHELD
    # most servers of plugins have an address alone for a description, and that stands in several plugins
    bundled = component.plugin if component.type == MCP_SERVER else ""
    of = f" (of the plugin {clean_line(bundled, _NAME)})" if bundled else ""
    return f"{description_line(component.description, limit)}{of}"


def is_withheld(component: Component) -> bool:
    """Tell whether a component's text is withheld from models."""
    return gives_orders(component.flags)


def gives_orders(flags: Iterable[Flag]) -> bool:
    """Tell whether flags say that a text gives a model orders."""
    return any(flag.rule in _TO_A_MODEL and rank(flag.severity) >= rank(HIGH) for flag in flags)


def flag_lines(flags: Sequence[Flag]) -> list[str]:
    """Render the gravest flag as one line, with the number of others, without the flagged text."""
    if not flags:
        return []
    more = f"; and {len(flags) - 1} more" if len(flags) > 1 else ""
    return [f"checks: {headline(flags[0])}{more}"]


def refused_install(component: Component) -> str:
    """Say that `install` refuses a component for what the checks found, and what shows it; empty if it does not."""
    if risk(component.flags) <= INSTALLABLE:
        return ""
    [line] = to_copy([f"repertoire trust show {shlex.quote(component.id)}"])
    return f"refused, for what the checks found; a person decides: {line}"


def headline(flag: Flag) -> str:
    """Render one flag without the flagged text."""
    place = f"line {flag.line}" if flag.line else ""
    if flag.file:
        place = f"{place} of {clean_line(flag.file, _NAME)}" if place else clean_line(flag.file, _NAME)
    return f"{flag.severity} {flag.rule}" + (f" ({place})" if place else "") + f": {clean_line(flag.reason, _REASON)}"

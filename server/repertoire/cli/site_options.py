"""Defines the options that bound how much of a website a pack is built from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from repertoire.app.packs.website import SiteBounds

_OPTIONS = (
    click.option(
        "--depth",
        type=click.IntRange(0, 10),
        default=0,
        show_default=True,
        help="Of a website: links to follow from the first page, within its folder.",
    ),
    click.option(
        "--pages",
        type=click.IntRange(1, 5_000),
        default=200,
        show_default=True,
        help="Of a website: how many pages are read.",
    ),
    click.option(
        "--allow-host",
        "allowed",
        multiple=True,
        metavar="HOST",
        help="A host of one's own network that may be read, also by http; may be repeated.",
    ),
)


def site_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def bounds(*, depth: int, pages: int, allowed: tuple[str, ...]) -> SiteBounds:
    """Return the bounds that the options say."""
    return SiteBounds(depth, pages, frozenset(host.lower() for host in allowed))

"""`stale`: what is old, not as its marketplace has it, or not to be read any more, why, and what to do about it."""

from __future__ import annotations

import os
import re
from typing import Any

import click

from repertoire.app.health.stale import Wanted, stale
from repertoire.app.wiring import open_repertoire
from repertoire.cli.output import json_option, show
from repertoire.rendering.freshness import stale_data, stale_text

_SPAN = re.compile(r"(\d{1,5})([dwmy]?)")
_UNITS = {"d": 1.0, "w": 7.0, "m": 30.44, "y": 365.25}


class _Span(click.ParamType[int]):
    name = "span"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return days of `90d`, `12w`, `18m` or `2y`."""
        if isinstance(value, int):
            return value
        found = _SPAN.fullmatch(str(value).strip().lower())
        if not found or not int(found.group(1)):
            self.fail(f"{value!r} is no span; write 90d, 12w, 18m or 2y", param, ctx)
        return round(int(found.group(1)) * _UNITS[found.group(2) or "d"])


@click.command("stale")
@click.option("--older-than", type=_Span(), default=0, metavar="SPAN", help="By age alone: 90d, 12w, 18m, 2y.")
@click.option("--installed", is_flag=True, help="Only what is installed.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 10_000), help="How many are shown.")
@json_option
def stale_command(older_than: int, installed: bool, limit: int, as_json: bool) -> None:
    r"""List what is stale, with reasons and what to do; nothing is deleted.

    Installed plugins are compared byte by byte with what their marketplace holds now.

    \b
    repertoire stale
    repertoire stale --installed --older-than 18m
    """
    with open_repertoire() as repertoire:
        report = stale(repertoire, Wanted(older_than, installed=installed, limit=limit), environment=os.environ)
    show(stale_data(report), lambda: stale_text(report), as_json=as_json)

"""Lays out answers on a terminal: wraps prose to the width, keeps commands on one line, shows lists as tables."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import rich.table
from rich.console import Console
from rich.measure import Measurement
from rich.text import Text

_WIDEST = 120  # columns: longer lines are hard to read, even in a wider window
_ANY_WIDTH = 10_000  # columns: for a measure that no terminal limits
_HEAD = re.compile(r"\d+\. ")
_HANGING = re.compile(r"\s*(?:\d+\. |- |why: |for: |or: |Note: )?")
_NAMED = re.compile(r"(?:(?:note|task|epic|procedure):)?[0-9a-f]{8,12} \[")  # an item of a list with its id
# Lines to copy: a wrapped command would do nothing, or something else.
_COPIED = re.compile(r"\s*(?:install|then|id): |\s+(?:/plugin|claude|cp|docker|mkdir|npx|uvx|git|npm) ")
_BLOCK = "Install:"


@dataclass(frozen=True)
class TextTable:
    """A table for a terminal: rows and column names."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""  # a line below the rows


def write(text: str) -> None:
    """Print text on a terminal, with headings in bold and without colours."""
    console, width = _console(), min(shutil.get_terminal_size().columns, _WIDEST)
    copied = False
    for line in text.splitlines():
        copied = line == _BLOCK or (copied and line.startswith(" "))
        style = "bold" if _HEAD.match(line) else "dim" if line.lstrip().startswith("id: ") else ""
        whole = copied or len(line) <= width or _COPIED.match(line) is not None
        for part in [line] if whole else _wrapped(line, width):
            console.print(Text(part, style), soft_wrap=True)


def write_table(table: TextTable) -> bool:
    """Print a table, numbers right-aligned; tell whether the terminal is wide enough, else print nothing.

    A key that is cut in two can neither be read out nor copied.
    """
    drawn = rich.table.Table(box=None, header_style="bold", pad_edge=False)
    for place, name in enumerate(table.columns):
        numbers = all(isinstance(row[place], (int, float)) for row in table.rows)
        drawn.add_column(name, justify="right" if numbers else "left")
    for row in table.rows:
        drawn.add_row(*(Text(str(cell)) for cell in row))
    console = _console()
    if Measurement.get(console, console.options.update_width(_ANY_WIDTH), drawn).maximum > console.width:
        return False
    console.print(drawn)
    if table.note:
        write(table.note)
    return True


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)


def _wrapped(line: str, width: int) -> list[str]:
    hang = _HANGING.match(line)
    mark = hang.group() if hang else ""  # never alone on its line, as before a long word
    return textwrap.wrap(
        line[len(mark) :],
        width,
        initial_indent=mark,
        subsequent_indent="  " if _NAMED.match(line) else " " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )

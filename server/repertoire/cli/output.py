"""Writes the command line's output: text for a person, JSON for a program, progress on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from repertoire.boot.streams import is_utf_8

if TYPE_CHECKING:
    from repertoire.cli import terminal
    from repertoire.verbs.verb import Verb

A = TypeVar("A")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
_UNSEEN = re.compile("[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e0fff]")


def show(
    value: Any, text: Callable[[], str], *, as_json: bool, table: Callable[[], terminal.TextTable] | None = None
) -> None:
    """Print data as JSON, or its text; on a terminal the text is wrapped, or a table of it is laid out if that fits."""
    if as_json or not sys.stdout.isatty():
        click.echo(as_text(value) if as_json else text().rstrip("\n"))
        return
    from repertoire.cli import terminal  # noqa: PLC0415 - nothing that nobody looks at needs it

    if table is None or not (rows := table()).rows or not terminal.write_table(rows):
        terminal.write(text())


class Declined(click.ClickException):
    """A person said no, or nobody was there to say yes."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message alone: nothing went wrong."""
        click.echo(self.message, file=file, err=True)


def ask_to_go_on(question: str) -> None:
    """Ask a person on stderr whether to go on.

    Raises:
        Declined: the answer is no, or nobody can answer.
    """
    try:
        agreed = click.confirm(question, err=True)
    except click.exceptions.Abort as stopped:
        if not isinstance(stopped.__context__, EOFError):
            raise
        message = "nothing was changed, since nobody answered; --yes answers yes"
        raise Declined(message) from None
    if not agreed:
        message = "nothing was changed"
        raise Declined(message)


def show_answer(verb: Verb[Any, A], answer: A, *, as_json: bool) -> None:
    """Print a verb's answer, as JSON or as text."""
    show(verb.data(answer) if as_json else None, lambda: verb.text(answer), as_json=as_json)


def as_text(value: Any) -> str:
    """Return JSON with invisible characters escaped, because terminals and models would interpret or drop them.

    Outside of UTF-8 all but ASCII is escaped: a program gets every letter.
    """
    whole = json.dumps(value, ensure_ascii=not is_utf_8(), indent=2)
    return _UNSEEN.sub(lambda match: json.dumps(match.group())[1:-1], whole)


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress bars on stderr; the callable takes a label, the amount done, and the total (0: unknown)."""
    if quiet or not sys.stderr.isatty():
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console  # noqa: PLC0415 - nothing that nobody looks at needs it
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        transient=True,
    )
    tasks: dict[str, Any] = {}

    def report(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=total or None)
        bars.update(tasks[what], completed=done, total=total or None)

    with bars:
        yield report

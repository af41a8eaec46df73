"""The `repertoire` command: its subcommands, and the one place where an error becomes a line and an exit status.

The help of `cli` lists the exit statuses.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from repertoire.boot.interrupts import raise_on_interrupt
from repertoire.boot.streams import print_any_character
from repertoire.domain.errors import InvalidRequest, RepertoireError, UnknownComponent
from repertoire.domain.text import sendable

# verb → module with its command, imported only when the verb is used
VERBS = {
    "recommend": "ask",
    "search": "ask",
    "explain": "ask",
    "install": "installation",
    "ingest": "sources",
    "refresh": "sources",
    "sources": "sources",
    "remove": "sources",
    "trace": "traces",
    "pack": "packs",
    "project": "projects",
    "commons": "commons",
    "status": "health",
    "overlaps": "health",
    "stale": "health",
    "advisories": "health",
    "feedback": "person",
    "stats": "usage",
    "review": "usage",
    "mute": "person",
    "forget": "person",
    "trust": "person",
    "serve": "serve",
    "doctor": "health",
    "rescue": "rescue",
    "completion": "completion",
    "eval": "measure",
    "model": "model",
}
_OPPOSITE = {"uninstall": "install --undo", "unmute": "mute --undo"}  # what undoes a verb is an option of it
WRONG_USAGE = (InvalidRequest, UnknownComponent)  # errors in what the user typed; any other error is a failure


class LazyGroup(click.Group):
    """A click group that imports a verb's module only when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order a person meets them."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a verb, or None."""
        del ctx
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"repertoire.cli.{VERBS[cmd_name]}")
        raise_on_interrupt()  # not before: raised while a dataclass is made, it would come out of it as a RuntimeError
        command: click.Command = getattr(module, f"{cmd_name}_command")
        _keep_examples(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with the first sentence of its docstring; to import the verbs for it would take a second."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(verb, _first_sentence(_docstring(verb))) for verb in VERBS])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; for an unknown one, suggest verbs with a similar spelling."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            word = args[0] if args else ""
            near = [_OPPOSITE[word]] if word in _OPPOSITE else get_close_matches(word, VERBS, n=2)
            if not near:
                raise
            message = f"{error.message} Did you mean {' or '.join(near)}?"
            raise click.UsageError(message, ctx) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete a verb by name, without its help text, since that would import every verb's module."""
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(verb) for verb in VERBS if verb.startswith(incomplete)]


def _first_sentence(told: str) -> str:
    """Return the first sentence of a help, whole: click cuts it off at the end of a line."""
    return click.Command(None, help=told).get_short_help_str(len(told))


def _docstring(verb: str) -> str:
    """Return the docstring of a verb's command, read from its module's text."""
    functions = (one for one in _tree(VERBS[verb]).body if isinstance(one, ast.FunctionDef))
    return next(ast.get_docstring(one) or "" for one in functions if one.name == f"{verb}_command")


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8"))


def _keep_examples(command: click.Command) -> None:
    """Keep the line breaks of examples in the help of a command and its subcommands, and first sentences whole."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    command.short_help = _first_sentence(command.help)
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        _keep_examples(inner)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="repertoire")
def cli() -> None:
    """Recommend the smallest set of Claude Code components that fits a task.

    \b
    repertoire recommend "add end-to-end tests for our checkout with Playwright"
    repertoire search "audit the code for security holes" --type agent
    repertoire ingest https://github.com/obra/superpowers

    Exit status: 0 success, also when nothing fits; 1 failure, with a line that says why (for `doctor`: something is
    broken); 2 wrong usage, such as an unknown option, value or name; 130 interrupted.
    """  # noqa: D301 - click needs the character itself; `_keep_examples` inserts it into the other docstrings


def _word(given: str) -> str:
    """Return an argument as text, in UTF-8 in any locale; keep other bytes in the name of an existing file only."""
    try:
        return given if os.path.lexists(given) else os.fsencode(given).decode()
    except ValueError:  # the argument contains a NUL, or is not UTF-8
        return sendable(given)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    print_any_character()
    if "_REPERTOIRE_COMPLETE" in os.environ:
        importlib.import_module("repertoire.cli.completion").prepare()
    words = [_word(given) for given in (sys.argv[1:] if arguments is None else arguments)]
    try:
        status: Any = cli.main(args=words, prog_name="repertoire", standalone_mode=False)
        sys.stdout.flush()  # here, where an output that is full becomes a line
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except RepertoireError as error:
        click.echo(f"repertoire: {error}", err=True)
        sys.exit(2 if isinstance(error, WRONG_USAGE) else 1)
    except UnicodeEncodeError:
        odd = next((word for word in words if sendable(word) != word), None)
        if odd is None:
            raise
        click.echo(f"repertoire: {odd!r} is not UTF-8, as whatever is looked up must be; rename it", err=True)
        sys.exit(2)
    except OSError as error:  # such as a full disk or an unreadable folder: shown in the operating system's words
        where = f": {error.filename}" if error.filename else ""
        click.echo(f"repertoire: {error.strerror or error}{where}; `repertoire doctor` checks every part", err=True)
        _drop_output()
        sys.exit(1)
    sys.exit(status if isinstance(status, int) else 0)


def _drop_output() -> None:
    """Drop what was not written, if it cannot be: the interpreter would try again on exit, and end with status 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Help: every verb shows how it is used, on lines of their own, and the reference holds what help prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from cli.conftest import Run
from repertoire.cli.main import VERBS, cli

ROOT = Path(__file__).resolve().parents[2]


def commands() -> list[tuple[str, ...]]:
    """Return every verb, and every verb's own verbs."""
    context = click.Context(cli, info_name="repertoire")
    found: list[tuple[str, ...]] = []
    for verb in VERBS:
        command = cli.get_command(context, verb)
        found.append((verb,))
        found += [(verb, inner) for inner in command.commands] if isinstance(command, click.Group) else []
    return found


def first_sentence(command: click.Command) -> str:
    """Return what a command's help begins with, up to the end of the sentence."""
    told = " ".join((command.help or "").partition("\n\n")[0].split())
    return told.partition(". ")[0].rstrip(".")


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_verb_shows_an_example_on_a_line_of_its_own(words: tuple[str, ...]) -> None:
    context = click.Context(cli, info_name="repertoire")
    for word in words:
        command = context.command
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None
        context = click.Context(found, info_name=word, parent=context)
    help_text = context.get_help()
    assert "\b" not in help_text
    assert "\\b" not in help_text
    lines = [line.strip() for line in help_text.splitlines()[1:]]
    assert any(line.startswith((f"repertoire {' '.join(words)}", f'eval "$(repertoire {words[0]}')) for line in lines)


def test_the_list_of_verbs_says_of_each_the_whole_sentence_that_it_begins_with_and_imports_none(
    environment: dict[str, str],
) -> None:
    context = click.Context(cli, info_name="repertoire")
    listed = " ".join(cli.get_help(context).partition("Commands:\n")[2].split())
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        assert f"{verb} {first_sentence(command)}." in listed
        inner = click.Context(command, info_name=verb)
        listed_inside = " ".join(command.get_help(inner).split())
        for name, one in command.commands.items() if isinstance(command, click.Group) else ():
            assert f"{name} {first_sentence(one)}." in listed_inside
    code = (
        "import sys; from repertoire.cli.main import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert "numpy" not in printed.stdout.split()


def test_the_exit_statuses_are_told_in_help_and_in_the_reference() -> None:
    for text in (cli.get_help(click.Context(cli)), (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")):
        assert "2 wrong usage, such as an unknown option, value or name; 130 interrupted" in " ".join(text.split())


def test_each_module_of_verbs_starts_in_a_process_that_imported_nothing_else(environment: dict[str, str]) -> None:
    verbs = {module: verb for verb, module in VERBS.items()}.values()  # other tests fork a process that has them all
    started = {
        verb: subprocess.Popen(
            [sys.executable, "-m", "repertoire", verb, "--help"], env=environment, stdout=subprocess.PIPE, text=True
        )
        for verb in verbs
    }
    for verb, process in started.items():
        assert process.communicate(timeout=60)[0].startswith(f"Usage: repertoire {verb}"), verb
        assert process.returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        "pack info nope",
        "pack query where --pack nope",
        "pack remove nope",
        "pack install ./nope",
        "ingest ./nope",
        "sources --files nope",
        "remove nope",
        "explain nope",
        "mute nope",
        "trace show nope",
        "project init --project ./nope",
        "project status --project ./nope",
        "project search where --project ./nope",
        "model fetch nope",
    ],
)
def test_a_name_that_nothing_has_is_wrong_usage(run: Run, words: str) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "nope" in done.stderr

"""Whatever a person types, the command line answers in words and leaves with a status that its help names."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from anything import PLAIN, UTF8_TEXT, profile
from repertoire.cli.main import VERBS, cli, main
from sample_home import filled_home

STATUSES = (0, 1, 2, 130)
# Reads folders or a network, measures for minutes, serves, or prints a shell's own script.
LEFT_OUT = {"ingest", "refresh", "eval", "doctor", "serve", "completion", "model", "commons"}
TRIED = sorted(set(VERBS) - LEFT_OUT)


for _verb in TRIED:  # imported now: some libraries draw a random number then, which no strategy may
    cli.get_command(click.Context(cli), _verb)


def _words(verb: str) -> st.SearchStrategy[list[str]]:
    """Return words after a verb: its own options and verbs with anything between them."""
    command = cli.get_command(click.Context(cli), verb)
    assert command is not None
    known = [option for parameter in command.params for option in parameter.opts if option.startswith("-")]
    if isinstance(command, click.Group):
        known += [*command.commands, *(o for c in command.commands.values() for p in c.params for o in p.opts)]
    passable = UTF8_TEXT.filter(lambda text: "\x00" not in text and len(text) < 100_000)  # no process gets others
    word = st.one_of(st.sampled_from(known or ["-"]), st.sampled_from(PLAIN), passable)
    return st.one_of(st.lists(word, max_size=4), st.lists(passable, min_size=1, max_size=1))


A_LINE = st.sampled_from(TRIED).flatmap(lambda verb: _words(verb).map(lambda words: [verb, *words]))


def test_no_words_bring_the_command_line_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = filled_home(tmp_path / "home", installed=("pdf-forms",))
    for name, value in {"REPERTOIRE_HOME": str(home), "HOME": str(tmp_path), "REPERTOIRE_BACKGROUND": "no"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    @profile(25)
    @given(A_LINE)
    @example(["search", os.fsdecode(b"caf\xe9 menus")])
    @example(["mute", os.fsdecode(b"\xff")])
    def answers(line: list[str]) -> None:
        status, said, complained = _run(line)
        assert status in STATUSES
        assert "Traceback" not in said + complained
        assert complained.strip() if status else said.strip()

    answers()


def _run(line: list[str]) -> tuple[int, str, str]:
    """Return the exit status and both streams of the whole command line, in click's own isolation."""
    status = 0
    with CliRunner().isolation(input="n\n") as (said, complained, _):
        try:
            main(line)
        except SystemExit as leaving:
            status = int(leaving.code or 0)
        return status, said.getvalue().decode(), complained.getvalue().decode()

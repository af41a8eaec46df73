"""The progress of a build is shown to a person on a terminal and in a log."""

from __future__ import annotations

import io

from repertoire.boot.progress import Terminal


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_that_counts_and_goes_away() -> None:
    screen = Screen()
    terminal = Terminal(screen)
    for seconds in (0, 1, 2):
        terminal("installing packages", seconds)
    terminal.close()
    lines = screen.getvalue().split("\r\033[K")
    assert lines == ["", *(f"repertoire: installing packages …{count}" for count in ("", " 1 s", " 2 s")), ""]


def test_a_log_gets_one_line_a_phase() -> None:
    log = io.StringIO()
    terminal = Terminal(log)
    for phase in ("making an environment", "installing packages"):
        for seconds in (0, 1, 2):
            terminal(phase, seconds)
    terminal.close()
    assert log.getvalue() == "repertoire: making an environment …\nrepertoire: installing packages …\n"

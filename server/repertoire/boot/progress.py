"""Shows a person how a build gets on: a counting line on a terminal, else one line a phase."""

from __future__ import annotations

from typing import Protocol, TextIO


class Report(Protocol):
    """Is told the phase at its start and then about once a second, with the seconds it has taken."""

    def __call__(self, phase: str, seconds: int, /) -> None:
        """Take note of the phase."""


def silent(_phase: str, _seconds: int, /) -> None:
    """Show nothing."""


class Terminal:
    """Writes progress to a stream, rewriting one line where that is possible."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rewrite = stream.isatty()
        self._phase = ""

    def __call__(self, phase: str, seconds: int, /) -> None:
        """Show the phase, once or with its seconds."""
        if self._rewrite:
            counter = f" {seconds} s" if seconds else ""
            self._stream.write(f"\r\033[Krepertoire: {phase} …{counter}")
        elif phase != self._phase:
            self._stream.write(f"repertoire: {phase} …\n")
        self._stream.flush()
        self._phase = phase

    def close(self) -> None:
        """Clear the counting line, so that what follows starts on a line of its own."""
        if self._rewrite and self._phase:
            self._stream.write("\r\033[K")
            self._stream.flush()
            self._phase = ""

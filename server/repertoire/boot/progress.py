"""Shows a person the progress of a build: a counting line on a terminal, else one line for each phase."""

from __future__ import annotations

from typing import Protocol, TextIO


class BuildProgress(Protocol):
    """A function that is called at the start of each build phase, and then about once a second."""

    def __call__(self, phase: str, seconds: int, /) -> None:
        """Show the phase and the seconds that it has taken so far."""


def silent(_phase: str, _seconds: int, /) -> None:
    """Show nothing."""


class Terminal:
    """Writes the progress of a build to a stream; on a terminal it rewrites one line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._rewrite = stream.isatty()
        self._phase = ""

    def __call__(self, phase: str, seconds: int, /) -> None:
        """Show the phase: on a terminal with its seconds, else once."""
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

"""Opens the home for a lane of the server: hooks go on with the settings that are valid, tools refuse to meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from repertoire.app.kernel import Repertoire
from repertoire.app.wiring import find_home, open_repertoire
from repertoire.domain.errors import InvalidRequest
from repertoire.settings import load_valid


class Opened:
    """An opened home, and what is wrong with its settings."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._stack = ExitStack()
        self._environment = environment
        home = find_home()
        settings, self.faults = load_valid(home, environment)
        self.repertoire: Repertoire = self._stack.enter_context(open_repertoire(home, settings=settings))

    def close(self) -> None:
        """Release the store."""
        self._stack.close()

    @property
    def outdated(self) -> bool:
        """Tell whether settings that were invalid have changed since; valid ones hold until the server ends."""
        return bool(self.faults) and load_valid(self.repertoire.home, self._environment)[1] != self.faults

    def require_settings(self) -> None:
        """Refuse what a person asks for, as a command does, while a setting is invalid.

        Raises:
            InvalidRequest: one is; the message names it and its allowed values.
        """
        if self.faults:
            raise InvalidRequest(self.faults[0])

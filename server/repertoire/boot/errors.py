"""The errors that keep Repertoire from starting; each message is one line and says what to do.

BootError
├── HomeError           the data folder cannot be found, created or written
├── NoInterpreterError  no Python on this machine can run the environment
└── InstallError        the environment's packages could not be installed
"""

from __future__ import annotations


class BootError(Exception):
    """The environment cannot be built or found; the message is one line for a person."""


class HomeError(BootError):
    """The data folder cannot be found, created or written."""


class NoInterpreterError(BootError):
    """No Python on this machine fits, or the one that fits cannot build environments."""


class InstallError(BootError):
    """An installer ran and failed; the message names the log."""

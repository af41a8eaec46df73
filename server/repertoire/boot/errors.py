"""What can keep Repertoire from starting, each told in one line with the way out.

BootError
├── HomeError           the data folder cannot be found, created or written
├── NoInterpreterError  no Python on this machine can carry the environment
└── InstallError        the environment's packages could not be installed
"""

from __future__ import annotations


class BootError(Exception):
    """The environment cannot be had; the message is one line for a person."""


class HomeError(BootError):
    """The data folder cannot be found, created or written."""


class NoInterpreterError(BootError):
    """No Python here fits, or the one that fits cannot build environments."""


class InstallError(BootError):
    """An installer ran and failed; the message names the log."""

"""Runs a command as somebody whom file permissions hold back, also where the tests run as root."""

from __future__ import annotations

import os
import shutil

import pytest


def held_back(command: list[str]) -> list[str]:
    """Return the command without root's right to pass over permissions; skip, loudly, where that cannot be had."""
    if os.name != "posix":
        pytest.skip("NOT TESTED: permissions do not hold anybody back on this platform")
    if os.geteuid() != 0:
        return command
    if shutil.which("setpriv") is None:
        pytest.skip("NOT TESTED: root may write everywhere, and there is no setpriv to give that up")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]

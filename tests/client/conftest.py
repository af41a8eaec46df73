"""Machines to hold conversations on; without the client every scenario is skipped, with the reason in the summary."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from client.belongings import give_components, give_project
from client.client_binary import client_binary
from client.machine import REPOSITORY, Machine, Settle
from npm import UnavailableError


@pytest.fixture(scope="session")
def binary() -> Path:
    try:
        return client_binary()
    except UnavailableError as error:
        pytest.skip(f"NOT TESTED AGAINST THE REAL CLIENT: {error}")


@pytest.fixture(scope="session")
def settle(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Settle:
    """Return a maker of machines: a new HOME with personal components and a project, the plugin not yet installed."""

    def make(**env: str) -> Machine:
        machine = Machine(binary, tmp_path_factory.mktemp("m"), env)
        give_components(machine.home)
        give_project(machine.project)
        return machine

    return make


@pytest.fixture(scope="session")
def interpreter() -> str:
    """Return a Python that holds the locked packages, so that only the cold scenario builds one."""
    return os.environ.get("REPERTOIRE_PYTHON", sys.executable)


@pytest.fixture(scope="session")
def installed(settle: Settle, interpreter: str) -> Machine:
    """Return the machine that most scenarios share, the plugin installed from a git marketplace."""
    machine = settle(REPERTOIRE_PYTHON=interpreter)
    machine.install(REPOSITORY)
    return machine


@pytest.fixture
def newcomer(installed: Machine, tmp_path: Path) -> Machine:
    """Return the shared machine with no store yet."""
    return installed.also(REPERTOIRE_HOME=str(tmp_path / "data"))


@pytest.fixture(scope="session")
def filled(installed: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder in which everything on the shared machine has been read and embedded."""
    data = tmp_path_factory.mktemp("filled") / "data"
    done = installed.also(REPERTOIRE_HOME=str(data)).run(REPOSITORY / "bin" / "repertoire", "refresh")
    assert done.returncode == 0, done.stdout + done.stderr
    return data


@pytest.fixture
def regular(installed: Machine, filled: Path, tmp_path: Path) -> Machine:
    """Return the shared machine with a filled store of this test's own."""
    shutil.copytree(filled, tmp_path / "data")
    return installed.also(REPERTOIRE_HOME=str(tmp_path / "data"))

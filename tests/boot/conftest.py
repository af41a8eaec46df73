"""Copies of the plugin to boot; one environment is built for all tests that only need some environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from boot.checkout import Checkout, copy_plugin, pebble, without
from boot.talk import Client

Connect = Callable[..., Client]


@pytest.fixture(scope="session")
def requirement(tmp_path_factory: pytest.TempPathFactory) -> str:
    return pebble(tmp_path_factory.mktemp("wheels"))


@pytest.fixture
def checkout(tmp_path: Path, requirement: str) -> Checkout:
    """Return a plugin that has no environment yet."""
    fresh = copy_plugin(tmp_path / "plugin", tmp_path / "user" / "home")
    fresh.lock(requirement)
    return fresh


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory, requirement: str) -> Path:
    """Return an environment that fits every fresh checkout."""
    folder = tmp_path_factory.mktemp("built")
    builder = copy_plugin(folder / "plugin", folder / "home")
    builder.lock(requirement)
    done = builder.build()
    assert done.returncode == 0, done.stderr
    return builder.environments[0]


@pytest.fixture
def warm(checkout: Checkout, environment: Path) -> Checkout:
    """Return a plugin whose environment is ready."""
    checkout.adopt(environment)
    return checkout


@pytest.fixture
def cold(checkout: Checkout, environment: Path) -> Iterator[Checkout]:
    """Return a plugin whose builds wait until the test is over, or until it lets the environment stand finished."""
    with checkout.build_held_up():
        yield checkout
        checkout.adopt(environment)  # so that no build is left running behind the tests that follow


@pytest.fixture
def hostile_project(tmp_path: Path) -> Path:
    """Return a folder to work in whose files bear the names of modules and settings that are not meant."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("pebble", "venv", "pip", "runpy", "json", "repertoire"):
        (project / f"{name}.py").write_text("raise SystemExit('imported from the project')")
    (project / "uv.toml").write_text("this is no setting")
    return project


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Return a maker of clients, all of which are gone when the test ends."""
    clients: list[Client] = []

    def make(*arguments: object, **named: object) -> Client:
        clients.append(Client(*arguments, **named))  # type: ignore[arg-type]
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def between(cold: Checkout, environment: Path, connect: Connect) -> Client:
    """Return a client whose launcher waited for the environment, and therefore stays."""
    client: Client = connect(cold)
    client.handshake()
    held = client.call("pid")
    cold.adopt(environment)
    assert int(client.text(held)) != client.process.pid
    client.wait(lambda message: message.get("method") == "notifications/tools/list_changed")
    return client


@pytest.fixture(scope="session")
def python39() -> str:
    """Return a Python that may start the plugin and cannot carry its environment."""
    named = os.environ.get("REPERTOIRE_PYTHON39")
    for candidate in filter(None, [named, shutil.which("python3.9"), *pyenv("3.9.*")]):
        if version(candidate) == "3.9":
            return candidate
    pytest.skip("NOT TESTED ON PYTHON 3.9: none on PATH, and REPERTOIRE_PYTHON39 names none")


@pytest.fixture(scope="session", params=["3.6", "3.7", "3.8"])
def ancient(request: pytest.FixtureRequest) -> str:
    """Return a Python too old for the plugin."""
    wanted: str = request.param
    for candidate in filter(None, [shutil.which(f"python{wanted}"), *pyenv(f"{wanted}.*")]):
        if version(candidate) == wanted:
            return candidate
    pytest.skip(f"NOT TESTED ON PYTHON {wanted}: none on PATH")


@pytest.fixture
def uv(checkout: Checkout) -> str:
    found = shutil.which("uv")
    if found is None:
        pytest.skip("NOT TESTED WITH uv: none on PATH")
    return found


@pytest.fixture
def without_uv() -> str:
    return without("uv")


def pyenv(pattern: str) -> list[str]:
    """Return the interpreters that a version manager keeps, whose shims need not be switched to them."""
    root = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    return [str(found) for found in Path(root).glob(f"versions/{pattern}/bin/python3")]


def version(python: str) -> str:
    code = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=30, check=False).stdout
    except OSError:
        return ""


@pytest.fixture
def as_ordinary_user() -> tuple[str, ...]:
    """Return what to put before a command so that the permissions of files hold, for root too."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return ()
    dropped = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
    if shutil.which("setpriv") is None:
        pytest.skip("NOT TESTED ON A READ-ONLY HOME: we are root and have no setpriv")
    return dropped

"""Where a machine has no uv, pip fetches one, which fills the environment in a third of pip's time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from boot.checkout import Checkout, make_wheel, run, script
from repertoire.boot import installer, interpreter
from repertoire.boot.errors import InstallError, NoInterpreterError

Fetch = Callable[[], list[str]]


@pytest.fixture
def fetch(checkout: Checkout, uv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    """Build with a fetched uv: a wheel from which a script calls the real one; return the phases that were told."""
    runs = f'#!/bin/sh\nexec {uv} "$@"\n'
    lock, phases = tmp_path / "requirements-uv.lock", []
    lock.write_text(make_wheel(tmp_path, "uv", "1.0", {"uv-1.0.data/scripts/uv": runs}) + "\n")
    monkeypatch.setattr(installer, "uv_lock_file", lambda: lock)
    monkeypatch.setenv("UV_OFFLINE", "1")

    def build() -> list[str]:
        (tmp_path / "envs").mkdir()
        job = installer.Job(
            tmp_path / "envs" / "one",
            checkout.root / "requirements.lock",
            tmp_path / "log",
            lambda phase, _: phases.append(phase) if phase not in phases else None,
        )
        installer.with_fetched_uv(job)
        return phases

    return build


def test_pip_fetches_a_uv_that_fills_the_environment_and_is_not_kept(
    fetch: Fetch, checkout: Checkout, tmp_path: Path
) -> None:
    assert fetch() == ["fetching uv", "making an environment", "installing packages with uv"]
    assert [entry.name for entry in (tmp_path / "envs").iterdir()] == ["one"]
    python = str(tmp_path / "envs" / "one" / "bin" / "python")
    assert run([python, "-c", "import pebble"], checkout.environ()).returncode == 0


def test_versions_that_a_machine_prescribes_to_installers_do_not_hinder_the_locked_ones(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = tmp_path / "constraint.txt"
    others.write_text("pebble==0.1\n")
    for variable in ("PIP_CONSTRAINT", "UV_CONSTRAINT", "UV_OVERRIDE"):
        monkeypatch.setenv(variable, str(others))
    env = tmp_path / "env"
    installer.with_pip(installer.Job(env, checkout.root / "requirements.lock", tmp_path / "log", lambda *_: None))
    assert run([str(env / "bin" / "python"), "-c", "import pebble"], checkout.environ()).returncode == 0
    assert not {"UV_CONSTRAINT", "UV_OVERRIDE"} & set(installer.environment())


@pytest.fixture
def none_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(*, needs_ensurepip: bool) -> None:
        raise NoInterpreterError

    monkeypatch.setattr(interpreter, "find", find)


@pytest.mark.usefixtures("none_fits")
def test_pip_of_a_python_that_is_too_old_fetches_uv_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(installer, "_run", lambda command, *_: asked.append(command))
    installer.with_fetched_uv(installer.Job(tmp_path / "one", tmp_path / "lock", tmp_path / "log", lambda *_: None))
    assert asked[0][:4] == [sys.executable, "-I", "-m", "pip"]
    assert asked[1][1:6] == ["venv", "--quiet", "--no-project", "--python", installer.UV_PYTHON]


@pytest.mark.usefixtures("none_fits")
def test_a_python_that_cannot_be_fetched_may_be_installed_by_hand(tmp_path: Path) -> None:
    uv = script(tmp_path / "uv", "echo error: no route >&2; exit 2")
    job = installer.Job(tmp_path / "one", tmp_path / "lock", tmp_path / "log", lambda *_: None)
    with pytest.raises(InstallError, match=r"fetching Python .* no route\): check the network, or install Python 3"):
        installer.with_uv(str(uv), job)


def test_pip_fetches_into_a_folder_though_a_person_has_it_ask_for_a_virtual_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIP_REQUIRE_VIRTUALENV", "1")  # a variable comes before pip's file of settings
    assert installer.environment()["PIP_REQUIRE_VIRTUALENV"] == "0"


@pytest.mark.parametrize(
    ("settings", "may"),
    [
        ({}, True),
        ({"PIP_INDEX_URL": "https://mirror.example/simple"}, False),
        ({"PIP_EXTRA_INDEX_URL": "https://more.example/simple"}, True),
        ({"PIP_NO_INDEX": "1"}, False),
        ({"PIP_PROXY": "proxy.example:3128"}, False),
        ({"PIP_TIMEOUT": "100", "PIP_CERT": "/etc/ssl/certs/ca-certificates.crt"}, True),
    ],
)
def test_no_uv_is_fetched_where_pip_knows_another_way_to_packages(
    settings: dict[str, str], may: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "none"))
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert installer.may_fetch_uv() is may

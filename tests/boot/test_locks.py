"""The locks hold one hashed version of everything, for every Python and platform we run on, and name no host."""

from __future__ import annotations

import re
import sys

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement

from boot.checkout import REPOSITORY

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOCKS = ("requirements.lock", "requirements-dev.lock")
PLATFORMS = (
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "aarch64"},
    {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
)


def pins(name: str) -> list[tuple[Requirement, int]]:
    """Return each pin with the number of its hashes."""
    text = re.sub(r"#.*", "", (REPOSITORY / name).read_text()).replace("\\\n", " ")
    lines = [line.split("--hash=sha256:") for line in text.splitlines() if line.strip()]
    return [(Requirement(line[0].strip()), len(line) - 1) for line in lines]


def declared(name: str) -> list[Requirement]:
    """Return what the project file asks of the lock."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    development = project["dependency-groups"]["dev"] if "dev" in name else []
    return [Requirement(line) for line in project["project"]["dependencies"] + development]


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_is_exact_and_hashed_and_names_no_place(name: str) -> None:
    for pin, hashes in pins(name):
        assert [specifier.operator for specifier in pin.specifier] == ["=="], pin
        assert hashes > 0, pin
        assert pin.url is None
    text = (REPOSITORY / name).read_text()
    assert not re.search(r"://|--index|--extra|--find|file:|/home|/root", text)
    assert str(REPOSITORY) not in text


@pytest.mark.parametrize("name", LOCKS)
@pytest.mark.parametrize("python", ["3.10", "3.11", "3.12", "3.13", "3.14"])
def test_every_platform_gets_one_version_of_everything_declared(name: str, python: str) -> None:
    for platform in PLATFORMS:
        here = {**default_environment(), **platform, "python_version": python, "python_full_version": f"{python}.9"}
        chosen: dict[str, Requirement] = {}
        for pin, _ in pins(name):
            if pin.marker is None or pin.marker.evaluate(here):
                assert pin.name not in chosen, pin
                chosen[pin.name] = pin
        for requirement in declared(name):
            if requirement.marker is None or requirement.marker.evaluate(here):
                (version,) = chosen[requirement.name.lower()].specifier
                assert requirement.specifier.contains(version.version), requirement


def test_tests_run_on_the_versions_that_users_get() -> None:
    runtime, dev = ({str(pin) for pin, _ in pins(name)} for name in LOCKS)
    assert runtime <= dev


def test_the_script_that_writes_them_is_there() -> None:
    assert (REPOSITORY / "tools" / "lock").stat().st_mode & 0o100

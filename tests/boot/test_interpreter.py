"""A Python that fits is found on machines that offer strange ones."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from boot.checkout import script
from repertoire.boot import interpreter
from repertoire.boot.errors import NoInterpreterError

FINE = {"wheels": True, "ensurepip": True}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on PATH; the running Python is 3.9."""
    folder = tmp_path / "bin"
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "executable", str(python(folder / "python3", (3, 9), **FINE)))
    return folder


def python(path: Path, version: tuple[int, int], *, wheels: bool, ensurepip: bool) -> Path:
    """Put something there that answers as such a Python would."""
    told = {"path": str(path), "version": version, "wheels": wheels, "ensurepip": ensurepip}
    return script(path, f"echo '{json.dumps(told)}'")


def test_the_running_python_is_taken_where_it_fits() -> None:
    found = interpreter.find(needs_ensurepip=False)
    assert found.version == sys.version_info[:2]
    assert not found.path.is_symlink()


def test_an_active_virtual_environment_is_not_what_ours_hangs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = interpreter.find(needs_ensurepip=False).path
    (tmp_path / "bin").mkdir()
    (tmp_path / "pyvenv.cfg").write_text(f"home = {base.parent}\n")
    (tmp_path / "bin" / "python").symlink_to(base)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    assert interpreter.find(needs_ensurepip=False).path == base


def test_the_newest_that_fits_is_taken_from_PATH(machine: Path) -> None:  # noqa: N802
    python(machine / "python3.10", (3, 10), **FINE)
    best = python(machine / "python3.12", (3, 12), **FINE)
    python(machine / "python3.15", (3, 15), **FINE)
    assert interpreter.find(needs_ensurepip=True).path == best


def test_a_shim_that_fails_is_passed_over(machine: Path) -> None:
    script(machine / "python3.13", "echo 'version 3.13 is not installed' >&2; exit 127")
    script(machine / "python3.12", "echo hello")
    works = python(machine / "python3.11", (3, 11), **FINE)
    assert interpreter.find(needs_ensurepip=True).path == works


@pytest.mark.parametrize("odd", [{"wheels": False, "ensurepip": True}, {"wheels": True, "ensurepip": False}])
def test_one_that_lacks_something_gives_way_to_one_that_does_not(machine: Path, odd: dict[str, bool]) -> None:
    python(machine / "python3.13", (3, 13), **odd)
    whole = python(machine / "python3.10", (3, 10), **FINE)
    assert interpreter.find(needs_ensurepip=True).path == whole


def test_uv_needs_no_ensurepip(machine: Path) -> None:
    bare = python(machine / "python3.12", (3, 12), wheels=True, ensurepip=False)
    assert interpreter.find(needs_ensurepip=False).path == bare


def test_missing_ensurepip_is_one_line_with_the_package_to_install(machine: Path) -> None:
    python(machine / "python3.12", (3, 12), wheels=True, ensurepip=False)
    with pytest.raises(NoInterpreterError, match=r"3\.12 at .*apt install python3-venv.*uv") as told:
        interpreter.find(needs_ensurepip=True)
    assert "\n" not in str(told.value)


def test_no_fitting_python_is_one_line_with_what_was_found(machine: Path) -> None:
    with pytest.raises(NoInterpreterError, match=r"needs CPython 3\.10 to 3\.14.*found 3\.9 at .*uv") as told:
        interpreter.find(needs_ensurepip=False)
    assert "\n" not in str(told.value)


def there(monkeypatch: pytest.MonkeyPatch, system: tuple[str, str, str, str], libc: str | None = None) -> None:
    """Let this be a machine of that system, release, version and processor."""
    sysname, release, version, machine = system
    monkeypatch.setattr(sys, "platform", sysname.lower())
    monkeypatch.setattr(os, "uname", lambda: os.uname_result((sysname, "host", release, version, machine)))
    if libc is None:
        monkeypatch.delattr(os, "confstr")
    else:
        monkeypatch.setattr(os, "confstr", {"CS_GNU_LIBC_VERSION": libc}.get)


@pytest.mark.parametrize(
    ("system", "libc", "named"),
    [
        (("Linux", "6.1", "#1", "x86_64"), None, "Linux without glibc, as Alpine"),
        (("Linux", "3.10", "#1", "aarch64"), "glibc 2.17", "Linux with glibc 2.17"),
        (("Linux", "6.1", "#1", "riscv64"), "glibc 2.39", "Linux on riscv64"),
        (("Darwin", "24.1.0", "root:xnu-1/RELEASE_X86_64", "x86_64"), None, "macOS on Intel"),
        (("Darwin", "21.6.0", "root:xnu-1/RELEASE_ARM64_T8101", "arm64"), None, "macOS 12 or older"),
    ],
)
def test_a_machine_without_wheels_is_named_in_one_line_that_says_where_repertoire_runs(
    system: tuple[str, str, str, str], libc: str | None, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        there(patched, system, libc)
        with pytest.raises(NoInterpreterError) as told:
            interpreter.refuse_machine()
    assert f"({named})" in str(told.value)
    assert interpreter.SUPPORTED in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("system", "libc"),
    [
        (("Linux", "6.1", "#1", "aarch64"), "glibc 2.28"),
        (("Darwin", "23.0.0", "root:xnu-1/RELEASE_ARM64_T8103", "arm64"), None),
        (("Darwin", "23.0.0", "root:xnu-1/RELEASE_ARM64_T8103", "x86_64"), None),  # an Intel Python on Apple silicon
    ],
)
def test_a_machine_with_wheels_is_not_refused(
    system: tuple[str, str, str, str], libc: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        there(patched, system, libc)
        interpreter.refuse_machine()


def test_the_machine_that_tests_run_on_is_not_refused() -> None:
    interpreter.refuse_machine()


@pytest.mark.parametrize("missing", ["_sqlite3", "zlib"])
def test_a_python_that_was_compiled_without_what_no_wheel_brings_does_not_fit(
    missing: str, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        f"import importlib.util as u; real = u.find_spec; u.find_spec = lambda n: None if n == '{missing}' else real(n)"
    )
    poor = script(machine / "python3.12", f'exec {sys.base_prefix}/bin/python3 -I -c "{code}; $3"')
    found = interpreter.probe(str(poor))
    assert found is not None
    assert not found.fits

"""The environment is built once, completely, and from the lock alone; if it fails, one line gives the reason."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from boot.checkout import REPOSITORY, Checkout, pebble, run, script
from boot.talk import PATIENCE_S
from repertoire.boot import environment as environment_module
from repertoire.boot import installer, interpreter
from repertoire.boot.errors import InstallError, NoInterpreterError

OLD = time.time() - 31 * 86_400


def test_the_first_command_builds_and_the_second_finds_it(checkout: Checkout, hostile_project: Path) -> None:
    first = run(checkout.command("recommend", "an OAuth login"), checkout.environ(), cwd=hostile_project)
    assert json.loads(first.stdout) == {
        "arguments": ["recommend", "an OAuth login"],
        "weight": "1.0",
        "python": list(sys.version_info[:2]),
    }, first.stderr
    assert re.fullmatch(
        "repertoire: making an environment …\nrepertoire: installing packages with (uv|pip) …\n", first.stderr
    )
    second = run(checkout.command("status"), checkout.environ(), cwd=hostile_project)
    assert (json.loads(second.stdout)["arguments"], second.stderr) == (["status"], "")
    assert checkout.home.stat().st_mode & 0o777 == 0o700


def test_it_runs_through_a_link_with_whatever_python3_is(warm: Checkout, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "repertoire").symlink_to(warm.root / "bin" / "repertoire")
    (tmp_path / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    path = f"{tmp_path / 'bin'}{os.pathsep}{warm.path}"
    done = run([str(tmp_path / "bin" / "repertoire"), "status"], warm.environ(PATH=path))
    assert json.loads(done.stdout)["arguments"] == ["status"], done.stderr


def test_venv_and_pip_build_it_where_there_is_no_uv(checkout: Checkout, without_uv: str) -> None:
    done = checkout.build(PATH=without_uv)
    assert "with pip" in done.stderr
    assert Path(done.stdout.strip()).exists()


def test_the_environments_own_pip_fills_it_where_the_interpreters_cannot(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installer, "PIP_FOR_OTHERS", (999, 0))
    env = tmp_path / "env"
    installer.with_pip(installer.Job(env, checkout.root / "requirements.lock", tmp_path / "log", lambda *_: None))
    python = str(env / "bin" / "python")
    assert run([python, "-c", "import pebble, pip"], checkout.environ()).returncode == 0


def test_uv_builds_it_where_there_is_one(checkout: Checkout, uv: str) -> None:
    done = checkout.build()
    assert "with uv" in done.stderr
    assert run([done.stdout.strip(), "-c", "import pebble"], checkout.environ()).returncode == 0


def test_pip_takes_over_where_uv_fails_and_neither_gets_the_clients_keys(
    checkout: Checkout, tmp_path: Path, without_uv: str
) -> None:
    seen = tmp_path / "seen"
    script(tmp_path / "bin" / "uv", f'[ "$1" = --version ] && exit 0; env > {seen}; echo error: no route >&2; exit 2')
    done = checkout.build(
        PATH=f"{tmp_path / 'bin'}{os.pathsep}{without_uv}",
        ANTHROPIC_API_KEY="key",
        CLAUDE_CODE_OAUTH_TOKEN="token",
        CLAUDE_CONFIG_DIR="folder",
        PYTHONPATH="elsewhere",
    )
    assert done.returncode == 0, done.stderr
    assert "with pip" in done.stderr
    assert not re.search("ANTHROPIC|CLAUDE|PYTHONPATH", seen.read_text())
    assert "no route" in (checkout.home / "log" / "install.log").read_text()


def test_a_package_without_a_wheel_for_the_machine_is_not_blamed_on_the_network(
    checkout: Checkout, tmp_path: Path
) -> None:
    said = "cause: Because onyx==1.3 has no wheels with a matching platform tag (e.g., `macosx_13_0_arm64`) and you"
    script(tmp_path / "bin" / "uv", f"echo 'error: No solution found' >&2; echo '  {said}' >&2; exit 1")
    job = installer.Job(tmp_path / "env", checkout.root / "requirements.lock", tmp_path / "log", lambda *_: None)
    with pytest.raises(InstallError, match=r"\(onyx==1\.3 has no wheels .*`macosx_13_0_arm64`\)\): Repertoire needs "):
        installer.with_uv(str(tmp_path / "bin" / "uv"), job)


def test_a_machine_without_wheels_is_told_so_and_nothing_is_fetched(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreter, "_oddity", lambda: "Linux without glibc, as Alpine")
    with pytest.raises(NoInterpreterError, match="Alpine"):
        environment_module.ensure(checkout.home)
    assert "Alpine" in (environment_module.failure(checkout.home) or "")
    assert not (checkout.home / "log" / "install.log").exists()


def test_two_at_once_build_once(checkout: Checkout) -> None:
    with checkout.build_held_up():
        both = [
            subprocess.Popen(
                checkout.build_command(),
                env=checkout.environ(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        waiting = [process.stderr.readline() for process in both if process.stderr]
    told = [process.communicate(timeout=PATIENCE_S) for process in both]
    assert waiting == ["repertoire: waiting for another process that builds the environment …\n"] * 2
    assert told[0][0] == told[1][0]
    assert len(checkout.environments) == 1
    assert (checkout.home / "log" / "install.log").read_text().count("making an environment") == 1


def test_a_build_that_was_killed_half_way_is_begun_anew(checkout: Checkout, tmp_path: Path, without_uv: str) -> None:
    begun, over = tmp_path / "begun", tmp_path / "over"
    os.mkfifo(begun)
    os.mkfifo(over)
    half = f'[ "$1" = --version ] && exit 0; for env; do :; done; mkdir -p "$env/bin"; echo > {begun}; cat {over}'
    script(tmp_path / "bin" / "uv", f'{half}; touch "$env/late"')
    first = subprocess.Popen(
        checkout.build_command(),
        env=checkout.environ(PATH=f"{tmp_path / 'bin'}{os.pathsep}{without_uv}"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    begun.read_bytes()  # the installer stands half-way now
    first.send_signal(signal.SIGKILL)
    first.wait(timeout=PATIENCE_S)
    second = checkout.build(PATH=without_uv)
    over.write_bytes(b"")  # and only now does the installer of the killed build go on
    assert second.returncode == 0, second.stderr
    assert run([second.stdout.strip(), "-c", "import pebble"], checkout.environ()).returncode == 0
    assert len(checkout.environments) == 1


def test_an_environment_without_its_interpreter_is_built_anew(checkout: Checkout, environment: Path) -> None:
    python = checkout.take_copy(environment) / "bin" / "python"
    python.unlink()
    python.symlink_to("/gone/with/the/upgrade")
    again = checkout.build()
    assert Path(again.stdout.strip()).exists()
    assert len(checkout.environments) == 1


def harm(env: Path) -> None:
    """Take the package from an environment, as a cleaner or an interrupted update does."""
    next(env.glob("lib/python*/site-packages/pebble.py")).unlink()
    shutil.rmtree(next(env.glob("lib/python*/site-packages/__pycache__")), ignore_errors=True)


def test_a_command_in_a_damaged_environment_is_one_line_and_the_next_one_builds_it_anew(
    checkout: Checkout, environment: Path
) -> None:
    harm(checkout.take_copy(environment))
    first = run(checkout.command("status"), checkout.environ())
    assert (first.returncode, first.stdout) == (1, "")
    assert first.stderr == (
        "repertoire: the environment is damaged (No module named 'pebble'); "
        "run the same command again, which builds it anew\n"
    )
    second = run(checkout.command("status"), checkout.environ())
    assert json.loads(second.stdout)["weight"] == "1.0", second.stderr
    [env] = checkout.environments
    harm(env)
    third = run(checkout.command("status"), checkout.environ())
    assert third.stderr.endswith("(No module named 'pebble'); run `repertoire doctor`\n")
    assert checkout.environments == [env], "one rebuild a day is enough"


def test_a_moment_without_memory_does_not_cost_the_environment(checkout: Checkout, environment: Path) -> None:
    env = checkout.take_copy(environment)
    said = "/x/pebble.so: failed to map segment from shared object"
    told = f"This can have many reasons.\n\n{said}\n"  # as numpy does
    next(env.glob("lib/python*/site-packages/pebble.py")).write_text(f"raise ImportError({told!r})\n")
    done = run(checkout.command("status"), checkout.environ())
    assert done.stderr == (
        f"repertoire: a package cannot be loaded ({said}); free some memory, or set REPERTOIRE_HOME to a folder "
        "from which programs may run, and try again\n"
    )
    assert checkout.environments == [env]


def test_a_given_python_that_lacks_a_package_is_left_as_it_is(checkout: Checkout, environment: Path) -> None:
    env = checkout.take_copy(environment)
    harm(env)
    done = run(checkout.command("status"), checkout.environ(REPERTOIRE_PYTHON=str(env / "bin" / "python")))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "run `repertoire doctor`" in done.stderr
    assert checkout.environments == [env]


def test_a_changed_lock_gets_its_own_environment_and_long_unused_ones_go(
    checkout: Checkout, environment: Path, tmp_path: Path
) -> None:
    first = checkout.take_copy(environment)
    forgotten, abandoned = checkout.home / "env" / "0-old", checkout.home / "env" / "0-unfinished"
    shutil.copytree(environment, forgotten, symlinks=True)
    os.utime(forgotten / ".ready", (OLD, OLD))
    abandoned.mkdir()
    os.utime(abandoned, (OLD, OLD))
    checkout.lock(pebble(tmp_path / "newer", "2.0"))
    second = Path(checkout.build().stdout.strip()).parents[1]
    assert {path.name for path in (checkout.home / "env").glob("*-*")} == {first.name, second.name}


def test_use_keeps_an_environment_from_being_forgotten(warm: Checkout, environment: Path) -> None:
    os.utime(environment / ".ready", (OLD, OLD))
    assert warm.build().returncode == 0
    assert (environment / ".ready").stat().st_mtime > OLD + 86_400


def test_a_package_that_is_not_the_locked_one_is_refused(checkout: Checkout, tmp_path: Path) -> None:
    line = pebble(tmp_path / "wheels")
    checkout.lock(line[:-8] + "deadbeef")
    done = checkout.build()
    assert done.returncode == 1
    assert checkout.environments == []


def test_a_failed_install_is_one_line_with_the_log(checkout: Checkout) -> None:
    checkout.lock("pebble==9.9 --hash=sha256:" + "0" * 64)
    done = run(checkout.command(), checkout.environ())
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert re.match(r"repertoire: installing packages with (uv|pip) failed \(.+\): check the network and try", last)
    assert last.endswith(f"the log is {checkout.home / 'log' / 'install.log'}")
    assert "Traceback" not in done.stderr
    assert (checkout.home / "log" / "install.log").stat().st_size > 0
    assert [path.name for path in (checkout.home / "env").glob("*-*") if path.is_dir()] == []


def test_a_read_only_home_serves_what_is_there(
    checkout: Checkout, environment: Path, as_ordinary_user: tuple[str, ...]
) -> None:
    checkout.adopt(environment)
    _make_read_only(checkout.home)
    done = run([*as_ordinary_user, *checkout.command("status")], checkout.environ())
    assert json.loads(done.stdout)["arguments"] == ["status"], done.stderr


def test_a_read_only_home_without_an_environment_is_one_line(
    checkout: Checkout, as_ordinary_user: tuple[str, ...]
) -> None:
    checkout.home.mkdir(parents=True)
    _make_read_only(checkout.home)
    done = run([*as_ordinary_user, *checkout.command("status")], checkout.environ())
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"repertoire: the environment is not built yet and .* cannot be written: .*\n", done.stderr)


def test_a_python_that_already_has_the_packages_is_used_as_it_is(checkout: Checkout, environment: Path) -> None:
    given = str(environment / "bin" / "python")
    assert checkout.build(REPERTOIRE_PYTHON=given).stdout.strip() == given
    assert not (checkout.home / "env").exists()
    wrong = checkout.build(REPERTOIRE_PYTHON="/nowhere/python")
    assert wrong.stderr.startswith("repertoire: REPERTOIRE_PYTHON names /nowhere/python")


def test_it_starts_on_python_3_9_and_builds_with_a_newer_one(checkout: Checkout, python39: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").symlink_to(Path(sys.executable).resolve())
    done = run(
        checkout.command("status", python=python39),
        checkout.environ(PATH=str(tmp_path / "bin")),
    )
    assert json.loads(done.stdout)["python"] == list(sys.version_info[:2]), done.stderr


def test_no_fitting_python_is_one_line(checkout: Checkout, python39: str, tmp_path: Path) -> None:
    done = run(checkout.command(python=python39), checkout.environ(PATH=str(tmp_path)))
    assert done.returncode == 1
    assert re.fullmatch(r"repertoire: needs CPython 3\.10 to 3\.14 .*found 3\.9 at .*\n", done.stderr)


def test_a_python_without_ensurepip_is_one_line(checkout: Checkout, python39: str, tmp_path: Path) -> None:
    told = {"path": "/usr/bin/python3.11", "version": [3, 11], "wheels": True, "ensurepip": False}
    script(tmp_path / "bin" / "python3.11", f"echo '{json.dumps(told)}'")
    done = run(checkout.command(python=python39), checkout.environ(PATH=str(tmp_path / "bin")))
    assert done.returncode == 1
    assert re.fullmatch(r"repertoire: Python 3\.11 at .*ensurepip.*apt install python3-venv.*\n", done.stderr)


def test_an_ancient_python_is_one_line(checkout: Checkout, ancient: str) -> None:
    done = run(checkout.command(python=ancient), checkout.environ())
    assert done.returncode == 1
    assert re.fullmatch(r"repertoire: needs Python 3\.9 or newer to start, this is 3\.\d\n", done.stderr)


def _make_read_only(home: Path) -> None:
    for folder in (home / "env", home):
        if folder.exists():
            folder.chmod(0o500)


@pytest.mark.parametrize("hook", ["session_start", "session_end"])
def test_an_ancient_python_says_nothing_when_a_session_starts_or_ends(
    checkout: Checkout, ancient: str, hook: str
) -> None:
    line = [ancient, "-I", "-S", str(REPOSITORY / "hooks" / f"{hook}.py")]
    done = run(line, checkout.environ())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

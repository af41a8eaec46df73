"""`doctor` through the command that starts everything: each piece is broken for real, and its line read."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Run
from repertoire.app.clock import now
from repertoire.app.health.doctor_client import DEADLINE_S
from repertoire.app.health.doctor_store import database
from repertoire.app.sources.advisories import advisories
from repertoire.domain.answer import BODY_SPACE
from repertoire.domain.component import SourceInfo
from repertoire.domain.health import Finding
from repertoire.inference.weights import bundled
from repertoire.store.database import Store
from sample_home import component, record_of

ROOT = Path(__file__).resolve().parents[2]
NAME = "repertoire@repertoire"
Examined = dict[str, dict[str, str]]
Doctor = Callable[..., Examined]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a copy of the plugin that may be harmed."""
    root = tmp_path / "plugin"
    for name in ("server", "bin", "hooks", ".claude-plugin"):
        # Another test's process may rename a compiled file while it is copied.
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "requirements.lock", root)
    return root


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


@pytest.fixture
def home(environment: dict[str, str], source: Path) -> Path:
    """Return a home with a source in it that was just read."""
    home = Path(environment["REPERTOIRE_HOME"])
    home.mkdir(mode=0o700)
    with Store.open(home / "repertoire.db") as store:
        told = SourceInfo(f"folder:{source}", "folder", str(source), "")
        records = [record_of(component("skill", f"skill-{number}", "Reviews requests. " * 40)) for number in range(40)]
        store.sources.write(told, records, [], derived=[], now=now())
        model = bundled()
        rows = store.vectors.pending(BODY_SPACE, model.model, limit=len(records))
        store.vectors.mark(BODY_SPACE, model.model, model.dimensions, rows)
        store.backup.write(now=now())
    return home


@pytest.fixture
def client(environment: dict[str, str], plugin: Path) -> Path:
    """Return Claude Code's folder as the client leaves it when the plugin was installed from a marketplace."""
    config = Path(environment["HOME"]) / ".claude"
    (config / "plugins").mkdir(parents=True)
    write(config / "settings.json", {"enabledPlugins": {NAME: True}})
    record = {"scope": "user", "installPath": str(plugin), "version": "0.1.0"}
    write(config / "plugins" / "installed_plugins.json", {"version": 2, "plugins": {NAME: [record]}})
    return config


@pytest.fixture
def machine(environment: dict[str, str], home: Path, client: Path) -> dict[str, str]:
    """Return the environment of a machine on which everything is well, and where no environment was built yet."""
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}


def write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture
def doctor(plugin: Path, machine: dict[str, str], tmp_path: Path) -> Doctor:
    """Run the doctor and return its findings by check."""
    project = tmp_path / "project"
    project.mkdir()

    def examine(*, status: int, python: str = sys.executable, **more: str) -> Examined:
        done = subprocess.run(
            [python, str(plugin / "bin" / "repertoire"), "doctor", "--json"],
            cwd=project,
            env={**machine, **more},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert done.stderr == ""
        told: dict[str, Any] = json.loads(done.stdout)
        assert told["healthy"] is (status == 0)
        return {finding["check"]: finding for finding in told["findings"]}

    return examine


def told_of(found: Examined) -> dict[str, str]:
    """Return the states other than ok, by check; that a hook is slow tells of the tests that run beside it."""
    states = {check: finding["state"] for check, finding in found.items() if "hook took" not in finding["text"]}
    return {check: state for check, state in states.items() if state != "ok"}


def own_environment(folder: Path) -> Path:
    """Return the python of an environment that sees this one's packages and may be harmed, and its own packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    return packages


def test_a_sound_machine_is_told_to_be_sound(doctor: Doctor, home: Path) -> None:
    before = (home / "repertoire.db").read_bytes()
    found = doctor(status=0, REPERTOIRE_PYTHON=sys.executable)
    assert " ".join(found) == (
        "interpreter home environment vectors settings model database sources listing embedding backup advisories "
        "hooks client"
    )
    assert not told_of(found)
    assert "40 components" in found["sources"]["text"]
    assert (home / "repertoire.db").read_bytes() == before


def test_components_without_their_vectors_are_counted_with_what_embeds_them(doctor: Doctor, home: Path) -> None:
    told = SourceInfo("folder:more", "catalogue", "", "")
    with Store.open(home / "repertoire.db") as store:
        store.sources.write(told, [record_of(component("skill", "new", "New."))], [], derived=[], now=now())
    found = doctor(status=0)["embedding"]
    assert found["state"] == "warn"
    assert found["text"].startswith("1 of 41 components have no vector by ")
    assert "repertoire refresh" in found["mend"]


def test_descriptions_beyond_what_the_model_is_told_are_a_warning(doctor: Doctor, home: Path) -> None:
    assert "in use: 0, their descriptions 0 characters" in doctor(status=0)["listing"]["text"]

    with contextlib.closing(sqlite3.connect(home / "repertoire.db")) as db:
        db.execute("UPDATE component SET installed = 1")
        db.execute("UPDATE component SET invocation = 'person' WHERE node_id % 4 = 0")
        db.commit()
    found = doctor(status=0)["listing"]
    assert "in use: 30, their descriptions 21,600 characters" in found["text"]
    with contextlib.closing(sqlite3.connect(home / "repertoire.db")) as db:
        db.execute("UPDATE component SET invocation = ''")
        db.commit()
    found = doctor(status=0)["listing"]
    assert found["state"] == "warn"
    assert "in use: 40, their descriptions 28,800 characters" in found["text"]
    assert "repertoire stats" in found["mend"]


def test_advisories_are_told_with_their_age_and_the_installed_things_that_they_concern(
    doctor: Doctor, home: Path, tmp_path: Path
) -> None:
    def told(python: Path | None) -> Finding:
        return next(one for one in database(home / "repertoire.db", "", python, "") if one.check == "advisories")

    here, affected = Path(sys.executable), {"package": {"name": "pebble", "ecosystem": "PyPI"}, "versions": ["1.0"]}
    (tmp_path / "osv.json").write_text(json.dumps({"id": "GHSA-1", "affected": [affected]}))
    with Store.open(home / "repertoire.db") as store:
        advisories(store, tmp_path / "osv.json")
    assert told(None).text.endswith("not matched: there is no environment yet")
    assert re.fullmatch(r"1 on 1 packages, last read 20\S+Z; they concern nothing installed", told(here).text)
    needs = {"sure": "==1.0", "maybe": "", "fine": "==2.0"}
    items = {name: component("skill", name, "Thrown.", installed=True) for name in needs}
    needy = [record_of(items[name], needs=[f"package:pebble{version}"]) for name, version in needs.items()]
    with Store.open(home / "repertoire.db") as store:
        store.sources.write(SourceInfo("user", "user", "", ""), needy, [], derived=[], now=now())
    found = doctor(status=0, REPERTOIRE_PYTHON=sys.executable)["advisories"]
    assert found["state"] == "warn"
    assert f"concern 1 surely and 1 possibly: {items['sure'].id}, {items['maybe'].id}" in found["text"]
    assert "repertoire advisories" in found["mend"]
    with contextlib.closing(sqlite3.connect(home / "repertoire.db", isolation_level=None)) as db:
        db.execute("UPDATE advisory SET at = '2020-01-01T00:00:00Z'")
        db.execute("DELETE FROM edge")
    assert "read newer ones" in told(here).mend


def test_it_runs_on_a_python_that_can_only_start_the_plugin(doctor: Doctor, python39: str) -> None:
    found = doctor(status=0, python=python39)
    assert "started by 3.9" in found["interpreter"]["text"]
    assert found["database"]["state"] == "ok"


def test_an_empty_machine_is_warned_of_what_is_not_there_yet(doctor: Doctor, tmp_path: Path) -> None:
    found = doctor(status=0, REPERTOIRE_HOME=str(tmp_path / "new"), HOME=str(tmp_path / "nobody"))
    assert told_of(found) == dict.fromkeys(("home", "environment", "database", "client"), "warn")
    assert "claude plugin install repertoire@repertoire" in found["client"]["mend"]
    assert not (tmp_path / "new").exists()


def test_a_home_that_no_command_can_create_is_told_with_the_reason(doctor: Doctor, tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    found = doctor(status=1, REPERTOIRE_HOME=str(tmp_path / "full" / "new"))
    assert found["home"]["state"] == "fail"
    assert f"for {tmp_path / 'full'} cannot be written" in found["home"]["text"]


def test_an_environment_that_lacks_packages_is_named_with_them(doctor: Doctor, tmp_path: Path) -> None:
    own_environment(tmp_path / "env").joinpath("borrowed.pth").unlink()
    found = doctor(status=1, REPERTOIRE_PYTHON=str(tmp_path / "env" / "bin" / "python"))
    assert found["environment"]["state"] == "fail"
    assert "missing: " in found["environment"]["text"]
    assert "requirements.lock" in found["environment"]["mend"]
    assert found["vectors"]["state"] == "fail"
    assert found["database"]["state"] == "ok"  # what needs no environment is examined all the same


def test_a_package_that_does_not_load_here_is_named(doctor: Doctor, tmp_path: Path) -> None:
    packages = own_environment(tmp_path / "env")
    (packages / "onnxruntime.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object file')")
    found = doctor(status=1, REPERTOIRE_PYTHON=str(tmp_path / "env" / "bin" / "python"))
    assert "onnxruntime (ImportError: libgomp.so.1" in found["environment"]["text"]


def test_a_damaged_vector_extension_is_named(doctor: Doctor, tmp_path: Path) -> None:
    packages = own_environment(tmp_path / "env")
    (packages / "vec0.so").write_bytes(b"no library")
    (packages / "sqlite_vec.py").write_text(f"loadable_path = lambda: {str(packages / 'vec0.so')!r}")
    found = doctor(status=1, REPERTOIRE_PYTHON=str(tmp_path / "env" / "bin" / "python"))
    assert "sqlite-vec does not load" in found["vectors"]["text"]


def test_a_package_of_another_version_is_a_warning(doctor: Doctor, plugin: Path) -> None:
    lock = plugin / "requirements.lock"
    lock.write_text(re.sub(r"(?m)^click==\S+", "click==0.0.1", lock.read_text()))
    found = doctor(status=0, REPERTOIRE_PYTHON=sys.executable)
    assert found["environment"]["state"] == "warn"
    assert "instead of 0.0.1" in found["environment"]["text"]


def test_a_python_that_is_not_there_is_named(doctor: Doctor) -> None:
    found = doctor(status=1, REPERTOIRE_PYTHON="/nowhere/python")
    assert "/nowhere/python" in found["environment"]["text"]
    assert "unset" in found["environment"]["mend"]


def test_a_failed_build_is_told_with_its_log(doctor: Doctor, machine: dict[str, str]) -> None:
    nowhere = {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "UV_CACHE_DIR": machine["HOME"]}
    line = [sys.executable, str(ROOT / "bin" / "repertoire"), "status"]
    built = subprocess.run(line, env={**machine, **nowhere}, capture_output=True, timeout=120, check=False)
    assert built.returncode == 1
    found = doctor(status=1, **nowhere)
    assert "the last build failed" in found["environment"]["text"]
    assert "install.log" in found["environment"]["mend"]


def test_a_changed_model_file_is_found(doctor: Doctor, plugin: Path) -> None:
    [model] = (plugin / "server" / "repertoire" / "models").glob("*/model.onnx")
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    model.write_bytes(bytes(data))
    found = doctor(status=1)
    assert "SHA-256" in found["model"]["text"]
    assert found["model"]["mend"]


def test_a_damaged_database_is_found(doctor: Doctor, home: Path) -> None:
    path = home / "repertoire.db"
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(bytes(data))
    found = doctor(status=1)
    assert found["database"]["state"] == "fail"
    assert "repertoire rescue" in found["database"]["mend"]


def test_a_question_that_the_database_cannot_answer_is_no_damage(doctor: Doctor, home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / "repertoire.db")) as db:
        db.execute("ALTER TABLE component RENAME COLUMN installed TO had")
    found = doctor(status=1)
    assert "no such column: c.installed" in found["database"]["text"]
    assert "report" in found["database"]["mend"]
    assert "damaged" not in str(found)


def test_a_file_that_is_no_database_of_ours_or_a_newer_one_is_told_as_that(doctor: Doctor, home: Path) -> None:
    with contextlib.closing(sqlite3.connect(home / "repertoire.db")) as db:
        db.execute("PRAGMA user_version = 999")
    assert "update the plugin" in doctor(status=1)["database"]["mend"]
    (home / "repertoire.db").unlink()
    with contextlib.closing(sqlite3.connect(home / "repertoire.db")) as db:
        db.execute("CREATE TABLE theirs(x)")
    assert "not a Repertoire database" in doctor(status=1)["database"]["text"]


def test_settings_that_cannot_be_read_are_told(doctor: Doctor, home: Path) -> None:
    (home / "settings.json").write_text("{")
    assert doctor(status=1)["settings"]["state"] == "fail"


def test_a_source_that_is_gone_is_a_warning(doctor: Doctor, source: Path) -> None:
    source.rmdir()
    found = doctor(status=0)
    assert found["sources"]["state"] == "warn"
    assert f"repertoire remove folder:{source}" in found["sources"]["mend"]


def test_a_damaged_journal_of_an_installation_is_a_warning_that_names_the_folder_to_delete(
    doctor: Doctor, home: Path
) -> None:
    place = home / "installs" / "3"
    place.mkdir(parents=True)
    (place / "journal.json").write_text("")
    found = doctor(status=0)["installations"]
    assert found["state"] == "warn"
    assert f"{place / 'journal.json'} cannot be read" in found["text"]
    assert found["mend"].endswith(f"then delete {place}")


@pytest.mark.parametrize("hooks", ["{", "[]", '{"hooks": {}}'])
def test_a_broken_hooks_file_is_found(doctor: Doctor, plugin: Path, hooks: str) -> None:
    (plugin / "hooks" / "hooks.json").write_text(hooks)
    assert "hooks.json cannot be used" in doctor(status=1)["hooks"]["text"]


def test_a_hook_whose_own_failure_is_swallowed_is_found(doctor: Doctor, plugin: Path) -> None:
    (plugin / "server" / "repertoire" / "trust" / "hidden.py").write_text("raise ImportError('harmed')")
    found = doctor(status=1)
    assert "harmed" in found["hooks"]["text"]
    assert found["client"]["state"] == "ok"


def test_a_hook_that_hangs_is_found(doctor: Doctor, plugin: Path) -> None:
    (plugin / "hooks" / "session_start.py").write_text("import time\ntime.sleep(60)\n")
    hooks = plugin / "hooks" / "hooks.json"
    hooks.write_text(hooks.read_text().replace('"timeout": 5', '"timeout": 1'))
    assert "the client would stop it after 1 s" in doctor(status=1)["hooks"]["text"]


def test_the_deadline_is_the_hooks_own() -> None:
    text = (ROOT / "hooks" / "session_start.py").read_text(encoding="utf-8")
    assert f"DEADLINE_SECONDS = {DEADLINE_S}\n" in text


def test_a_plugin_that_is_disabled_is_told_with_the_command_that_enables_it(doctor: Doctor, client: Path) -> None:
    write(client / "settings.json", {"enabledPlugins": {NAME: False}})
    found = doctor(status=1)["client"]
    assert found["mend"] == f"claude plugin enable {NAME}"


def test_a_plugin_disabled_in_this_project_alone_is_told_too(doctor: Doctor, tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude"
    folder.mkdir()
    write(folder / "settings.local.json", {"enabledPlugins": {NAME: False}})
    assert "disabled" in doctor(status=1)["client"]["text"]


def test_a_plugin_whose_folder_is_gone_is_told(doctor: Doctor, client: Path) -> None:
    record = {"scope": "user", "installPath": "/nowhere/plugin", "version": "0.1.0"}
    write(client / "plugins" / "installed_plugins.json", {"plugins": {NAME: [record]}})
    assert "/nowhere/plugin is gone" in doctor(status=1)["client"]["text"]


def test_settings_of_the_client_that_are_no_json_are_told(doctor: Doctor, client: Path) -> None:
    (client / "settings.json").write_text("{")
    assert "settings.json is no JSON object" in doctor(status=1)["client-files"]["text"]


def test_hooks_that_the_client_has_switched_off_are_told(doctor: Doctor, client: Path) -> None:
    write(client / "settings.json", {"enabledPlugins": {NAME: True}, "disableAllHooks": True})
    assert "disableAllHooks" in doctor(status=0)["client-policy"]["text"]


def test_a_home_that_others_may_enter_is_a_warning_with_the_command_that_closes_it(doctor: Doctor, home: Path) -> None:
    home.chmod(0o755)
    assert doctor(status=0)["home"]["mend"] == f"chmod 700 {home}"


def test_a_wrong_option_is_wrong_usage(plugin: Path, machine: dict[str, str]) -> None:
    line = [sys.executable, str(plugin / "bin" / "repertoire"), "doctor", "--fast"]
    done = subprocess.run(line, env=machine, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "usage: repertoire doctor" in done.stderr


def test_it_is_a_verb_of_the_command_line_like_any_other(run: Run, machine: dict[str, str]) -> None:
    done = run("doctor", **machine, REPERTOIRE_PYTHON=sys.executable)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "14 ok, 0 warn, 0 fail"

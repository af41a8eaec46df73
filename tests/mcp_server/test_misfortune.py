"""A database that is damaged, replaced or cannot be written: a tool says so, a hook says nothing, nothing gets lost."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from mcp_server.talk import Talk, ask, events_of, refused, text_of
from privileges import held_back
from repertoire.app.health.rescue import mend
from repertoire.domain.event import ASKED, RESCUED, SELECTED, Event
from repertoire.retrieval.pipeline import Pipeline
from repertoire.store.database import Store
from sample_home import NOW, filled_home
from store.damages import PAGE, overwrite, spoil

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}  # loading it takes longer than all that is tested here
PROMPT = "Fill in the fields of these PDF tax forms with the values from the spreadsheet"
USED = {"tool_name": "Skill", "tool_input": '{"skill": "pdf-forms"}', "session_id": "s1", "cwd": "/project"}


@pytest.fixture
def environment(environment: dict[str, str]) -> dict[str, str]:
    return {**environment, **NO_MODEL}


def ruin(path: Path, *, header: bool) -> None:
    """Damage what every opening meets, or only what a question meets."""
    if header:
        overwrite(path, 0, random.Random(1).randbytes(PAGE))
    else:
        spoil(path, 1.0)


@pytest.mark.parametrize("header", [True, False])
async def test_a_damaged_database_is_mended_and_the_tool_says_so(talk: Talk, home: Path, header: bool) -> None:
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(NOW, ASKED, "s0")])
        store.backup.write(now=NOW)
    ruin(home / "repertoire.db", header=header)
    async with talk() as client:
        text = await refused(client, "search_components", query="fill PDF forms")
        assert "was damaged" in text
        assert "kept as repertoire.db.damaged-" in text
        assert text.endswith("try again")
        await ask(client, "search_components", query="fill PDF forms")
        assert "repertoire.db.damaged-" in await ask(client, "status")
    assert len(events_of(home, RESCUED)) == 1
    assert len(events_of(home, ASKED)) == 1, "the backup has it"


async def test_a_hook_that_meets_damage_stays_silent_and_what_happened_is_recorded(talk: Talk, home: Path) -> None:
    ruin(home / "repertoire.db", header=False)
    async with talk() as client:
        assert json.loads(text_of(await client.call_tool("hook_used", USED))) == {}
        assert "repertoire.db.damaged-" in await ask(client, "status")
    [event] = events_of(home, SELECTED)
    assert event.session == "s1"


async def test_a_server_goes_on_with_the_database_that_another_process_put_in_the_place_of_its_own(
    talk: Talk, home: Path
) -> None:
    async with talk() as client:
        await client.call_tool("hook_used", USED)
        assert "pdf-forms" in await ask(client, "status")
        ruin(home / "repertoire.db", header=True)
        assert mend(home) is not None
        await client.call_tool("hook_used", {**USED, "session_id": "s2"})
        await ask(client, "status")
    assert "s2" in {event.session for event in events_of(home, SELECTED)}


SMALL_DISK = """
import asyncio, json, os, shutil, subprocess, sys
sys.path[:0] = [sys.argv[1] + "/server", sys.argv[1] + "/tests"]
from pathlib import Path
from repertoire.domain.errors import RepertoireError
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.arguments import checked
from repertoire.mcp_server.tool_definitions import TOOLS

root, home, project, keep = sys.argv[1:5]
environment = {"REPERTOIRE_HOME": home, "REPERTOIRE_BACKGROUND": "no", "PATH": os.environ["PATH"], "HOME": project,
               "REPERTOIRE_MODEL": "none/at-all", "PYTHONPATH": root + "/server",
               "REPERTOIRE_PYTHON": sys.executable}
os.environ.update(environment)
shutil.copy(keep + "/repertoire.db", home)

def run(*words, stdin=""):
    done = subprocess.run(words, input=stdin, env=environment, cwd=project, capture_output=True, text=True, timeout=60)
    return [done.returncode, done.stdout, done.stderr]

def cli(*words):
    return run(sys.executable, "-m", "repertoire", *words)

def hook():
    told = json.dumps({"session_id": "s", "cwd": project, "source": "startup"})
    return run(sys.executable, "-I", "-S", root + "/hooks/session_start.py", stdin=told)

async def progress(*_): pass

async def doors():
    desk = Dispatcher(environment)
    told = {}
    for name, arguments in (("mute", {"target": "pdf-forms"}), ("search_components", {"query": "fill PDF forms"})):
        tool = next(tool for tool in TOOLS if tool.name == name)
        try: told[name] = (await desk.tool(name, checked(tool, arguments), progress)).text
        except RepertoireError as error: told[name] = "ERROR " + str(error)
    told["hook_prompt"] = await desk.hook("hook_prompt", {"prompt": "Fill in the fields of these PDFs", "cwd": project})
    told["hook_used"] = await desk.hook("hook_used", {"tool_name": "Skill", "tool_input": '{"skill": "pdf-forms"}'})
    desk.close()
    return told

with open(home + "/filler", "wb", buffering=0) as filler:
    for size in (1 << 20, 1 << 12, 1):
        try:
            while filler.write(b"x" * size) == size: pass
        except OSError: pass
told = {"mute": cli("mute", "pdf-forms"), "hook": hook(), "status": cli("status"), "doctor": cli("doctor", "--json")}
told["server"] = asyncio.run(doors())
os.unlink(home + "/filler")
told["after"] = cli("mute", "pdf-forms")
print(json.dumps(told))
"""


def test_a_disk_that_is_really_full_is_told_through_every_door(tmp_path: Path) -> None:
    keep, home, project = filled_home(tmp_path / "keep"), tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    (project / "requirements.txt").write_text("psycopg==3.2\n")
    mounted = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount -t tmpfs -o size=4m none "$1" && shift && exec "$@"',
        "sh",
        home,
    ]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*mounted, "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("NOT TESTED: a small disk can only be mounted as root, on Linux")
    argv = [*mounted, sys.executable, "-c", SMALL_DISK, ROOT, home, project, keep]
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    status, said, complained = told["mute"]
    assert (status, said) == (1, "")
    assert "no space left to write" in complained
    assert complained.count("\n") == 1
    assert told["hook"][0] == 0
    assert told["hook"][2] == ""
    assert (told["status"][0], "Note: no space is left on the disk of " in told["status"][1]) == (0, True)
    findings = {one["check"]: one for one in json.loads(told["doctor"][1])["findings"]}
    assert (findings["home"]["state"], findings["database"]["state"]) == ("warn", "ok")
    assert "no space is left" in findings["home"]["text"]
    assert "no space left to write" in told["server"]["mute"]
    assert "pdf-forms" in told["server"]["search_components"], "reading needs no room"
    assert json.loads(told["server"]["hook_prompt"]) is not None
    assert told["server"]["hook_used"] == "{}"
    assert told["after"][0] == 0


READ_ONLY = SMALL_DISK.partition("with open")[0].replace('shutil.copy(keep + "/repertoire.db", home)', "") + (
    'print(json.dumps({"mute": cli("mute", "pdf-forms"), "hook": hook(), "server": asyncio.run(doors())}))'
)


def test_a_database_that_cannot_be_written_is_told_through_every_door(tmp_path: Path) -> None:
    home, project = filled_home(tmp_path / "home"), tmp_path / "project"
    project.mkdir()
    (home / "repertoire.db").chmod(0o444)
    home.chmod(0o555)
    argv = [sys.executable, "-c", READ_ONLY, ROOT, home, project, home]
    done = subprocess.run(held_back(list(map(str, argv))), capture_output=True, text=True, check=False, timeout=120)
    home.chmod(0o755)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    status, said, complained = told["mute"]
    assert (status, said) == (1, "")
    assert "cannot be written" in complained
    assert "REPERTOIRE_HOME" in complained
    assert complained.count("\n") == 1
    assert (told["hook"][0], told["hook"][2]) == (0, "")
    assert "cannot be written" in told["server"]["mute"]
    assert "pdf-forms" in told["server"]["search_components"]
    assert told["server"]["hook_used"] == "{}"


@pytest.mark.parametrize("gone", ["repertoire.mcp_server.own_files.__file__", "sys.executable", ""])
async def test_a_server_whose_files_an_update_replaced_says_to_restart_the_session(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    error = FileNotFoundError("gone") if gone else ImportError("no", name="repertoire.app")
    async with talk() as client:
        monkeypatch.setattr(Pipeline, "rank", Mock(side_effect=error))
        if gone:
            monkeypatch.setattr(gone, str(tmp_path / "gone"))
        text = await refused(client, "search_components", query="fill PDF forms")
        assert "an update does; restart the session" in text

"""The server before the protocol's own judges: the conformance suite over HTTP, the Inspector over both transports."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from app.packs.documentation import WILLOW, build, write
from mcp_server.protocol_kit import FETCHED, Kit
from npm import UnavailableError
from repertoire.app.traces.contribute import confirm, draft
from repertoire.app.traces.fields import TraceFields
from repertoire.domain.event import Moment
from repertoire.mcp_server.tool_definitions import TOOLS
from repertoire.store.database import Store
from sample_home import NOW, SOURCE

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "protocol.md"
TOOL_FAILED, UNKNOWN_TOOL = 5, 5  # the Inspector's exit status
TRACE = "trace:e46ed708ee80"  # of the words of `TraceFields` below, on every machine
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "search_components": ("query=fill PDF forms", "limit=2"),
    "recommend_set": ("task=fill PDF forms",),
    "explain_component": ("id=pdf-forms", "detail=graph"),
    "ingest_repo": ("source=kit",),
    "status": (),
    "report_outcome": ("id=pdf-forms", "outcome=ok"),
    "mute": ("target=pdf-forms",),
    "forget": ("what=requests",),
    "set_capabilities": (f"id={SOURCE.key}:skills/pdf-forms.md", 'capabilities=["fill pdf forms"]'),
    "search_traces": ("query=vite is killed",),
    "get_trace": (f"id={TRACE}",),
    "contribute_trace": ("title=tsc stops", "context=out of memory", "solution=Split the project."),
    "amend_trace": (f"id={TRACE}", "solution=Raise it to 8 GB."),
    "vote_trace": (f"id={TRACE}", "vote=up"),
    "list_tags": (),
    "query_pack": ("question=what is a lifetime",),
    "list_packs": (),
    "pack_info": ("name=willow",),
}


@pytest.fixture(scope="module")
def kit(pytestconfig: pytest.Config) -> Kit:
    try:
        return pytestconfig.stash[FETCHED].result()
    except UnavailableError as error:
        pytest.skip(f"NOT TESTED AGAINST THE CONFORMANCE SUITE AND THE INSPECTOR: {error}")


@pytest.fixture(scope="module")
def environment(kit: Kit, shelf_home: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of programs and servers: a home of their own, a user with nothing, the kit's Node."""
    user = tmp_path_factory.mktemp("user")
    shutil.copytree(shelf_home, user / "home")
    with Store.open(user / "home" / "repertoire.db") as store:
        solved = TraceFields("vite is killed", "exit code 137", "Raise the limit.", ("vite",))
        confirm(store, draft(store, solved, moment=Moment(NOW, "", "")).token, now=NOW)
    build(user / "home", "willow", write(user / "docs", WILLOW))
    skill = user / "project" / "kit" / "skills" / "weave" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: weave\ndescription: Weaves baskets from willow.\n---\nSoak the willow first.\n")
    return {
        "PATH": f"{Path(kit.node).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(user),
        "REPERTOIRE_HOME": str(user / "home"),
        "REPERTOIRE_BACKGROUND": "false",
        "CLAUDE_PROJECT_DIR": str(user / "project"),
        "PYTHONPATH": str(ROOT / "server"),
    }


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    line = [sys.executable, "-m", "repertoire", "serve", "--http", "--port", "0"]
    with subprocess.Popen(
        line,
        env=environment,
        cwd=environment["CLAUDE_PROJECT_DIR"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture(scope="module")
def inspect(kit: Kit, environment: dict[str, str]) -> Any:
    """Return a way to have the Inspector ask a server, by its address or its command."""

    def ask(*line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*kit.inspector, *line], env=environment, cwd=environment["CLAUDE_PROJECT_DIR"],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    return ask


def rows(heading: str) -> set[str]:
    """Return the scenarios that stand in a table of the page."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_conformance_suite_passes_where_it_applies(
    kit: Kit, environment: dict[str, str], address: str, tmp_path: Path
) -> None:
    subprocess.run(
        [*kit.conformance, "server", "--url", address, "--suite", "all", "--timeout", "120000", "-o", str(tmp_path)],
        env=environment, cwd=tmp_path, capture_output=True, timeout=600, check=False,
    )  # fmt: skip
    checks = {
        re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name): json.loads(file.read_text(encoding="utf-8"))
        for file in tmp_path.rglob("checks.json")
    }
    applying, other = rows("Scenarios that apply"), rows("Scenarios that do not apply")
    assert not applying & other
    assert set(checks) == applying | other
    failing = {
        check["id"]: check.get("errorMessage", "")
        for scenario in applying
        for check in checks[scenario]
        if check["status"] in {"FAILURE", "WARNING"}
    }
    excused = {name for name in failing if f"`{name}`" in PAGE.read_text(encoding="utf-8")}
    assert {name: why for name, why in failing.items() if name not in excused} == {}
    assert excused == set(re.findall(r"`(sep-\d+-[a-z0-9-]+)`", PAGE.read_text(encoding="utf-8"))) - applying - other
    passed = [check for scenario in applying for check in checks[scenario] if check["status"] == "SUCCESS"]
    assert len(passed) >= 50


def test_the_inspector_lists_and_calls_every_tool_over_http(inspect: Any, address: str) -> None:
    listed = inspect(address, "--method", "tools/list", "--strict")
    assert listed.returncode == 0, listed.stderr
    assert "warning" not in listed.stderr.lower(), listed.stderr
    assert (
        [tool["name"] for tool in json.loads(listed.stdout)["tools"]] == [tool.name for tool in TOOLS] == [*ARGUMENTS]
    )
    for tool, pairs in ARGUMENTS.items():
        arguments = [part for pair in pairs for part in ("--tool-arg", pair)]
        called = inspect(address, "--method", "tools/call", "--tool-name", tool, *arguments)
        assert called.returncode == 0, (tool, called.stdout, called.stderr)
        result = json.loads(called.stdout)
        assert result["content"][0]["text"]
        assert result["structuredContent"]


def test_the_inspector_lists_calls_and_is_refused_over_pipes_too(inspect: Any, environment: dict[str, str]) -> None:
    passed = [
        part
        for name in ("REPERTOIRE_HOME", "REPERTOIRE_BACKGROUND", "PYTHONPATH")
        for part in ("-e", f"{name}={environment[name]}")
    ]
    command = (*passed, sys.executable, "-m", "repertoire.mcp_server")
    listed = inspect(*command, "--method", "tools/list")
    assert len(json.loads(listed.stdout)["tools"]) == len(TOOLS)
    told = inspect(*command, "--method", "tools/call", "--tool-name", "status")
    assert json.loads(told.stdout)["structuredContent"]["components"] > 0
    refused = inspect(*command, "--method", "tools/call", "--tool-name", "search_components")
    assert refused.returncode == TOOL_FAILED
    assert "'query' is missing" in json.loads(refused.stdout)["content"][0]["text"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (("--tool-name", "no_such_tool"), "no_such_tool"),
        (("--tool-name", "search_components", "--tool-arg", "query=x", "--tool-arg", "limit=1000"), "1 to 50"),
        (("--tool-name", "ingest_repo", "--tool-arg", "source=https://localhost/x.git"), "localhost"),
    ],
)
def test_the_inspector_is_told_what_is_wrong(inspect: Any, address: str, line: tuple[str, ...], says: str) -> None:
    refused = inspect(address, "--method", "tools/call", *line)
    assert refused.returncode in {TOOL_FAILED, UNKNOWN_TOOL}
    assert says in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stdout

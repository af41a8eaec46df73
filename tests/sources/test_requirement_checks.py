"""Requirements are checked on this machine by names and files, and nothing is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repertoire.sources.requirement_checks import RequirementChecker, satisfies


def program(folder: Path, name: str) -> Path:
    """Make a program that leaves a trace where it is run."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ntouch {folder / 'was-run'}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def equipment(tmp_path: Path, project: Path | None = None, **environment: str) -> RequirementChecker:
    machine = {"PATH": str(tmp_path / "bin"), "CLAUDE_CONFIG_DIR": str(tmp_path / "config"), **environment}
    return RequirementChecker(machine, project=project, servers=("Context7",))


def told(found: RequirementChecker, requirement: str) -> tuple[bool | None, str]:
    condition = found.check(requirement)
    return condition.met, condition.text


def test_programs_variables_and_servers_are_looked_for_and_nothing_is_run(tmp_path: Path, project: Path) -> None:
    program(tmp_path / "bin", "docker")
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"postgres": {"command": "x"}}}))
    found = equipment(tmp_path, project, API_KEY="x", EMPTY="")
    assert told(found, "binary:docker") == (True, "docker")
    assert told(found, "binary:helm") == (False, "helm, not found here")
    assert told(found, "env:API_KEY") == (True, "API_KEY")
    assert told(found, "env:EMPTY") == (False, "EMPTY, not set here")
    assert told(found, "mcp_server:context7") == (True, "the MCP server context7")
    assert told(found, "mcp_server:postgres") == (True, "the MCP server postgres")
    assert told(found, "mcp_server:serena") == (False, "the MCP server serena, not configured here")
    assert told(found, "component:ghost") == (False, "the component ghost, not known here")
    assert told(found, "weather:sunny") == (None, "sunny")
    assert not (tmp_path / "bin" / "was-run").exists()


def test_variables_that_claude_codes_settings_set_are_there(tmp_path: Path, project: Path) -> None:
    for folder, name in ((tmp_path / "config", "ONE"), (project / ".claude", "TWO")):
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"env": {name: "secret"}}))
    found = equipment(tmp_path, project)
    assert found.check("env:ONE").met is True
    assert found.check("env:TWO").met is True


@pytest.mark.parametrize(
    ("file", "text", "requirement", "met"),
    [
        (".nvmrc", "v20.11.0\n", "runtime:node>=18", True),
        (".node-version", "16.20.2", "runtime:node>=18", False),
        (".python-version", "3.12.1\n", "runtime:python>=3.10", True),
        (".venv/pyvenv.cfg", "home = /usr\nversion = 3.9.18\n", "runtime:python>=3.10", False),
        (".nvmrc", "lts/*\n", "runtime:node>=18", False),  # tells no version, and there is no node
    ],
)
def test_a_projects_own_word_on_its_runtimes_counts(
    tmp_path: Path, project: Path, file: str, text: str, requirement: str, met: bool
) -> None:
    (project / file).parent.mkdir(exist_ok=True)
    (project / file).write_text(text)
    assert equipment(tmp_path, project).check(requirement).met is met


def test_a_runtimes_version_is_read_from_where_it_lies(tmp_path: Path) -> None:
    real = program(tmp_path / "versions" / "node" / "v18.19.0" / "bin", "node")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "node").symlink_to(real)
    (tmp_path / "bin" / "python3").symlink_to(program(tmp_path / "usr", "python3.11"))
    found = equipment(tmp_path)
    assert told(found, "runtime:node^20") == (False, "node ^20, here is 18.19.0")
    assert found.check("runtime:node>= 18").met is True
    assert told(found, "runtime:python>=3.12") == (False, "python >=3.12, here is 3.11")
    assert found.check("runtime:python").met is True
    headers = real.parent.parent / "include" / "node"
    headers.mkdir(parents=True)
    parts = zip(("MAJOR", "MINOR", "PATCH"), (21, 2, 0), strict=True)
    (headers / "node_version.h").write_text("\n".join(f"#define NODE_{part}_VERSION {n}" for part, n in parts))
    assert equipment(tmp_path).check("runtime:node^21").met is True


def test_a_version_that_cannot_be_read_without_running_it_is_not_guessed(tmp_path: Path) -> None:
    program(tmp_path / "bin", "node")
    assert told(equipment(tmp_path), "runtime:node>=18") == (None, "node >=18")


def test_a_package_is_a_lack_only_where_another_version_is_there(tmp_path: Path, project: Path) -> None:
    site = project / ".venv" / "lib" / "python3.11" / "site-packages" / "torch-1.13.1.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 1.13.1\n")
    module = project / "node_modules" / "@acme" / "kit"
    module.mkdir(parents=True)
    (module / "package.json").write_text(json.dumps({"version": "2.3.4"}))
    found = equipment(tmp_path, project)
    assert told(found, "package:torch>=2.0.0") == (False, "torch >=2.0.0, here is 1.13.1")
    assert found.check("package:Torch").met is True
    assert found.check("package:@acme/kit@^2.1").met is True
    assert found.check("package:@acme/kit@~2.2").met is False
    assert found.check("package:transformers>=4").met is None
    assert found.check("package:../../x@1").met is None


@pytest.mark.parametrize(
    ("version", "wanted", "npm", "expected"),
    [
        ("20.1.0", ">= 18 || ^16", True, True),
        ("3.4.5", "~>3.4", True, True),
        ("1.2.3-beta.1", "^1.2.0", True, False),
        ("20", "^18", True, False),
        ("2.1.0", ">=2,<3", False, True),
        ("3.13.0rc1", ">=3.13.0rc1", False, True),
        ("1.0", "whatever", False, None),
        ("1.0.0", "what ever", True, None),
    ],
)
def test_ranges_are_judged_by_the_rules_of_their_world(
    version: str, wanted: str, npm: bool, expected: bool | None
) -> None:
    assert satisfies(version, wanted, npm=npm) is expected

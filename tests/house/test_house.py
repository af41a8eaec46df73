"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE_LINES = 400
OLD_PYTHON = (3, 9)


def tracked() -> list[Path]:
    """Return the files that git tracks, or would if asked; all of them where this is no checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


MODULES = [path for path in tracked() if path.suffix == ".py"]
OLD = [
    path
    for path in MODULES
    if path.is_relative_to(ROOT / "hooks")
    or any(path.is_relative_to(ROOT / "server" / "repertoire" / room) for room in ("boot", "domain", "catalogue"))
    or path == ROOT / "server" / "launch.py"
]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_in_one_sentence_what_it_knows_and_stays_small(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES
    if text.strip():
        first = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
        assert first.endswith((".", ":", ";")) or "\n\n" not in first
        assert first, "no docstring at the top"


@pytest.mark.parametrize("path", OLD, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_runs_before_the_environment_parses_on_the_oldest_python_and_imports_the_standard_library_alone(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=OLD_PYTHON)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= {*sys.stdlib_module_names, "repertoire"}


def test_no_file_names_a_package_registry_or_a_machines_path():
    names = "|".join(
        ("py" + "pi\\.org", "python" + "hosted", "registry\\.np" + "mjs", "/wo" + "rk/", "\\.\\./sha" + "red")
    )
    hostile = re.compile(names)
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path.suffix != ".onnx" and not path.is_relative_to(ROOT / ".ci")
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if hostile.search(line)
    ]
    assert found == []


def test_the_references_are_what_the_code_says():
    done = subprocess.run(
        [sys.executable, "tools/docs", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "bench/README.md"])
def test_every_link_of_a_page_leads_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_nothing_but_the_command_lies_on_the_path_of_the_bash_tool():
    assert sorted(path.name for path in tracked() if path.parent == ROOT / "bin") == ["repertoire"]

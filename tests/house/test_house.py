"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from repertoire.retrieval.pipeline import STAGES

ROOT = Path(__file__).resolve().parents[2]
MODULE_LINES = 400
ARCHITECTURE_BYTES = 12_000
OLD_PYTHON = (3, 9)
EARLY = ("boot", "domain", "catalogue", "store/light")


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
    or any(path.is_relative_to(ROOT / "server" / "repertoire" / room) for room in EARLY)
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


DOOR = ROOT / "server/repertoire/sources/git.py"
STARTS = re.compile(
    r"(?:^|\.)(?:run|call|check_call|check_output|Popen|system|popen|create_subprocess_\w+|exec\w+|spawn\w*)$"
)
PRODUCT = [path for path in MODULES if path.relative_to(ROOT).parts[0] in ("server", "hooks", "bin")]


def starts_git(node: ast.AST) -> bool:
    """Tell whether code names git as a program, in a list of words or in a call that starts one."""
    if isinstance(node, ast.List) and node.elts and is_git(node.elts[0]):
        return True
    if not isinstance(node, ast.Call):
        return False
    named = ast.unparse(node.func)
    within = [part for given in (*node.args, *(word.value for word in node.keywords)) for part in ast.walk(given)]
    return bool(STARTS.search(named) or named.endswith("which")) and any(is_git(part) for part in within)


def is_git(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and bool(re.match(r"(?:.*/)?git(?:\.exe)?(?:\s|$)", str(node.value)))


def test_git_is_started_at_one_door():
    found = [
        str(path.relative_to(ROOT))
        for path in PRODUCT
        if any(starts_git(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    ]
    assert found == [str(DOOR.relative_to(ROOT))]
    assert starts_git(ast.parse('subprocess.run(("git", "log"))', mode="eval").body)
    assert starts_git(ast.parse('os.system("git log")', mode="eval").body)
    assert starts_git(ast.parse('["/usr/bin/git", *words]', mode="eval").body)


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


@pytest.mark.skipif(sys.platform != "linux", reason="packages are of other sizes elsewhere")
def test_the_size_of_the_environment_that_is_told_is_that_of_the_packages():
    told = int(re.search(r"environment\s+takes\s+about\s+(\d+)\s+MB", (ROOT / "README.md").read_text())[1])
    locked = re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    here = [found for name in set(locked) for found in metadata.distributions(name=name)]
    listed = {Path(file.locate()) for one in here for file in one.files or ()}
    # pip lists compiled modules among a package's files, uv does not
    compiled = {Path(importlib.util.cache_from_source(str(path))) for path in listed if path.suffix == ".py"}
    sizes = [path.stat().st_size for path in listed | compiled if path.is_file()]
    blocks = sum(-(-size // 4096) * 4096 for size in sizes)
    assert told == pytest.approx(blocks / 1e6, rel=0.15)


PAGES = [
    path
    for path in tracked()
    if path.suffix == ".md" and (path.parent in (ROOT, ROOT / "docs") or path == ROOT / "bench" / "README.md")
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8"))
    assert [link for link, _ in links if not (page.parent / link).exists()] == []
    assert [
        f"{link}#{part}" for link, part in links if part and part not in anchors(page.parent / link if link else page)
    ] == []


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    page = page if page.is_file() else page / "README.md"
    headings = re.findall(r"(?m)^#+ +(.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/design.md", "docs/learning.md"])
def test_every_file_that_a_page_names_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+/[\w-]+(?:\.(?:py|json|jsonl|md|tsv|txt|npz)|/))`", text)
    missing = [name for name in named if not any((base / name).exists() for base in (ROOT, ROOT / "server/repertoire"))]
    assert missing == []


def test_the_architecture_is_a_page_that_a_newcomer_reads_to_its_end():
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= ARCHITECTURE_BYTES


def test_the_line_of_a_query_is_the_order_of_its_stages():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    line = re.search(r"^plan → (.*?) → gate → assemble$", text, re.MULTILINE | re.DOTALL)
    assert line is not None
    assert re.split(r"\s*→\s*", line[1]) == [stage.name for stage in STAGES]


def test_every_choice_of_the_design_says_why_instead_of_what_and_how_that_is_known():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    choices = [" ".join(part.split()) for part in re.split(r"\n(?=- \*\*|## )", text) if part.startswith("- **")]
    parts = ("We chose", "because", "nstead of", "Measured by:")
    assert len(choices) > 0
    assert [choice[:60] for choice in choices if not all(part in choice for part in parts)] == []


def test_nothing_but_the_command_lies_on_the_path_of_the_bash_tool():
    assert sorted(path.name for path in tracked() if path.parent == ROOT / "bin") == ["repertoire"]

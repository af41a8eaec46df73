"""Each rule of who may know whom is broken once, on a copy, and the linter says so; one wiring is held beside it."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"
PACKAGE = ROOT / "server" / "repertoire"
BREAKING = {
    "Doors call the app; the app wires rooms; rooms know only ports and domain": (
        "domain/text.py",
        "from repertoire.app import clock",
    ),
    "Rules do no I/O of their own": ("learning/signals.py", "import subprocess"),
    "No package has siblings in a circle": ("trust/scan.py", "from repertoire.trust import circle"),
    "Only the store, and the block beneath it, speak SQL": ("app/session/greet.py", "import sqlite3"),
    "Nothing imports the commons or what its environment holds": ("app/commons/sync.py", "import psycopg"),
    "The commons opens no SQLite and calls no other door": (
        "commons/service.py",
        "from repertoire.store.database import Store",
    ),
    "Wiring alone names the model that answers": (
        "app/ask/search.py",
        "from repertoire.inference.embedder import IdleEmbedder",
    ),
    "Doors call verbs and the app, and no room beneath": (
        "cli/ask.py",
        "from repertoire.store.database import Store",
    ),
    "A stage knows no other stage": ("retrieval/lexical.py", "from repertoire.retrieval.patterns import Patterns"),
}
# Who may open a store or make a pipeline beside the wiring, and why.
OPENING = {
    "app/wiring.py",
    "app/health/print_advisory_matches.py",  # a process of its own, that `doctor` asks
    "app/health/rescue.py",  # opens what nothing can be wired over yet
    "app/measure/trust_eval.py",  # over a home that is thrown away
}


def linted(server: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LINT, "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        cwd=server,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(server), "PATH": ""},
    )
    return done.stdout + done.stderr


def test_each_contract_fails_where_it_is_broken(tmp_path: Path) -> None:
    copy = tmp_path / "repertoire"
    shutil.copytree(PACKAGE, copy, ignore=lambda _, names: [name for name in names if _is_data(name)])
    (copy / "trust" / "circle.py").write_text('"""Closes a circle."""\n\nfrom repertoire.trust import scan\n')
    for place, line in BREAKING.values():
        with (copy / place).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    told = linted(tmp_path)
    names = re.findall(r'^name = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(names[1:]) == set(BREAKING), "every contract is broken here once"
    assert [name for name in BREAKING if not re.search(rf"^{re.escape(name)} BROKEN", told, re.MULTILINE)] == []


def _is_data(name: str) -> bool:
    return name == "__pycache__" or ("." in name and not name.endswith(".py")) or name == "models"


def test_wiring_alone_opens_stores_and_makes_pipelines() -> None:
    found = {
        str(path.relative_to(PACKAGE)).replace("\\", "/")
        for path in PACKAGE.rglob("*.py")
        if any(_makes(node) for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == OPENING
    assert _makes(ast.parse("Store.open(path)", mode="eval").body)
    assert _makes(ast.parse("Pipeline(graph, vectors)", mode="eval").body)


def _makes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("Store.open", "Pipeline")

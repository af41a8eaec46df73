"""What a developer of these tests already has: three personal components and a small web project."""

from __future__ import annotations

from pathlib import Path

SKILL, AGENT, COMMAND = "tax-form-filler", "ledger-auditor", "shipping-notes"

_PERSONAL = {
    f"skills/{SKILL}/SKILL.md": f"""---
name: {SKILL}
description: Fills the fields of PDF tax forms from a spreadsheet. Use when a PDF form has to be filled in.
---
Read the field names of the PDF form first, map each to a column of the spreadsheet, then write the filled form.
""",
    f"agents/{AGENT}.md": f"""---
name: {AGENT}
description: Audits an accounting ledger for unbalanced postings. Use when bookkeeping entries have to be checked.
tools: Read
---
Check that every posting balances, and list those that do not.
""",
    f"commands/{COMMAND}.md": """---
description: Writes the customer-facing notes of a parcel shipping release
argument-hint: <version>
---
Write the notes of release $ARGUMENTS.
""",
}

_PROJECT = {
    "requirements.txt": "fastapi==0.115.0\nsqlalchemy==2.0.36\npytest==8.3.3\n",
    "main.py": "from fastapi import FastAPI\n\napp = FastAPI()\n",
    "tests/test_main.py": "def test_nothing():\n    assert True\n",
}

A_PROMPT_THAT_NEEDS_ONE = "Fill in the fields of these PDF tax forms with the values from the spreadsheet"
CHIT_CHAT = "thanks, that looks good to me"


def give_components(home: Path) -> None:
    """Put the personal components where Claude Code looks for them."""
    _write(home / ".claude", _PERSONAL)


def give_project(folder: Path) -> None:
    """Make the folder a FastAPI project."""
    _write(folder, _PROJECT)


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def link_worktree(repository: Path, tree: Path) -> None:
    """Make a folder a linked worktree of a repository, as `git worktree add` does."""
    store = repository / ".git" / "worktrees" / tree.name
    for folder in (store, tree):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"commondir": "../..", "gitdir": tree / ".git", "HEAD": "ref: refs/heads/tree"}.items():
        (store / name).write_text(f"{text}\n")
    (tree / ".git").write_text(f"gitdir: {store}\n")

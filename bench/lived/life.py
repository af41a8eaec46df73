"""Makes a person's machine: their folder, projects, `claude`, and a copy of a ready home; enters it as processes do."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BARE = "bare"  # a folder with nothing in it: what is asked there, is asked of the home alone
UNHURRIED = "600000"  # milliseconds: how busy the machine is must not decide what is found
_KEPT = ("CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "HOME", "PATH")  # put back as they were

_RELEASE = "---\nname: release-notes\ndescription: Writes the release notes of our shop from the merged changes.\n---\n"
_DEPLOY = "---\nname: deploy\ndescription: Deploys {0}.\n---\n{1}\n"
_REVIEWER = (
    "---\nname: shop-reviewer\ndescription: Reviews changes of the shop by our own rules.\n---\nRead the rules.\n"
)
# By project its files: what tells its technologies, and components of its own. Two are exact copies of another's.
PROJECTS: Mapping[str, Mapping[str, str]] = {
    BARE: {},
    "shop": {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["fastapi", "sqlalchemy"]\n',
        "shop/main.py": "from fastapi import FastAPI\napp = FastAPI()\n",
        ".claude/skills/release-notes/SKILL.md": _RELEASE + "One line for each change.\n",
        ".claude/skills/deploy/SKILL.md": _DEPLOY.format(
            "the shop to Fly.io", "Run fly deploy, then look at /healthz."
        ),
        ".claude/agents/shop-reviewer.md": _REVIEWER,
    },
    "web": {
        "package.json": '{"name": "web", "dependencies": {"next": "15", "react": "19"}}\n',
        "app/page.tsx": "export default function Page() { return null }\n",
        ".claude/skills/release-notes/SKILL.md": _RELEASE + "One line for each change.\n",
        ".claude/skills/deploy/SKILL.md": _DEPLOY.format("the web pages to Vercel", "Run vercel --prod."),
    },
    "infra": {
        "main.tf": 'provider "aws" {}\n',
        ".claude/agents/shop-reviewer.md": _REVIEWER,
        ".claude/commands/plan.md": "---\ndescription: Shows what terraform would change in staging.\n---\nRun it.\n",
    },
    "docs": {"mkdocs.yml": "site_name: Handbook\n", "docs/index.md": "# Handbook\n"},
}
# The person's own: settings, and what is in use in every project.
_OWN = {
    ".claude/settings.json": '{"model": "sonnet", "permissions": {"deny": ["WebFetch"]}}\n',
    ".claude/skills/weekly-report/SKILL.md": "---\nname: weekly-report\ndescription: Writes my weekly report.\n---\n",
    ".claude/commands/standup.md": "---\ndescription: Says what I did yesterday.\n---\nRead the log.\n",
}


@dataclass(frozen=True)
class Life:
    """A person's machine: everything lies below one folder."""

    place: Path

    @property
    def user(self) -> Path:
        return self.place / "user"

    @property
    def home(self) -> Path:
        return self.place / "home"

    def project(self, name: str) -> Path:
        return self.place / "projects" / name

    @classmethod
    def begun(cls, place: Path, home: Path, *, owned: bool) -> Life:
        """Make a machine over a copy of a ready home; `owned`: with components and settings of the person's own."""
        life = cls(place)
        shutil.copytree(home, life.home, symlinks=True)
        for name, files in PROJECTS.items():
            life.project(name).mkdir(parents=True)
            for path, text in files.items():
                if owned or not path.startswith(".claude/"):
                    _write(life.project(name) / path, text)
        for path, text in _OWN.items() if owned else ():
            _write(life.user / path, text)
        life.user.mkdir(exist_ok=True)
        program = place / "bin" / "claude"
        _write(program, f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(HERE / "client.py"))} "$@"\n')
        program.chmod(0o755)
        return life

    @contextmanager
    def entered(self, project: str) -> Iterator[None]:
        """Be a process of this person in a project; what it changed of the environment is taken back."""
        before = dict(os.environ)
        for name in _KEPT:
            os.environ.pop(name, None)
        os.environ |= {
            "HOME": str(self.user),
            "PATH": os.pathsep.join((str(self.place / "bin"), before.get("PATH", os.defpath))),
            "REPERTOIRE_HOME": str(self.home),
            "REPERTOIRE_QUERY_MS": UNHURRIED,
            "REPERTOIRE_BACKGROUND": "0",
        }
        self.go(project)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ |= before

    def go(self, project: str) -> str:
        """Change into a project, and return its folder."""
        os.environ["CLAUDE_PROJECT_DIR"] = str(self.project(project))
        return os.environ["CLAUDE_PROJECT_DIR"]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

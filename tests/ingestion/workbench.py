"""A home with a store, folders to ingest and git repositories, for tests that go through the `ingest` verb."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from repertoire.app.sources.ingest import ingest
from repertoire.domain.component import Component, IngestReport
from repertoire.ports import Link
from repertoire.settings import Settings
from repertoire.store.database import Store
from repertoire.store.graph_file import HOME_FILE, GraphFile

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "init.defaultBranch=main")


class Workbench:
    """One home, and a place for sources beside it."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self.home = root / "home"
        self.store = store

    def write(self, files: Mapping[str, str | bytes], *, under: str = "repo") -> Path:
        """Write files below a folder and return it."""
        folder = self.root / under
        for path, content in files.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return folder

    def ingest(self, source: object, **more: object) -> IngestReport:
        """Ingest one source."""
        (report,) = self.ingest_all(source, **more)
        return report

    def ingest_all(self, source: object, **more: object) -> tuple[IngestReport, ...]:
        """Ingest what may be many sources."""
        more.setdefault("settings", Settings())
        return ingest(self.store, self.home, str(source), **more)

    def all(self) -> dict[str, Component]:
        """Return every component by what follows the source in its id."""
        summaries = self.store.graph.summaries()
        stored = self.store.graph.components(summary.node_id for summary in summaries)
        return {row.component.id.removeprefix(f"{row.source}:"): row.component for row in stored.values()}

    def one(self, kind: str) -> Component:
        """Return the only component of a type."""
        (found,) = [component for component in self.all().values() if component.type == kind]
        return found

    def links(self, component: Component, relation: str) -> dict[str, Link]:
        """Return what a component's outgoing edges of a relation lead to, without the source."""
        source = component.id.partition(f":{component.path}")[0]
        return {
            link.other.removeprefix(f"{source}:"): link
            for link in self.store.graph.links(component.id)
            if link.outgoing and link.relation == relation
        }

    def rows(self) -> dict[str, tuple[object, ...]]:
        """Return every node as it stands in the file, by key."""
        return {row[1]: row for row in self.store._connection.rows("SELECT * FROM node")}

    def revision(self) -> int:
        return self.store.graph.revision()


@contextmanager
def workbench(root: Path, monkeypatch: pytest.MonkeyPatch, file: GraphFile = HOME_FILE) -> Iterator[Workbench]:
    """Open a workbench on a machine where Claude Code was never used."""
    monkeypatch.setenv("HOME", str(root / "person"))
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(root / "project"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    for name in ("home", "person", "project"):
        (root / name).mkdir()
    with Store.open(root / "home" / "repertoire.db", file=file) as store:
        yield Workbench(root, store)


def git(folder: Path, *arguments: str, date: str = "2026-01-01") -> str:
    """Run git in a folder as an author of ours, on a day."""
    env = {**os.environ, "GIT_AUTHOR_DATE": f"{date}T12:00:00Z", "GIT_COMMITTER_DATE": f"{date}T12:00:00Z"}
    command = ["git", *AUTHOR, *arguments]
    return subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


def repository(folder: Path, *, date: str = "2026-01-01") -> Path:
    """Make a git repository of what lies in a folder."""
    git(folder, "init", "-q")
    commit(folder, date=date)
    return folder


def commit(folder: Path, *, date: str) -> None:
    """Commit everything in a repository."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "state", date=date)


def skill(name: str, description: str = "Does a thing.", body: str = "# Title\n\nText.", **more: str) -> str:
    """Return a SKILL.md."""
    extra = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in more.items())
    return f"---\nname: {name}\ndescription: {description}\n{extra}---\n\n{body}\n"

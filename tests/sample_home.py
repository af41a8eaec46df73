"""A small shelf of components that tests of several rooms put into a store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from repertoire.domain.component import DEPENDS_ON, PROVIDES, Component, Edge, FileRecord, SourceInfo
from repertoire.retrieval.perceptron import Perceptron
from repertoire.store.database import Store

NOW = "2026-01-02T03:04:05Z"
SOURCE = SourceInfo("folder:/shelf", "folder", "/shelf", "github.com/acme/shelf")
_ROWS = (
    ("skill", "pdf-forms", "Fills the fields of PDF forms from a spreadsheet.", ("fill-pdf-forms",)),
    (
        "skill",
        "changelog",
        "Writes release notes and a changelog from the commits of a git repository.",
        ("release-notes",),
    ),
    ("agent", "ledger-auditor", "Audits an accounting ledger for postings that do not balance.", ("bookkeeping",)),
    (
        "mcp_server",
        "postgres",
        "Runs SQL queries against a PostgreSQL database and explains slow ones.",
        ("sql", "postgresql"),
    ),
    ("command", "ship", "Writes the customer-facing notes of a parcel shipping release.", ("shipping",)),
    (
        "plugin",
        "browser-kit",
        "Drives a real browser: clicks, screenshots and end-to-end tests.",
        ("browser-automation",),
    ),
    ("hook", "format-on-save", "Formats Python files with ruff after each edit.", ("formatting",)),
    (
        "skill",
        "kubernetes-deploy",
        "Deploys services to Kubernetes with Helm charts and rollbacks.",
        ("kubernetes", "helm"),
    ),
)


def component(kind: str, name: str, description: str, **more: object) -> Component:
    """Return a component of the shelf, its hash made of all that it says."""
    path = str(more.pop("path", f"{kind}s/{name}.md"))
    text = f"{kind} {name} {description} {more}"
    fields = {
        "body": f"# {name}\n\n{description}",
        "repository": SOURCE.repository,
        "path": path,
        "licence": "MIT",
        "install": (f"/plugin install {name}@acme",),
        "content_hash": hashlib.sha256(text.encode()).hexdigest(),
        **more,
    }
    return Component(id=f"{SOURCE.key}:{path}", type=kind, name=name, description=description, **fields)


def record_of(item: Component, *, provides: Sequence[str] = (), needs: Sequence[str] = ()) -> FileRecord:
    """Return the record of a file that holds one component."""
    edges = [Edge(item.id, f"capability:{name}", PROVIDES, 1.0, "front matter") for name in provides]
    edges += [Edge(item.id, f"requirement:{need}", DEPENDS_ON, 1.0, "front matter") for need in needs]
    return FileRecord(item.path, item.content_hash, (item,), (), tuple(edges))


def fill(store: Store, *more: Component, installed: Sequence[str] = ()) -> None:
    """Put the shelf, and more, into a store."""
    items = [(component(*row[:3], installed=row[1] in installed), row[3]) for row in _ROWS]
    records = [record_of(item, provides=provides) for item, provides in items]
    records += [record_of(item) for item in more]
    store.sources.write(SOURCE, records, [], derived=[], now=NOW)


def fill_skills(store: Store, rows: Sequence[tuple[str, str, str]]) -> None:
    """Put skills into a store, each by its name, its description and the capability that it provides, if any."""
    records = [record_of(component("skill", name, told), provides=[term] if term else []) for name, told, term in rows]
    store.sources.write(SOURCE, records, [], derived=[], now=NOW)


def filled_home(home: Path, *more: Component, installed: Sequence[str] = ()) -> Path:
    """Return a home whose store holds the shelf."""
    home.mkdir(parents=True, exist_ok=True)
    with Store.open(home / "repertoire.db") as store:
        fill(store, *more, installed=installed)
    return home


def two_units() -> Perceptron:
    """Return a perceptron over vectors of two numbers and one word, with two hidden units and two outputs."""
    return Perceptron(
        of_vector=np.array([[0.5, -0.5], [0.25, 0.0]], dtype=np.float32),
        of_words=np.array([[100, -50]], dtype=np.int8),
        steps=np.array([0.01], dtype=np.float32),
        hidden_offsets=np.array([0.0, 1.5], dtype=np.float32),
        of_hidden=np.array([[0.5, -0.25], [0.125, 1.0]], dtype=np.float32),
        offsets=np.array([0.0, 0.5]),
    )

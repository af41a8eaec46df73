"""docs/schema.md says what stands in a database: each of these lines is held to one that was filled and used."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from ingestion.workbench import Workbench, skill, workbench
from repertoire.domain.answer import BODY_SPACE, REQUEST_SPACE
from repertoire.domain.event import ASKED, OFFERED, SELECTED, Event
from repertoire.domain.text import index_text
from repertoire.store.connection import Connection
from store.samples import NOW

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
FILES = {
    "skills/pdf/SKILL.md": skill("pdf", "Fills PDF forms with python, needs docker."),
    "skills/merge/SKILL.md": skill("merge", "Merges PDF files. Use the pdf skill to fill them.", "Run `gh pr create`."),
    "agents/coder.md": "---\nname: coder\ndescription: Writes python code.\ntools: Read\n---\n```\nrun()\n```\n",
}


def cell(table: str, column: str) -> str:
    """Return what the page says of a column."""
    section = PAGE.partition(f"\n## {table}\n")[2].partition("\n## ")[0]
    return next(
        line.split(" | ")[1].rstrip(" |") for line in section.splitlines() if line.startswith(f"| `{column}` |")
    )


def named(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def rows_of(title: str) -> Mapping[str, list[str]]:
    """Return a table that lists rows of the graph, by name."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    cells = [[one.strip() for one in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    return {row[0].strip("`"): row[1:] for row in cells}


@pytest.fixture
def used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """Read components three times with another text, ask twice for one, and forget nothing."""
    with workbench(tmp_path, monkeypatch) as bench:
        for text in ("Fills PDF forms.", "Signs PDF forms.", FILES["skills/pdf/SKILL.md"]):
            bench.ingest(bench.write({**FILES, "skills/pdf/SKILL.md": skill("pdf", text)}))
        store, served = bench.store, next(one.id for one in bench.store.graph.summaries() if one.name == "pdf")
        for _ in range(2):
            store.requests.select("request:1", served, now=NOW)
        number = store.requests.record("request:1", text="fill this form", now=NOW)
        vectors = np.eye(1, 4, dtype=np.float32)
        store.vectors.put(REQUEST_SPACE, "m", [(number, "")], vectors)
        store.vectors.put(BODY_SPACE, "m", [(store.graph.by_key(served).node_id, "h")], vectors)
        store.events.append([Event(NOW, kind, "s", node=served) for kind in (ASKED, OFFERED, SELECTED)])
        yield bench


@pytest.mark.parametrize(
    ("table", "column"),
    [("node", "type"), ("edge", "relation"), ("event", "kind"), ("vector_space", "space")],
)
def test_every_value_that_is_written_is_one_that_the_page_names(used: Workbench, table: str, column: str) -> None:
    written = {row[0] for row in used.store._connection.rows(f"SELECT DISTINCT {column} FROM {table}")}
    assert len(written) > 1
    assert written <= named(cell(table, column))


def test_every_weight_lies_where_the_page_says_that_those_of_its_relation_do(used: Workbench) -> None:
    relations = rows_of("Relations")
    weights = used.store._connection.rows("SELECT relation, weight FROM edge")
    assert max(weight for _, weight in weights) > 1
    for relation, weight in weights:
        said = relations[relation][1]
        low, _, high = said.rpartition(", ")[2].partition(" to ") if " to " in said else ("0", "", "inf")
        assert float(low) <= weight <= float(high), f"{relation}: {said}"


SAYS: list[tuple[str, str, str, Callable[[Connection], bool]]] = [
    (
        "component",
        "version",
        "how many contents were seen under this id, this one included",
        lambda db: db.value("SELECT max(version) FROM component") == 3,
    ),
    (
        "component_text",
        "description",
        "its description",
        lambda db: all(
            found == index_text(description)
            for found, description in db.rows(
                "SELECT t.description, c.description FROM component_text t JOIN component c ON c.node_id = t.rowid"
            )
        ),
    ),
    (
        "edge",
        "weight",
        "how sure, how alike or how often, as its relation says below",
        lambda db: db.value("SELECT max(weight) FROM edge WHERE relation = 'selected'") == 2.0,
    ),
]


@pytest.mark.parametrize(("table", "column", "says", "holds"), SAYS, ids=[f"{row[0]}.{row[1]}" for row in SAYS])
def test_what_the_page_says_of_a_column_holds(
    used: Workbench, table: str, column: str, says: str, holds: Callable[[Connection], bool]
) -> None:
    assert cell(table, column) == says
    assert holds(used.store._connection)

#!/usr/bin/env python3
"""Predicts with the product itself: ingests the labelled repositories into an empty home, prints what each provides."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "server"))

from repertoire.app.sources.capabilities_by_vector import assign_nearest
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_embedder
from repertoire.domain.answer import DESCRIPTION_SPACE
from repertoire.domain.component import PROVIDES
from repertoire.ports import Embedder, StoredComponent
from repertoire.retrieval.embedded_text import passage
from repertoire.settings import load
from repertoire.store.database import Store

LABELS = Path(__file__).with_name("labels.jsonl")


def main() -> int:
    """Print a line for every labelled component that the product finds; name those that it does not find on stderr."""
    data = os.environ.get("REPERTOIRE_COMPONENTS_DATA")
    if not data:
        print("set REPERTOIRE_COMPONENTS_DATA to the folder of the repositories and manifests/", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--words-only", action="store_true", help="without what vectors add")
    asked = parser.parse_args()
    labels = [json.loads(line) for line in asked.labels.read_text("utf-8").splitlines()]
    missing = 0
    for label, found in _found(Path(data), labels, words_only=asked.words_only):
        if found is None:
            missing += 1
            print(
                f"not found: {label['type']} {label['name']} in {label['repository']} {label['path']}", file=sys.stderr
            )
        else:
            print(json.dumps({**{key: label[key] for key in ("repository", "path", "name")}, "capabilities": found}))
    print(f"{len(labels) - missing} of {len(labels)} found", file=sys.stderr)
    return 0


def _found(
    data: Path, labels: list[dict[str, Any]], *, words_only: bool
) -> Iterator[tuple[dict[str, Any], list[str] | None]]:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        settings = load(home, {})
        embedder, degraded = (None, ()) if words_only else open_embedder(home, settings)
        print(*degraded, file=sys.stderr)
        with Store.open(home / "graph.db") as store:
            for repository in sorted({label["repository"] for label in labels}):
                folder = data / repository.replace("/", "+", 1)
                (told,) = ingest(store, home, str(folder), settings=settings)
                print(f"{repository}: {told.components} components, {told.seconds:.0f} s", file=sys.stderr)
                read = _components(store, told.source)
                here = [label for label in labels if label["repository"] == repository]
                if embedder is not None:
                    _embed(store, embedder, [item for label in here if (item := _component(label, read))])
                for label in here:
                    _check(folder, label)
                    yield label, _provides(store, label, read)


def _embed(store: Store, embedder: Embedder, components: list[StoredComponent]) -> None:
    """Do for the labelled components alone what a refresh does for all: the rest would take minutes."""
    rows = {
        item.node_id: (item.component.content_hash, passage(DESCRIPTION_SPACE, item.component)) for item in components
    }
    vectors = embedder.embed_passages([text for _, text in rows.values()])
    store.vectors.put(DESCRIPTION_SPACE, embedder.model, [(node, found[0]) for node, found in rows.items()], vectors)
    assign_nearest(store, embedder)


def _check(folder: Path, label: dict[str, Any]) -> None:
    if hashlib.sha256((folder / label["path"]).read_bytes()).hexdigest() != label["sha256"]:
        print(f"changed since it was labelled: {label['repository']} {label['path']}", file=sys.stderr)


def _components(store: Store, source: str) -> list[StoredComponent]:
    ids = [row.node_id for row in store.graph.summaries() if row.source == source]
    return list(store.graph.components(ids).values())


def _provides(store: Store, label: dict[str, Any], read: list[StoredComponent]) -> list[str] | None:
    found = _component(label, read)
    if found is None:
        return None
    links = store.graph.links(found.component.id, limit=1000)
    return sorted(link.other_name for link in links if link.outgoing and link.relation == PROVIDES)


def _component(label: dict[str, Any], read: list[StoredComponent]) -> StoredComponent | None:
    """Return the component of a labelled file: the one of its name, else the only one of its type."""
    # A plugin's path is its folder in the graph, its manifest in the labels.
    paths = {label["path"], label["path"].removesuffix(".claude-plugin/plugin.json").rstrip("/")}
    here = [item for item in read if item.component.path in paths]
    named = [item for item in here if item.component.name == label["name"]]
    named.sort(key=lambda item: item.component.type != label["type"])
    alike = [item for item in here if item.component.type == label["type"]]
    return named[0] if named else alike[0] if len(alike) == 1 else None


if __name__ == "__main__":
    sys.exit(main())

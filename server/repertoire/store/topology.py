"""Reads the nodes and edges of a view as arrays; what was selected and is removed gives way to its exact copy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from repertoire.domain.component import SELECTED
from repertoire.domain.graph import COMPONENTS, Layout
from repertoire.ports import Topology
from repertoire.store.connection import Connection
from repertoire.store.light.bindings import marks
from repertoire.store.light.exact_copies import moved

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
_EDGE = np.dtype([("source", np.int64), ("target", np.int64), ("weight", np.float32), ("kind", np.int32)])


class _Codes(dict[str, int]):
    """Numbers the relations that a view reads, in the order in which they occur; -1 for any other relation."""

    def __init__(self, layout: Layout, view: str) -> None:
        super().__init__()
        self._layout = layout
        self._view = view
        self.names: list[str] = []

    def __missing__(self, relation: str) -> int:
        row = self._layout.related(relation)
        if row is None or self._view not in row.views:
            self[relation] = -1
        else:
            self[relation] = len(self.names)
            self.names.append(relation)
        return self[relation]


def read_topology(db: Connection, view: str) -> Topology:
    """Return the nodes and edges of a view, all of one revision; edges in order of source and target."""
    read = db.layout.kinds_of(view)
    codes = _Codes(db.layout, view)
    with db.snapshot():
        revision = int(db.meta(db.layout.views_by_name[view].revision) or 0)
        nodes = db.rows(f"SELECT id, key, type, name FROM node WHERE type IN ({marks(read)}) ORDER BY id", read)
        rows = db.stream("SELECT source, target, weight, relation FROM edge ORDER BY id")
        # Streamed into an array: a tuple and a text for each of 600,000 edges would take 140 MB for a moment.
        edges = np.fromiter(((*ends, codes[kind]) for *ends, kind in rows), dtype=_EDGE)
        present = moved(db.rows) if view == COMPONENTS else {}
    ids = np.fromiter((row[0] for row in nodes), dtype=np.int64, count=len(nodes))
    keys = tuple(row[1] for row in nodes)
    (source, of_view), (target, to_view) = (_places(ids, edges[end]) for end in ("source", "target"))
    if present:
        target = np.where(edges["kind"] == codes[SELECTED], _redirected(keys, present)[target], target)
    order = np.lexsort((target, source))  # sorting in SQL would take longer than all the rest of this function
    order = order[(of_view & to_view & (edges["kind"] >= 0))[order]]
    types: dict[str, str] = {}
    return Topology(
        revision,
        ids,
        keys,
        tuple(types.setdefault(row[2], row[2]) for row in nodes),
        tuple(row[3] for row in nodes),
        source[order],
        target[order],
        edges["weight"][order],
        tuple([codes.names[code] for code in edges["kind"][order].tolist()]),
        present,
    )


def _places(ids: Places, ends: Places) -> tuple[Places, Mask]:
    """Return the position of each end among the ids, and a mask of the ends that are among them."""
    places = np.searchsorted(ids, ends)
    places[places == len(ids)] = 0
    return places, ids[places] == ends if len(ids) else np.zeros(len(ends), dtype=np.bool_)


def _redirected(keys: tuple[str, ...], present: Mapping[str, str]) -> Places:
    """Return for each position the one that stands for it: that of the copy, where a component was removed."""
    place_of = {key: place for place, key in enumerate(keys)}
    found = np.arange(len(keys))
    for gone, copy in present.items():
        if gone in place_of and copy in place_of:
            found[place_of[gone]] = place_of[copy]
    return found

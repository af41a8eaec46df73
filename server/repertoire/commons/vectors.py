"""Says which vector columns of a community hold the vectors of which model, and writes vectors into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repertoire.app.traces.embed import SPACES, passage
from repertoire.commons.database import Connection
from repertoire.domain.trace import PROBLEM_SPACE, SOLUTION_SPACE, Trace
from repertoire.ports import Embedder, Vectors

_WRITING = 7203  # the class of the advisory locks of those who write vectors
READ = "number, key, title, context, solution"  # of a trace: what `traces_of` takes


@dataclass(frozen=True)
class Columns:
    """The columns of a trace with the vectors of one model: one of each vector space, and one with the model's name."""

    number: int
    model: str
    spaces: Mapping[str, str]

    @property
    def problem(self) -> str:
        """Return the column that is null in a trace without vectors."""
        return self.spaces[PROBLEM_SPACE]


FIRST = Columns(1, "model", {PROBLEM_SPACE: "problem", SOLUTION_SPACE: "solution_vector"})
SECOND = Columns(2, "second_model", {PROBLEM_SPACE: "second_problem", SOLUTION_SPACE: "second_solution"})


@dataclass(frozen=True)
class Held:
    """What the vector columns of a community hold: those that searches read, and the other ones.

    A model is empty where there are no vectors; `filling`: workers fill the other columns, which are incomplete.
    """

    current: Columns
    model: str
    other: Columns
    other_model: str
    filling: bool

    @property
    def readable(self) -> dict[str, Columns]:
        """Map the models with whose vectors a search can be answered to their columns, the current ones first."""
        found = {self.model: self.current}
        if not self.filling:
            found.setdefault(self.other_model, self.other)
        return {model: columns for model, columns in found.items() if model}

    @property
    def written(self) -> list[tuple[Columns, str]]:
        """Return the columns that get vectors of a new trace, with their models, the current ones first."""
        both = ((self.current, self.model), (self.other, self.other_model))
        return [(columns, model) for columns, model in both if model]


def held(connection: Connection, community: str, *, lock: bool = False) -> Held:
    """Return what the vector columns of a community hold; with `lock`, it stays so until the transaction ends.

    A community without vectors does not say the model of its current columns. Where servers wrote them that knew no
    second columns, it is the model of the first trace with vectors.
    """
    row = connection.execute(
        "SELECT vector_columns, first_model, second_model, filling FROM community WHERE community = %s"
        f"{' FOR NO KEY UPDATE' if lock else ''}",
        (community,),
    ).fetchone()
    current, first, second, filling = row or (FIRST.number, "", "", False)
    if current == SECOND.number:
        return Held(SECOND, second, FIRST, first, filling)
    return Held(FIRST, first or _first_model(connection, community), SECOND, second, filling)


def writing(connection: Connection, community: str) -> Held:
    """Return what the vector columns hold, before writing into them: `wait_for_writers` waits for the transaction."""
    connection.execute("SELECT pg_advisory_xact_lock_shared(%s, hashtext(%s))", (_WRITING, community))
    return held(connection, community)


def wait_for_writers(connection: Connection, community: str) -> None:
    """Wait until nobody writes vectors by what the columns held before."""
    connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_WRITING, community))


def name_model(connection: Connection, community: str, model: str) -> None:
    """Store the model of a community's current columns, unless one is stored or known from their vectors."""
    connection.execute(
        "UPDATE community SET first_model = %s WHERE community = %s AND first_model = '' AND vector_columns = %s",
        (_first_model(connection, community) or model, community, FIRST.number),
    )


def _first_model(connection: Connection, community: str) -> str:
    row = connection.execute(
        "SELECT model FROM trace WHERE community = %s AND problem IS NOT NULL ORDER BY number LIMIT 1", (community,)
    ).fetchone()
    return str(row[0]) if row else ""


def traces_of(rows: Sequence[tuple[int, str, str, str, str]]) -> list[Trace]:
    """Return the traces of rows with the columns READ, with no more than an embedding needs."""
    return [Trace(*row[1:]) for row in rows]


def vectors_of(embedder: Embedder, traces: Sequence[Trace]) -> list[tuple[str, ...]]:
    """Return the vectors of each trace, one of each vector space, as PostgreSQL reads them."""
    if not traces:
        return []
    spaces = [embedder.embed_passages([passage(space, trace, embedder.model) for trace in traces]) for space in SPACES]
    return [tuple(as_vector(space[place]) for space in spaces) for place in range(len(traces))]


def store(
    connection: Connection, community: str, columns: Columns, model: str, found: Mapping[int, tuple[str, ...]]
) -> None:
    """Store the vectors of traces, given by their numbers, with the model that made them."""
    targets = ", ".join(f"{columns.spaces[space]} = %s::halfvec" for space in SPACES)
    connection.cursor().executemany(
        f"UPDATE trace SET {targets}, {columns.model} = %s WHERE community = %s AND number = %s",
        [(*vectors, model, community, number) for number, vectors in found.items()],
    )


def as_vector(vector: Vectors) -> str:
    """Return a vector as PostgreSQL reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in np.asarray(vector).tolist()) + "]"

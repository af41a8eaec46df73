"""The schema of a graph file as rows: its views, kinds of nodes, relations and tables.

Writing, vectors, forgetting, rescue, ranking and docs/schema.md read these rows. A kind without a row is kept by every
ingest and joins no view; it is deleted with its source, or with everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from repertoire.domain.answer import BODY_SPACE, CODE_SPACE, DESCRIPTION_SPACE, REQUEST_SPACE
from repertoire.domain.component import (
    ALTERNATIVE_TO,
    CAPABILITY,
    CO_OCCURS_WITH,
    COMPONENT,
    CONCEPT,
    CONFLICTS_WITH,
    DEPENDS_ON,
    MEMBER_OF,
    MENTIONS,
    PART_OF,
    PATTERN,
    PROVIDES,
    REQUEST,
    REQUIREMENT,
    SELECTED,
    TWIN_OF,
)
from repertoire.domain.trace import CONCERNS, PROBLEM_SPACE, SHOWS, SIGNATURE, SOLUTION_SPACE, SUPERSEDES, TRACE

# Rules of forgetting: the event with which a node, or a row of a table, is deleted.
BY_KIND, WITH_EDGES, WITH_TEXT, WITH_NODE, WITH_SOURCE, WITH_PROMPTS, WITH_PROJECT, WITH_ALL, NEVER = (
    "as its kind says",
    "with the last edge that needs it",
    "with the last component that carries the text",
    "with its node",
    "with its source",
    "with what was asked, or with the project that it was asked in",
    "with the project that it was told in",
    "only when everything is forgotten",
    "never: it holds nothing of anybody",
)
COMPONENTS = "components"  # the view that recommends components
TRACES = "traces"  # the view that finds what was solved once
CORE, LOG, PERSON = "core", "log", "person"  # owners of tables that belong to no view
GIVEN = "given"  # a relation of an imported graph: `given:` and the relation's name there
STAND_IN = "stand_in"  # the end of an edge that lies in another file or does not exist yet: only its key is known

_SURE, _ALIKE, _TIMES = "how sure it is, 0 to 1", "how alike the two are, 0 to 1", "how often, 0 or more"


@dataclass(frozen=True)
class View:
    """The part of a graph that one system ranks and walks; its revision changes when one of its nodes or edges does."""

    name: str
    text: str = ""  # name of its full-text table
    revision: str = ""  # key of its revision in the table `meta`


@dataclass(frozen=True)
class NodeKind:
    """One kind of node: its meaning, the views that read it, and when it is forgotten."""

    name: str
    means: str
    views: tuple[str, ...]  # the views that read it; the full text of the first holds its words
    forgotten: str
    spaces: tuple[str, ...] = ()  # the vector spaces that may hold it
    own: bool = False  # a person's own data: no source could restore it, so a rescue brings it over
    walked: bool = True  # a walk may pass through it
    stands_in: bool = False  # an edge to `kind:name` creates the node if it does not exist


@dataclass(frozen=True)
class Relation:
    """One kind of edge: its meaning, the views that read it, and what its weight means."""

    name: str
    means: str
    views: tuple[str, ...]  # which read it
    weight: str = _SURE
    walked: bool = True  # a walk may follow it


@dataclass(frozen=True)
class Table:
    """One database table: its owner, and when its rows are forgotten."""

    name: str
    owner: str  # a view, or `core`, `log` or `person`
    forgotten: str
    node: str = ""  # the column that names a row's node, if the row is deleted with that node
    project: str = ""  # the column that names the project of a row
    own: bool = False  # a person's own data: a rescue brings it over
    own_rows: str = ""  # the SQL condition on those of its rows that are, if not all


VIEWS = (
    View(COMPONENTS, text="component_text", revision="revision"),
    View(TRACES, text="trace_text", revision="revision traces"),
)

_C, _T = (COMPONENTS,), (TRACES,)
NODE_KINDS = (
    NodeKind(
        COMPONENT,
        "a skill, agent, command, hook, MCP server, … (table `component`)",
        _C,
        WITH_SOURCE,
        spaces=(BODY_SPACE, DESCRIPTION_SPACE, CODE_SPACE),
    ),
    NodeKind(CAPABILITY, "what components provide", _C, WITH_EDGES, stands_in=True),
    NodeKind(PATTERN, "components that are known to work together", _C, WITH_EDGES, walked=False, stands_in=True),
    NodeKind(REQUIREMENT, "what a component needs from outside the graph", _C, WITH_EDGES, stands_in=True),
    NodeKind(CONCEPT, "an edge's end that is no component: known by its name alone", _C, WITH_EDGES, stands_in=True),
    NodeKind(
        REQUEST,
        "a past prompt for which something was used",
        _C,
        WITH_PROMPTS,
        spaces=(REQUEST_SPACE,),
        own=True,
        walked=False,
        stands_in=True,
    ),
    NodeKind(
        TRACE,
        "a problem that was solved, or was not (table `trace`)",
        _T,
        WITH_PROJECT,
        spaces=(PROBLEM_SPACE, SOLUTION_SPACE),
        own=True,
    ),
    NodeKind(SIGNATURE, "what stays of an error on another machine", _T, WITH_EDGES, stands_in=True),
    NodeKind(STAND_IN, "an edge's end that lies in another file or is not there yet", (), WITH_EDGES),
)
RELATIONS = (
    Relation(PROVIDES, "has this capability", _C),
    Relation(DEPENDS_ON, "needs it", _C),
    Relation(CO_OCCURS_WITH, "is used or found together with it", _C, _TIMES),
    Relation(ALTERNATIVE_TO, "does the same job", _C, _ALIKE),
    Relation(PART_OF, "lies inside it", _C),
    Relation(MENTIONS, "names it", _C),
    Relation(MEMBER_OF, "belongs to this pattern", _C),
    Relation(SELECTED, "this request was served by it", _C, _TIMES, walked=False),
    Relation(TWIN_OF, "carries the same text elsewhere", _C, _ALIKE, walked=False),
    Relation(GIVEN, "as a graph from elsewhere says: `given:` and its name for it", _C, _TIMES),
    Relation(CONFLICTS_WITH, "must not be in one set with it", _C, walked=False),
    Relation(SHOWS, "is about this error", _T, _ALIKE),
    Relation(CONCERNS, "was solved with it", _T),
    Relation(SUPERSEDES, "replaces it", _T, walked=False),
)
TABLES = (
    Table("migration", CORE, NEVER),
    Table("meta", CORE, NEVER),
    Table("node", CORE, BY_KIND),
    Table("edge", CORE, WITH_NODE),
    Table("vector_space", CORE, WITH_ALL),
    Table("vector_state", CORE, WITH_NODE),
    Table("source", COMPONENTS, WITH_SOURCE, own=True),
    Table("file", COMPONENTS, WITH_SOURCE),
    Table("component", COMPONENTS, WITH_NODE, node="node_id"),
    Table("component_text", COMPONENTS, WITH_NODE, node="rowid"),
    Table("carried_text", COMPONENTS, WITH_NODE, node="node_id"),
    Table("sketch", COMPONENTS, WITH_TEXT),
    Table("text_pair", COMPONENTS, WITH_TEXT),
    Table("event", LOG, WITH_PROMPTS, project="project", own=True),
    Table("mute", PERSON, WITH_ALL, own=True),
    Table("correction", PERSON, WITH_ALL, own=True),
    Table("acceptance", PERSON, WITH_ALL, own=True),
    Table("dismissal", PERSON, WITH_ALL, own=True),
    Table("advisory", PERSON, WITH_ALL, own=True),
    Table("departed", COMPONENTS, WITH_ALL, own=True),
    Table("trace", TRACES, WITH_NODE, node="node_id", own=True),
    Table("trace_text", TRACES, WITH_NODE, node="rowid"),
)


@dataclass(frozen=True)
class Layout:
    """The schema of one sort of graph file: its views, kinds of nodes, relations and tables."""

    views: tuple[View, ...]
    kinds: tuple[NodeKind, ...]
    relations: tuple[Relation, ...]
    tables: tuple[Table, ...]

    @cached_property
    def views_by_name(self) -> Mapping[str, View]:
        """Each view (a part of the graph that one system ranks) by its name."""
        return {view.name: view for view in self.views}

    @cached_property
    def kind(self) -> Mapping[str, NodeKind]:
        """The kinds of nodes by name."""
        return {kind.name: kind for kind in self.kinds}

    @cached_property
    def relation(self) -> Mapping[str, Relation]:
        """The relations by name."""
        return {relation.name: relation for relation in self.relations}

    def related(self, name: str) -> Relation | None:
        """Return a relation by its whole name, or by the part before a colon; None if unknown."""
        return self.relation.get(name) or self.relation.get(name.partition(":")[0])

    def kinds_of(self, view: str) -> tuple[str, ...]:
        """Return the kinds of nodes that a view reads."""
        return tuple(kind.name for kind in self.kinds if view in kind.views)

    def relations_of(self, view: str) -> tuple[str, ...]:
        """Return the relations that a view reads."""
        return tuple(relation.name for relation in self.relations if view in relation.views)

    def spaces_of(self, view: str) -> tuple[str, ...]:
        """Return the vector spaces of the kinds of nodes that a view reads."""
        return tuple(dict.fromkeys(space for kind in self.kinds if view in kind.views for space in kind.spaces))

    def views_of(self, kind: str) -> tuple[str, ...]:
        """Return the views that read a kind of node; none for an unknown kind."""
        return self.kind[kind].views if kind in self.kind else ()

    def text_of(self, kind: str) -> str:
        """Return the full-text table that holds a kind of node; empty if none does."""
        views = self.views_of(kind)
        return self.views_by_name[views[0]].text if views else ""

    def kinds_forgotten(self, rule: str) -> tuple[str, ...]:
        """Return the kinds of nodes that are forgotten by a rule."""
        return tuple(kind.name for kind in self.kinds if kind.forgotten == rule)


HOME = Layout(VIEWS, NODE_KINDS, RELATIONS, TABLES)  # the schema of the database in the home

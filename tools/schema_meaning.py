"""What every table and column of the database is for: the words of docs/schema.md, held complete by tools/docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from repertoire.domain.event import EVENT_KINDS, EventKind
from repertoire.domain.graph import COMPONENTS, HOME, NODE_KINDS, RELATIONS, NodeKind, Relation

_KEY_OF_NODE = "a component's id"


def _names(rows: Iterable[NodeKind | Relation | EventKind]) -> str:
    return ", ".join(f"`{row.name}`" for row in rows)


# table → what it holds, and its columns with theirs
MEANING: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "migration": (
        "which steps of the schema this file has seen",
        {"number": "the step", "name": "what it brought", "at": "when it was applied"},
    ),
    "meta": (
        "single values of the whole store",
        {
            "key": "`revision` (of the view `components`: moves whenever a node or an edge that it reads changes), "
            "`vectors` and `vectors …` (move with the vectors of all spaces, of one), "
            "`compared …` (what likeness was last worked out for), `unsettled` (the last change for which what all "
            "sources show is still owed), `condensed` (the last event when old ones were last counted), `kept` "
            "(what the log came to then; it goes with the log), `spooled` (the spool's files of the last drain, whose "
            "events are in the log), `installs` (the installations that were recorded, also of what was forgotten "
            "since), `forgetting` (there while events are deleted), `sort` "
            "(which sort of graph file this is; none: a home's database)",
            "value": "its value",
        },
    ),
    "source": (
        "where components come from: a folder, a repository, a marketplace, what is installed, the catalogue",
        {
            "id": "used inside this file alone; another after it was removed and read again",
            "key": "its stable name, as `repertoire sources` shows it",
            "kind": "what sort of source it is",
            "location": "the address or folder that it is read from",
            "repository": "the repository that a reader would visit",
            "commit_sha": "the commit that was read",
            "added_at": "when it was first read",
            "ingested_at": "when it was last read",
            "given": "the address that a person ingested, while Claude Code's clone is read in its place; else empty",
        },
    ),
    "file": (
        "every file of a source that was read, so that one which did not change is not read again",
        {
            "source_id": "its source",
            "path": "its path inside the source",
            "content_hash": "of the bytes, and of what reads them",
            "skipped": "why it holds no component; empty where it holds one",
        },
    ),
    "node": (
        "everything in the graph that has a name: components, capabilities, patterns, requirements, past requests",
        {
            "id": "used inside this file alone",
            "key": "its identity, the same after being read again: `source:path[#name]`, `capability:NAME`, …",
            "type": f"its kind: {_names(NODE_KINDS)}",
            "name": "what it is called",
            "source_id": "its source; 0: shared by sources, or nobody's",
            "file": "the file that it was read from",
            "data": "what only its type has, as JSON",
            "first_seen": "when it came into this store",
            "last_changed": "when its content last changed here",
        },
    ),
    "component": (
        "what is known of a node that is a component",
        {
            "node_id": "its node",
            "type": "skill, agent, command, hook, …",
            "description": "its author's, or what stands for one",
            "body": "its text",
            "code": "code in it, for questions that are code",
            "examples": "what its author says people would ask, as JSON",
            "front_matter": "the keys at its top, as JSON",
            "allowed_tools": "the tools that it names, as JSON",
            "repository": "the repository that it comes from",
            "path": "its file in there",
            "plugin": "the plugin that it belongs to",
            "marketplace": "the marketplace that offers it",
            "licence": "its licence, or its repository's",
            "content_hash": "of what is known of it: equal means a copy",
            "first_commit": "when its file was first committed",
            "last_commit": "when its file was last committed",
            "installed": "1: Claude Code has it on this machine",
            "install": "the exact lines that install it, as JSON",
            "popularity": "how many sources carry and name it, and what a marketplace says, by logarithms",
            "version": "how many contents were seen under this id, this one included",
            "flags": "what static checks found, as JSON",
            "risk": "the gravest of the flags, as a number; 0: none",
            "client": "whose it is, where another client than Claude Code reads it; empty for Claude Code's",
            "client_reason": "how that shows",
            "english": "name and description in English, where they are in another language",
            "invocation": "who alone may start it: `person`, `model`, `nobody`, `matched`; empty where anybody may",
        },
    ),
    "edge": (
        "what ties two nodes, with the evidence for it",
        {
            "id": "used inside this file alone",
            "source": "the node that it leaves",
            "target": "the node that it reaches",
            "relation": f"what ties them: {_names(RELATIONS)}",
            "weight": "how sure, how alike or how often, as its relation says below",
            "evidence": "what it rests on: a file, a session, a measure",
            "source_id": "the source that it was read from; 0: derived from all together",
            "file": "the file that it was read from",
        },
    ),
    "component_text": (
        "full text (FTS5), a row for each component under its node's id; words are split before they are written",
        {
            "name": "its name",
            "description": "its description",
            "body": "its text",
        },
    ),
    "vector_space": (
        "one for each view of components and each model; its vectors lie in `vec_ID` (sqlite-vec), by node",
        {
            "id": "names the table of its vectors",
            "space": f"what its vectors are of: {', '.join(f'`{space}`' for space in HOME.spaces_of(COMPONENTS))}",
            "model": "the model and its weights",
            "dimensions": "of each vector",
        },
    ),
    "vector_state": (
        "which node has a vector in which space",
        {
            "space_id": "the space",
            "node_id": "the node, and the vector's row",
            "content_hash": "of the text that was embedded: another text is embedded anew",
        },
    ),
    "event": (
        "the log of what happened; append-only, save for forgetting",
        {
            "id": "its number, never given twice",
            "at": "when",
            "kind": f"what happened: {_names(EVENT_KINDS)}",
            "session": "the session's id",
            "project": "the project's folder",
            "request": "the prompt that it belongs to",
            "node": _KEY_OF_NODE,
            "data": "what only its kind has, as JSON; of a prompt what `store_prompts` allows",
        },
    ),
    "mute": (
        "what is never suggested",
        {
            "target": "a component's id, a source's key, or a project's folder",
            "project": "where it is silent; empty: everywhere",
            "scope": "component, source, project or trace",
            "how": "muted by word, or dismissed often enough",
            "at": "since when",
        },
    ),
    "correction": (
        "capabilities that a curator gave; they survive being read again",
        {"node_key": _KEY_OF_NODE, "capabilities": "as JSON", "at": "when"},
    ),
    "acceptance": (
        "contents that a person accepted although checks flag them",
        {
            "content_hash": "the content: a copy is accepted too, a change is not",
            "node_key": "the component that was looked at",
            "at": "when",
        },
    ),
    "carried_text": (
        "which text a component carries, for finding twins",
        {
            "node_id": "its component",
            "stamp": "what the sketch was made from",
            "text_hash": "the text",
            "words": "how many words it has",
            "said": "what it says of other components, as JSON",
        },
    ),
    "sketch": (
        "a MinHash of each text, however many components carry it",
        {"text_hash": "the text", "signature": "its sketch"},
    ),
    "text_pair": (
        "texts that are alike",
        {"low": "the one", "high": "the other", "jaccard": "how alike, exactly"},
    ),
    "dismissal": (
        "overlaps that a person settled; they name no source, and stay settled",
        {
            "low": "the one component's id",
            "high": "the other's",
            "kind": "copy, conflict or alternative",
            "content": "what both held then: a change asks again",
            "at": "when",
        },
    ),
    "advisory": (
        "security advisories on packages, as a person's own files told them",
        {
            "ecosystem": "npm, PyPI, …",
            "package": "the package's name in there",
            "id": "the advisory's own",
            "data": "its record, as JSON",
            "at": "when it was read",
        },
    ),
    "departed": (
        "components that are no longer in the source that held them",
        {"type": "what it was", "name": "what it was called", "source": "where it was", "at": "when it was gone"},
    ),
    "trace": (
        "problems that were solved, or were not; an amended one stays, superseded",
        {
            "node_id": "its node, whose key is made of its words",
            "title": "what it is about",
            "context": "the problem: what was seen, what was tried",
            "solution": "what was done",
            "tags": "as a JSON list",
            "environment": "language, framework, os, package_manager and runtime, as JSON",
            "outcome": "worked, partly or failed",
            "status": "draft, active, superseded or expired",
            "review_after": "the day from which it is to be looked at again",
            "watch": "until when it holds, in words",
            "uses": "keys of components, capabilities and packages, as a JSON list",
            "signatures": "of its errors: key to template, as JSON",
            "session": "in which it was told",
            "project": "the folder in which it was told",
            "author": "who told it",
            "licence": "under which it may be passed on",
            "version": "how often it was amended, from 1",
            "supersedes": "the key of the trace that it replaces",
            "flags": "what static checks found in its words, as JSON",
            "at": "when it was told",
            "token": "what confirms it while it is a draft",
        },
    ),
    "trace_text": (
        "the words of traces, already split",
        {"name": "title and tags", "description": "the problem", "body": "the solution"},
    ),
}

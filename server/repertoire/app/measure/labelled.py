"""Reads a labelled set, and ingests its rows into a store in the same way as users' components."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from repertoire.app.clock import now
from repertoire.app.sources.catalogue_source import shipped_wording
from repertoire.app.sources.cpu_limit import cpu_limit
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import settle, write_records
from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.domain.component import (
    AGENT,
    CO_OCCURS_WITH,
    COMMAND,
    DEPENDS_ON,
    MENTIONS,
    PART_OF,
    PLUGIN,
    PROVIDES,
    SKILL,
    Edge,
    FileRecord,
    SourceInfo,
)
from repertoire.domain.digest import digest_of
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.graph import GIVEN, HOME
from repertoire.ingestion import clients
from repertoire.ingestion.extract import Extraction, extract
from repertoire.ingestion.extraction_plan import ExtractionPlan
from repertoire.ingestion.install import Site
from repertoire.ingestion.manifests import plugin_root
from repertoire.ingestion.parts import Draft, FileOutcome, SourceFile, SourceLayout, Strategy, folder
from repertoire.ingestion.source_context import SourceContext, StaticChecks, Translator
from repertoire.ingestion.strategies import plugin
from repertoire.ingestion.strategies.markdown_kinds import AGENTS, COMMANDS, SKILLS
from repertoire.ports import Embedder, Vectors
from repertoire.retrieval.translation import described_in_english
from repertoire.retrieval.translation_dictionary import dictionaries_digest
from repertoire.store.database import Store
from repertoire.trust.scan import RULES_VERSION, scan

_A_ROW_S = 15.0  # processor time for one row, as for a file of an ingest
_NOWHERE = "eval"  # the source of rows without a repository
_NAMED = ("type", "name")  # what a row that is a component has beside its id and text
_MANIFEST = ".claude-plugin/plugin.json"
_READERS = {SKILL: SKILLS, AGENT: AGENTS, COMMAND: COMMANDS}
# The relations of a set by their names in the graph: an agent declares its skills, and a bundle is a plugin.
_CALLED = {"uses_skill": DEPENDS_ON, "same_bundle": CO_OCCURS_WITH}
_WEIGHTS = {MENTIONS: 0.5, CO_OCCURS_WITH: 0.5}  # weights as in an ingest; other relations weigh 1
_MADE = frozenset((DEPENDS_ON, CO_OCCURS_WITH, MENTIONS, PART_OF, PROVIDES))  # relations that an ingest writes
_SHOWN = 3
_AS_ITS_FILE = "Install it as the file that it was taken from"

Tell = Callable[[str], None]


@dataclass(frozen=True)
class LabelledSet:
    """A corpus with its edges, queries, and the ids of labelled answers to each query; the corpus may be missing."""

    corpus: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]
    edges: Sequence[Sequence[str]]
    gold: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def split(self, name: str) -> list[Mapping[str, Any]]:
        """Return the queries of one split."""
        return [query for query in self.queries if query.get("split") == name]


def read_set(place: Path) -> LabelledSet:
    """Read a labelled set; a query without an id is identified by its text.

    Raises:
        InvalidRequest: a line is no query, or no row of a corpus.
    """
    gold: dict[str, list[str]] = defaultdict(list)
    for query, document, *_ in _table(place / "qrels.tsv", "query-id"):
        gold[query].append(document)
    asked = [{**row, "id": row.get("id", row["text"])} for row in _lines(queries_file(place), ("text",))]
    corpus = list(_lines(place / "corpus.jsonl", ("id", "text")))
    return LabelledSet(corpus, asked, list(_table(place / "edges.tsv", "source")), gold)


def read_queries(
    set_dir: Path, split: str, *, needs_corpus: bool = True
) -> tuple[LabelledSet, Sequence[Mapping[str, Any]]]:
    """Return a labelled set and the queries of one split.

    Raises:
        InvalidRequest: the folder holds no labelled set, or the set has no such split.
    """
    needed = [queries_file(set_dir)] + ([set_dir / "corpus.jsonl"] if needs_corpus else [])
    for file in needed:
        if not file.is_file():
            message = (
                f"{set_dir} has no {file.name}; a set is a folder with corpus.jsonl, queries.jsonl and "
                "qrels.tsv; a home and a tree of code need no corpus"
            )
            raise InvalidRequest(message)
    labelled = read_set(set_dir)
    queries = labelled.split(split)
    if not queries:
        splits = sorted({str(query.get("split")) for query in labelled.queries})
        message = f"{set_dir.name} has no split {split}; it has {', '.join(splits)}"
        raise InvalidRequest(message)
    return labelled, queries


def queries_file(place: Path) -> Path:
    """Return the file with the queries of a set: `tasks.jsonl`, or else `queries.jsonl`."""
    tasks = place / "tasks.jsonl"
    return tasks if tasks.is_file() else place / "queries.jsonl"


def _lines(path: Path, needed: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                row = row_of(line)
                if not all(isinstance(row.get(name), str) for name in needed):
                    message = f"{path}:{number} must be a JSON object in UTF-8 with {' and '.join(needed)} as text"
                    raise InvalidRequest(message)
                yield row


def row_of(line: bytes) -> dict[str, Any]:
    """Return the JSON object that a line holds; an empty one where it holds none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _table(path: Path, header: str) -> Iterator[list[str]]:
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if len(cells) > 1 and cells[0] != header:
                yield cells


def fill(
    store: Store, labelled: LabelledSet, embedder: Embedder | None, *, cache: Path | None = None, tell: Tell
) -> tuple[str, ...]:
    """Ingest the rows into an empty store and embed them; return the differences from a user's home.

    Each row is turned back into its file, as far as the row holds its text.

    Raises:
        InvalidRequest: a row is no component.
    """
    odd = next((row for row in labelled.corpus if not all(isinstance(row.get(name), str) for name in _NAMED)), None)
    if odd is not None:
        message = (
            f"row {odd['id']} of corpus.jsonl must have {' and '.join(_NAMED)} as text; --kind says what it is else"
        )
        raise InvalidRequest(message)
    sources: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in labelled.corpus:
        sources[str(row.get("repo") or _NOWHERE)].append(row)
    known: set[str] = set()
    derived: set[tuple[str, str, str]] = set()
    for key, rows in sources.items():
        info = SourceInfo(key, "eval", "eval", key if key != _NOWHERE else "")
        found = _extracted(info, rows)
        write_records(store, info, found.records, found.derived, {})
        known |= {component.id for record in found.records for component in record.components}
        derived |= {(edge.source, edge.target, edge.relation) for edge in found.derived}
    edges = [edge for edge in _labelled_edges(labelled) if (edge.source, edge.target, edge.relation) not in derived]
    store.sources.set_edges(edges, now=now(), file="edges.tsv")
    settle(store)
    if embedder is not None:
        _embed(store, embedder, cache, tell)
    return tuple(_missing(labelled, known, edges))


def _missing(labelled: LabelledSet, known: set[str], edges: Iterable[Edge]) -> Iterator[str]:
    """Yield the differences between this store and a user's home."""
    yield "rows hold no scripts, licences, front matter beyond name and description, and texts as the set cut them"
    yield "no starter catalogue, nothing installed, no project, no use but what --learn records"
    lost = [str(row["id"]) for row in labelled.corpus if row["id"] not in known]
    if lost:
        yield f"{len(lost)} rows make no component where they are ingested: {', '.join(lost[:_SHOWN])}"
    others = Counter(edge.relation for edge in edges if edge.relation not in _MADE)
    if others:
        said = ", ".join(f"{name} {count}" for name, count in others.most_common(_SHOWN))
        yield f"{sum(others.values())} edges of the set are of relations that no ingest makes: {said}"


def _extracted(info: SourceInfo, rows: Sequence[Mapping[str, Any]]) -> Extraction:
    """Return the extraction of a source's rows, where each component has its row's id."""
    by_path = {_path(info, row): row for row in rows}
    skills = frozenset(folder(path) for path in by_path if path.rpartition("/")[2].lower() == "skill.md")
    layout = SourceLayout(info.key.rpartition("/")[2], skills=skills, own=clients.own(tuple(by_path)))
    plan = ExtractionPlan(tuple(by_path), {}, layout, tuple(by_path))
    files = {path: _file(path, row) for path, row in by_path.items()}
    context = SourceContext(
        info=info,
        site=Site(f"/{info.key}"),  # a user's home has clones, from which components are installed
        layout=layout,
        vocabulary=shipped_vocabulary(),
        dates={path: ("", str(row.get("updated", ""))) for path, row in by_path.items()},
        checks=StaticChecks(scan, lambda _: "", RULES_VERSION),
        translator=Translator(described_in_english, dictionaries_digest()),
        wording=shipped_wording(),
        bounded=partial(cpu_limit, _A_ROW_S),
    )
    found = extract(files, {}, plan, context, pick=lambda path, _: _reader(path, by_path))
    ids = {f"{info.key}:{_own_path(path, row)}": str(row["id"]) for path, row in by_path.items()}
    return replace(
        found,
        records=tuple(_renamed(record, ids) for record in found.records),
        derived=_with_row_ids(found.derived, ids),
    )


def _path(info: SourceInfo, row: Mapping[str, Any]) -> str:
    return str(row["id"]).removeprefix(f"{info.key}:")


def _own_path(path: str, row: Mapping[str, Any]) -> str:
    return plugin_root(path) or "." if _is_manifest(path, row) else path


def _is_manifest(path: str, row: Mapping[str, Any]) -> bool:
    return row["type"] == PLUGIN and path.endswith(_MANIFEST)


def _reader(path: str, by_path: Mapping[str, Mapping[str, Any]]) -> Strategy | None:
    row = by_path.get(path)
    if row is None:
        return None
    if _is_manifest(path, row):
        return plugin.STRATEGY
    if path.endswith(".md") and row["type"] in _READERS:
        return _READERS[row["type"]]
    return Strategy("row", lambda *_: True, lambda file, _: FileOutcome((_draft(file, row),)))


def _draft(file: SourceFile, row: Mapping[str, Any]) -> Draft:
    description, body = _description_and_body(row)
    return Draft(row["type"], row["name"], description, body, digest=file.digest)


def _description_and_body(row: Mapping[str, Any]) -> tuple[str, str]:
    description, _, body = str(row["text"]).partition("\n")
    return description.strip(), body.strip()


def _file(path: str, row: Mapping[str, Any]) -> SourceFile:
    """Return the source file of a row, written again from its fields."""
    description, body = _description_and_body(row)
    if _is_manifest(path, row):
        text = json.dumps({"name": row["name"], "description": description, "keywords": body.split()})
    else:
        header = yaml.safe_dump({"name": row["name"], "description": description}, allow_unicode=True, width=10**6)
        text = f"---\n{header}---\n{body}"
    return SourceFile(path, text, digest_of(text))


def _renamed(record: FileRecord, ids: Mapping[str, str]) -> FileRecord:
    components = tuple(
        # a row lacks the front matter without which the client would not load the file that it was taken from
        replace(one, id=ids.get(one.id, one.id), install=one.install or (() if one.client else (_AS_ITS_FILE,)))
        for one in record.components
    )
    return replace(record, components=components, edges=_with_row_ids(record.edges, ids))


def _with_row_ids(edges: Iterable[Edge], ids: Mapping[str, str]) -> tuple[Edge, ...]:
    return tuple(
        replace(edge, source=ids.get(edge.source, edge.source), target=ids.get(edge.target, edge.target))
        for edge in edges
    )


def _labelled_edges(labelled: LabelledSet) -> list[Edge]:
    """Return a set's edges from its table, and from the needs of rows for pairs outside the table."""
    most = max((float(cells[3]) for cells in labelled.edges if len(cells) > 3), default=1.0)
    edges = [_edge(cells, most) for cells in labelled.edges if len(cells) > 2]
    pairs = {frozenset((edge.source, edge.target)) for edge in edges}
    needs = (
        Edge(str(row["id"]), need, DEPENDS_ON)
        for row in labelled.corpus
        for need in row.get("depends_on", ())
        if frozenset((row["id"], need)) not in pairs
    )
    return list(dict.fromkeys((*edges, *needs)))


def _edge(cells: Sequence[str], most: float) -> Edge:
    relation = _CALLED.get(cells[2], cells[2])
    relation = relation if relation in HOME.relation else f"{GIVEN}:{relation}"
    weight = float(cells[3]) / most if len(cells) > 3 else _WEIGHTS.get(relation, 1.0)  # at most 1
    return Edge(cells[0], cells[1], relation, weight)


def _embed(store: Store, embedder: Embedder, cache: Path | None, tell: Tell) -> None:
    kept = CachedEmbedder(embedder, cache)
    tell(f"embedding {len(store.graph.summaries())} components")
    embed_pending(store, kept)
    kept.save()


class CachedEmbedder:
    """An embedder that caches the vectors of texts in a file between runs."""

    def __init__(self, embedder: Embedder, place: Path | None) -> None:
        self._embedder = embedder
        self.model, self.query_encoder, self.dimensions = embedder.model, embedder.query_encoder, embedder.dimensions
        name = digest_of(embedder.model)[:16]
        self._file = place / f"{name}.npz" if place is not None else None
        self._rows: dict[str, Vectors] = {}
        self._new = False
        if self._file is not None and self._file.is_file():
            with np.load(self._file) as held:
                self._rows = dict(zip(held["texts"].tolist(), held["vectors"], strict=True))

    @property
    def loaded(self) -> bool:
        """Return whether the model is in memory."""
        return self._embedder.loaded

    def load(self) -> None:
        """Load the model if it is not in memory."""
        self._embedder.load()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of questions, one L2-normalised float32 row for each text."""
        return self._embedder.embed_queries(texts)

    def embed_question(self, text: str, parts: Sequence[str]) -> Vectors:
        """Return the vectors of a question and of its clauses, one L2-normalised row for each."""
        return self._embedder.embed_question(text, parts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of component texts, one L2-normalised float32 row for each text."""
        hashes = [digest_of(text) for text in texts]
        new = {key: text for key, text in zip(hashes, texts, strict=True) if key not in self._rows}
        if new:
            self._rows.update(zip(new, self._embedder.embed_passages(list(new.values())), strict=True))
            self._new = True
        return np.stack([self._rows[key] for key in hashes])

    def save(self) -> None:
        """Write the cache to its file if it has new vectors."""
        if self._file is not None and self._new:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            rows = np.array(list(self._rows.values()), dtype=np.float32)
            np.savez(self._file, texts=np.array(list(self._rows)), vectors=rows)

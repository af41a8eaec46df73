"""What is killed: ingests, learning, what is told of traces, bounding the log, bringing older files up to date."""

from __future__ import annotations

import json
import os
import pickle
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sample_source import TOPICS, WORDS, write_source
from states import ROOT

from repertoire.app.clock import now
from repertoire.app.session.spool import record_events, take_in
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.ingest import ingest
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.traces.cache import TraceCache
from repertoire.app.traces.contribute import amended, confirm, discard, draft
from repertoire.app.traces.embed import embed_traces
from repertoire.app.traces.exchange import import_lines
from repertoire.app.traces.fields import TraceFields
from repertoire.app.traces.voting import NewVote, vote
from repertoire.app.usage.compact_log import compact_when_due
from repertoire.app.usage.installs import note_installs
from repertoire.app.usage.lessons import AskedPrompt, Lesson
from repertoire.app.usage.review import renew_learned
from repertoire.app.wiring import open_embedder
from repertoire.boot.spool import put_off, rows_of, waiting
from repertoire.domain.event import ASKED, CHECKED, CLOSED, OFFERED, OUTCOME, SELECTED, Event, Moment
from repertoire.learning.log_compaction import LogBounds
from repertoire.mcp_server.writes import Writes
from repertoire.settings import Settings
from repertoire.store.connection import Connection
from repertoire.store.database import Store
from repertoire.store.migrations import MIGRATIONS, NEWEST, migrate

NOW = "2026-01-01T00:00:00Z"
_SOURCES, _FEW, _SMALL = 4, 2, 4  # few where they are small: the short form in the tests


class Work(Protocol):
    """Something that writes to the file of a home and may be done again."""

    name: str
    weight: float  # its share of the kills

    def prepare(self, home: Path) -> None:
        """Make what the work begins with."""

    def recall(self, home: Path) -> None:
        """Read into this process what `prepare` kept for those that do the work."""

    def run(self, home: Path) -> None:
        """Do it, or what is left of it."""


class Recalled:
    """The vectors that the real model gave once: hundreds of killed processes need not load it."""

    def __init__(self) -> None:
        self._real, _ = open_embedder(ROOT, Settings())
        if self._real is None:
            message = "the bundled model is missing"
            raise RuntimeError(message)
        self.model, self.query_encoder, self.dimensions = (
            self._real.model,
            self._real.query_encoder,
            self._real.dimensions,
        )
        self.loaded = True
        self.known: dict[tuple[str, str], Any] = {}

    def load(self) -> None:
        """Do nothing: the model is asked only for what is not known."""

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return self._embed("query", texts)

    def embed_question(self, text: str, parts: Sequence[str]) -> Any:
        return self._embed("query", [text, *parts])

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return self._embed("passage", texts)

    def _embed(self, kind: str, texts: Sequence[str]) -> Any:
        real = self._real.embed_queries if kind == "query" else self._real.embed_passages  # type: ignore[union-attr]
        new = [text for text in dict.fromkeys(texts) if (kind, text) not in self.known]
        for text in new:  # one by one: what a text comes to must not depend on what it is embedded with
            self.known[kind, text] = real([text])[0]
        return np.stack([self.known[kind, text] for text in texts])


class _Home:
    """What works share: a machine where Claude Code was never used, sources beside the home, recalled vectors."""

    weight = 1.0

    def __init__(self) -> None:
        self.embedder = Recalled()

    def recall(self, home: Path) -> None:
        self.embedder.known = pickle.loads((home / "vectors").read_bytes())

    def keep_vectors(self, home: Path) -> None:
        (home / "vectors").write_bytes(pickle.dumps(self.embedder.known))

    def settle_in(self, home: Path) -> Path:
        place = home.parent
        os.environ.update(HOME=str(place), CLAUDE_PROJECT_DIR=str(place / "project"), REPERTOIRE_HOME=str(home))
        os.environ.pop("CLAUDE_CONFIG_DIR", None)
        return place / "sources"


class Ingest(_Home):
    """Reads sources one after the other and gives their components vectors; `changed`: over an earlier state."""

    def __init__(self, size: int, *, changed: bool) -> None:
        super().__init__()
        self.name = "ingest of what changed" if changed else "first ingest"
        self._size, self._changed = size, changed
        self._sources = _FEW if size < _SMALL else _SOURCES

    def prepare(self, home: Path) -> None:
        sources = self.settle_in(home)
        for number in range(self._sources):
            write_source(sources / f"kit{number}", number, self._size, changed=False)
        self.run(home)  # gives the vectors too
        if self._changed:
            for number in range(self._sources):
                write_source(sources / f"kit{number}", number, self._size, changed=True)
            database = (home / "repertoire.db").read_bytes()
            self.run(home)
            (home / "repertoire.db").write_bytes(database)
        else:
            begin_anew(home)
        self.keep_vectors(home)

    def run(self, home: Path) -> None:
        sources = self.settle_in(home)
        with Store.open(home / "repertoire.db") as store:
            for folder in sorted(sources.iterdir()):
                ingest(store, home, str(folder), settings=Settings())
            embed_pending(store, self.embedder)


class Learning(_Home):
    """Records sessions of prompts, offers, selections and what came of them; rebuilds what use teaches in between."""

    name, weight = "learning", 1.5
    _rebuilt_every = 5

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def prepare(self, home: Path) -> None:
        sources = self.settle_in(home)
        write_source(sources / "kit0", 0, self._size, changed=False)
        with Store.open(home / "repertoire.db") as store:
            ingest(store, home, str(sources / "kit0"), settings=Settings())
            embed_pending(store, self.embedder)
        database = (home / "repertoire.db").read_bytes()
        self.run(home)
        (home / "repertoire.db").write_bytes(database)
        self.keep_vectors(home)

    def run(self, home: Path) -> None:
        self.settle_in(home)
        with Store.open(home / "repertoire.db") as store:
            components = sorted(row.id for row in store.graph.summaries())
            done = {event.request for event in store.events.recent(kinds=(ASKED,), limit=100_000)}
            spooled = {row.get("request") for file in waiting(home) for row in rows_of(file)}
            writes = Writes({"REPERTOIRE_HOME": str(home)}, started=now())
            for number, (request, batches) in enumerate(self._requests(components), 1):
                if request.key not in done:
                    for events, lesson in batches:
                        if request.key not in spooled:  # a run that was killed left them there
                            record_events(store, events)
                        writes.drain((lesson,) if lesson is not None else ())
                if number % self._rebuilt_every == 0:
                    rebuild(store)
            rebuild(store)
            writes.close()

    def _requests(self, components: list[str]) -> Iterator[tuple[AskedPrompt, list[tuple[list[Event], Lesson | None]]]]:
        draw = random.Random(7)
        for number in range(self._size * 4):
            moment = Moment(NOW, f"session {number // 3}", "/project")
            topic = draw.randrange(len(TOPICS))
            text = f"{TOPICS[topic][1]}, but {draw.choice(WORDS)} it first"
            request = AskedPrompt(f"request:{number:032}", text)
            shown = draw.sample(components, 3)
            chosen = shown[0] if draw.random() < 0.7 else components[topic % len(components)]

            def event(kind: str, node: str = "", *, at: Moment = moment, key: str = request.key, **data: Any) -> Event:
                return Event(at.at, kind, at.session, at.project, key, node, data)

            offers = [event(OFFERED, node, rank=rank, name=node, where="prompt") for rank, node in enumerate(shown, 1)]
            vector = self.embedder.embed_queries([text])[0]
            used = Lesson(request, chosen, moment, vector, self.embedder.query_encoder)
            # One transaction a prompt: what was done is told from what is left by the prompts in the log.
            followed = [event(SELECTED, chosen), event(SELECTED, components[(topic + 1) % len(components)])]
            followed.append(event(CHECKED) if number % 3 else event(OUTCOME, chosen, outcome="failed"))
            yield request, [([event(ASKED, prompt=text), *offers, *followed, event(CLOSED)], used)]


def begin_anew(home: Path) -> None:
    """Delete the database with its backup: alone it would be mended."""
    for file in home.glob("repertoire.db*"):
        file.unlink()


def rebuild(store: Store) -> None:
    """Make anew what use teaches, as a refresh does."""
    note_installs(store, Settings())
    renew_learned(store)
    renew_patterns(store)


class Traces(_Home):
    """Tells traces and confirms them, votes on each, amends one, refuses one, and imports a file of others."""

    name = "traces"

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def prepare(self, home: Path) -> None:
        self.run(home)
        begin_anew(home)
        self.keep_vectors(home)

    def run(self, home: Path) -> None:
        self.settle_in(home)
        with Store.open(home / "repertoire.db") as store:
            kept = TraceCache(store)
            keys = [self._tell(kept, told, f"token {number}") for number, told in enumerate(self._told("told"))]
            change = {"solution": "Done otherwise, and for good."}
            self._tell(kept, amended(store, keys[0], change), "amending")
            refused = draft(store, TraceFields("Refused", "It failed.", "No."), moment=_moment(), token="refused")
            discard(store, refused.token)
            lines = [
                json.dumps({"title": told.title, "context": told.context, "solution": told.solution})
                for told in self._told("imported")
            ]
            import_lines(store, lines, moment=_moment())
            embed_traces(store, self.embedder)

    def _told(self, how: str) -> Iterator[TraceFields]:
        draw = random.Random(how)
        for number in range(self._size * 2):
            word = draw.choice(WORDS)
            yield TraceFields(
                f"{how}: the {word} step fails, number {number}",
                f"It printed\nValueError: no {word} in the plan of {draw.choice(TOPICS)[0]}",
                f"Give it a {draw.choice(WORDS)} first.",
                tags=(word,),
                uses=("capability:pdf",),
            )

    def _tell(self, kept: TraceCache, told: TraceFields, token: str) -> str:
        shown = draft(kept.store, told, moment=_moment(), token=token)
        if not shown.known:
            confirm(kept.store, shown.token, now=now())
        if shown.trace.key not in {cast.trace for cast in kept.store.traces.votes()}:
            vote(kept, NewVote(shown.trace.key, up=True, note=token), moment=_moment())
        return shown.trace.key


def _moment() -> Moment:
    return Moment(now(), "session", "/srv/acme/project")


class Condensing:
    """Takes in what waits beside the file, then counts more and more of the log instead of keeping it."""

    name, weight = "condensing the log", 0.5

    def __init__(self, size: int) -> None:
        self._size = size

    def prepare(self, home: Path) -> None:
        draw = random.Random(5)
        with Store.open(home / "repertoire.db") as store:
            for number in range(self._size * 10):
                place = {"session": f"session {number}", "project": f"/project {number % 2}"}
                at = f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}T00:00:00Z"
                log = [Event(at, ASKED, **place, request=f"request:{number}", data={"prompt": "x" * 300})]
                nodes = [f"node {draw.randrange(9)}" for _ in range(3)]
                log += [Event(at, OFFERED, **place, node=node, data={"rank": 1, "type": "skill"}) for node in nodes]
                log += [Event(at, SELECTED, **place, node=nodes[0])] * (number % 4 == 0)
                store.events.append([*log, Event(at, CLOSED, **place)])
        for number in range(5):
            row = {"at": NOW, "kind": OFFERED, "session": f"late {number}", "node": "node 1", "data": {"rank": 2}}
            put_off(home, [row])

    def recall(self, home: Path) -> None:
        """Nothing was kept."""

    def run(self, home: Path) -> None:
        with Store.open(home / "repertoire.db") as store:
            take_in(store)
            for newest in range(self._size * 40, self._size, -self._size * 4):
                compact_when_due(
                    store, bounds=LogBounds(newest=newest, selected=newest // 4, counts=self._size), every=0
                )


class Migration:
    """Brings a file of an older schema up to date; of schema 0 there is no file."""

    def __init__(self, schema: int, size: int) -> None:
        self.name = f"migration from schema {schema}" if schema else "making the file"
        self.weight = 1.5 / NEWEST
        self._schema, self._size = schema, size

    def prepare(self, home: Path) -> None:
        if not self._schema:
            return
        connection = Connection(home / "repertoire.db", known_schema=NEWEST)
        migrate(connection, MIGRATIONS[: self._schema])
        fill(connection, 20 * self._size)
        connection.close()

    def recall(self, home: Path) -> None:
        """Nothing was kept."""

    def run(self, home: Path) -> None:
        Store.open(home / "repertoire.db").close()


def fill(connection: Connection, size: int) -> None:
    """Write what any schema holds, in the columns of the first."""
    draw = random.Random(11)
    text = ("description", "body", "code", "examples", "front_matter", "allowed_tools", "repository", "path")
    more = ("plugin", "marketplace", "licence", "content_hash", "first_commit", "last_commit", "install")
    columns = ("node_id", "type", *text, *more, "installed", "popularity", "version")
    with connection.transaction():
        connection.execute(
            "INSERT INTO source(id, key, kind, location, repository, commit_sha, added_at, ingested_at) "
            "VALUES (1, 'folder:/kit', 'folder', '/kit', 'acme/kit', '', ?, ?)",
            (NOW, NOW),
        )
        for number in range(1, size + 1):
            key = f"folder:/kit:skills/{number}/SKILL.md"
            values = [number, "skill", *(f"{name} {number}" for name in text), *(["[]"] * len(more)), 0, 0.5, 1]
            body = " ".join(draw.choices(WORDS, k=200))
            values[columns.index("body")], values[columns.index("content_hash")] = body, f"hash {number}"
            connection.execute("INSERT INTO file VALUES (1, ?, ?, '')", (key, f"hash {number}"))
            node = (number, key, "component", f"name {number}", 1, key, "{}", NOW, NOW)
            connection.execute(f"INSERT INTO node VALUES ({', '.join('?' * len(node))})", node)
            marks = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO component({', '.join(columns)}) VALUES ({marks})", values)
            connection.execute(
                "INSERT INTO component_text(rowid, name, description, body) VALUES (?, ?, ?, ?)",
                (number, f"name {number}", f"description {number}", body),
            )
            event = (NOW, "offered", f"session {number % 9}", "/project", "", key, '{"rank": 1}')
            connection.execute(
                "INSERT INTO event(at, kind, session, project, request, node, data) VALUES (?, ?, ?, ?, ?, ?, ?)", event
            )
        for number in range(2, size + 1):
            edge = (number, number - 1, "mentions", 0.5, "its words", 1, "")
            connection.execute(
                "INSERT INTO edge(source, target, relation, weight, evidence, source_id, file) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                edge,
            )
        silenced = {"target": "folder:/kit:skills/1/SKILL.md", "scope": "component", "at": NOW, "how": "muted"}
        names = [row[1] for row in connection.rows("PRAGMA table_info(mute)")]
        mute = [silenced.get(name, "") for name in names]
        connection.execute(f"INSERT INTO mute VALUES ({', '.join('?' * len(mute))})", mute)
        connection.execute("INSERT INTO correction VALUES ('folder:/kit:skills/2/SKILL.md', '[]', ?)", (NOW,))


def works(size: int) -> list[Work]:
    """Return everything that is killed."""
    return [
        Ingest(size, changed=False),
        Ingest(size, changed=True),
        Learning(size),
        Traces(size),
        Condensing(size),
        *(Migration(schema, size) for schema in range(NEWEST)),
    ]

"""Every trace gets vectors of a new model while searches read the old ones, and searches read the new ones after it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import psycopg
import pytest

from commons.conftest import Server, until
from commons.test_server import ALL, DOCKER, VITE, contribute, embedded, found
from repertoire.commons import backfill, jobs
from repertoire.commons.database import Database
from repertoire.commons.filling import Filler
from repertoire.commons.models import Models
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.weights import BUNDLED, bundled, record

NEW = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
OLD_MODEL, NEW_MODEL = bundled().model, replace(bundled(), name=NEW).model
MEANT = "javascript bundler exhausts ram"  # no word of it is in VITE
MANY = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two models: the bundled one, and one that reads each token as another token."""
    home = tmp_path_factory.mktemp("two-models")
    folder = home / "models" / "other"
    shutil.copytree(BUNDLED, folder)
    (folder / "model.onnx").rename(folder / "model_optimized.onnx")
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    words = sorted((word for word, number in vocabulary.items() if number > 2_000), key=vocabulary.__getitem__)
    numbers = [vocabulary[word] for word in words]
    vocabulary.update(zip(words, reversed(numbers), strict=True))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    weights = replace(bundled(), name=NEW, folder=folder, files=("model_optimized.onnx",), questions="")
    record(weights, cache=home / "models")
    return home


@pytest.fixture
def run(start: Callable[..., Server], home: Path) -> Iterator[Callable[..., Server]]:
    """Start a part of a commons in the home with two models, and end it with the test."""
    begun: list[Server] = []

    def begin(database: str, command: str = "serve", **variables: str) -> Server:
        begun.append(start(database, command, **{"REPERTOIRE_HOME": str(home), **variables}))
        return begun[-1]

    yield begin
    for server in begun:
        server.kill()


def filling(server: Server, *options: str) -> subprocess.Popen[str]:
    """Start `repertoire commons backfill` with the new model."""
    line = [sys.executable, "-m", "repertoire", "commons", "backfill", *options]
    environment = {**server.environment, "DATABASE_URL": server.database, "REPERTOIRE_MODEL": NEW}
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    out, errors = process.communicate(timeout=90)
    assert process.returncode == 0, errors
    return out


def interrupt(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=90)  # as `ended`: other tests may keep all processors busy
    assert process.returncode == 130


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def asked(client: httpx.Client, **question: Any) -> dict[str, Any]:
    answer = client.get("/traces/search", params=question)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def count(database: str, condition: str) -> int:
    with psycopg.connect(database) as connection:
        row = connection.execute(f"SELECT count(*) FROM trace WHERE {condition}").fetchone()  # type: ignore[arg-type]
    return int(row[0]) if row else 0


def state(database: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT vector_columns, first_model, second_model, filling FROM community").fetchall()


@contextmanager
def opened(address: str) -> Iterator[Database]:
    database = Database(address)
    database.open()
    try:
        yield database
    finally:
        database.close()


def test_searches_read_the_old_vectors_until_all_new_ones_are_there_and_then_those(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill"))
    worker = run(server.database, "work")
    with server.client(server.key("team", "ann")) as ann:
        vite, docker = contribute(ann, VITE), contribute(ann, DOCKER)
        until(lambda: embedded(ann, vite) and embedded(ann, docker))
        before = asked(ann, q=MEANT)
        assert before["hits"][0]["trace"]["id"] == vite
        worker.stop()

        command = filling(server)
        until(lambda: state(server.database) == [(1, OLD_MODEL, NEW_MODEL, True)])
        interrupt(command)
        with opened(server.database) as database:  # one of two traces has new vectors
            Filler(database, Models(Marked(NEW_MODEL, poison="compose"))).fill(lambda: False)
        assert count(server.database, "second_problem IS NOT NULL") == 1
        assert asked(ann, q=MEANT) == before
        shown = f"1 of 2 traces have vectors of {NEW_MODEL}; searches read {OLD_MODEL}"
        assert shown in ended(filling(server, "--show"))
        assert f"searches read vectors of {OLD_MODEL}" in ended(filling(server, "--stop"))
        assert state(server.database) == [(1, OLD_MODEL, "", False)]
        added = contribute(ann, {**VITE, "title": "webpack dies"})

        command = filling(server)
        assert f"1 of 3 traces have vectors of {NEW_MODEL}" in first_line(command)
        run(server.database, "work", REPERTOIRE_MODEL=NEW)
        told = ended(command)
        assert "no worker runs" in told
        assert f"team: searches read vectors of {NEW_MODEL}; vectors of {OLD_MODEL} are kept" in told.splitlines()[-1]
        until(lambda: embedded(ann, added))
        until(lambda: count(server.database, "problem IS NOT NULL AND second_problem IS NOT NULL") == 3)
        after = asked(ann, q=MEANT)
        assert after["degraded"] == []
        assert [hit["score"] for hit in after["hits"]] != [hit["score"] for hit in before["hits"]]

        told = ended(filling(server, "--clear"))
        assert "of 3 traces" in told
        assert count(server.database, "problem IS NULL AND solution_vector IS NULL AND model = ''") == 3
        assert asked(ann, q=MEANT) == after
        assert embedded(ann, vite)


def test_a_killed_worker_is_followed_by_one_that_goes_on_where_it_was(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-killed"))
    worker = run(server.database, "work")
    with server.client(server.key("team", "ann")) as ann:
        for number in range(MANY):
            contribute(ann, {**VITE, "title": f"problem {number}", "context": f"It fails as number {number}. " * 60})
    until(lambda: count(server.database, "problem IS NULL") == 0)
    worker.kill()
    with opened(server.database) as database:
        backfill.start(database, NEW_MODEL)
    worker = run(server.database, "work")
    until(lambda: count(server.database, "second_problem IS NOT NULL") > 0)
    worker.kill()
    done = count(server.database, "second_problem IS NOT NULL")
    assert 0 < done < MANY, "the worker was too fast to be killed at its work"
    with psycopg.connect(server.database) as connection:
        connection.execute("UPDATE trace SET title = title || ' marked' WHERE second_problem IS NOT NULL")
        versions = dict(connection.execute("SELECT number, xmin::text FROM trace WHERE second_problem IS NOT NULL"))

    run(server.database, "work")
    until(lambda: state(server.database) == [(2, OLD_MODEL, NEW_MODEL, False)])
    assert count(server.database, "second_problem IS NULL OR second_solution IS NULL") == 0
    with psycopg.connect(server.database) as connection:
        kept = dict(connection.execute("SELECT number, xmin::text FROM trace WHERE title LIKE '% marked'"))
    assert kept == versions  # nothing was embedded twice


def test_a_server_without_the_model_reads_the_kept_vectors_of_its_own_and_without_any_it_says_so(
    postgres: Callable[[str], str], run: Callable[..., Server], tmp_path: Path, home: Path
):
    server = run(postgres("backfill-lacking"))
    run(server.database, "work")
    key = server.key("team", "ann")
    pepper = str(home / "commons" / "pepper")
    bare = run(server.database, REPERTOIRE_HOME=str(tmp_path), REPERTOIRE_COMMONS_PEPPER_FILE=pepper)
    with server.client(key) as ann, bare.client(key) as lacking:
        vite = contribute(ann, VITE)
        until(lambda: embedded(ann, vite))
        before = asked(lacking, q=MEANT)
        ended(filling(server))
        assert asked(lacking, q=MEANT) == before
        ended(filling(server, "--clear"))
        answer = asked(lacking, q=MEANT)
        assert answer["hits"] == []
        assert answer["degraded"] == [
            f"this server lacks {NEW_MODEL}, which made the vectors: found by words and errors alone"
        ]
        assert found(lacking, q="vite killed") == [vite]
        assert found(ann, q=MEANT) == [vite]


def test_a_stopped_backfill_goes_on_with_what_it_had_and_another_model_takes_nothing_over(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-stopped"))
    with server.client(server.key("team", "ann")) as ann, server.client(server.key("other", "eve")) as eve:
        contribute(ann, VITE), contribute(ann, DOCKER), contribute(eve, VITE)
    with opened(server.database) as database:
        embed_all(database, "old")
        backfill.start(database, "new")
        fill(database, Marked("new", poison="compose"))
        assert [(one.done, one.total) for one in backfill.progress(database)] == [(1, 1), (1, 2)]
        backfill.stop(database)
        assert backfill.clear(database) == 2  # the new ones of `team`, the replaced ones of `other`

        backfill.start(database, "new")
        fill(database, Marked("new", poison="compose"))
        backfill.stop(database)
        fill(database, Marked("new"))
        assert count(server.database, "second_model = 'new'") == 2
        backfill.start(database, "newer")
        assert count(server.database, "second_model = 'new'") == 1
        backfill.start(database, "old")
        assert {one.community: one.held.filling for one in backfill.progress(database)} == {
            "team": False,
            "other": True,
        }


def test_what_a_worker_began_for_one_model_is_gone_when_another_one_is_started(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-changed"))
    with server.client(server.key("team", "ann")) as ann:
        contribute(ann, VITE)
    with opened(server.database) as database:
        embed_all(database, "old")
        changing = threading.Thread(target=lambda: backfill.start(database, "newer"))

        class Late(Marked):
            def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
                if not self.texts:
                    changing.start()
                    changing.join(1)
                return super().embed_passages(texts)

        backfill.start(database, "new")
        fill(database, Late("new"))
        changing.join(20)
        assert state(server.database) == [(1, "old", "newer", True)]
        assert count(server.database, "second_problem IS NOT NULL OR second_model <> ''") == 0


def test_the_way_back_to_kept_vectors_embeds_only_what_came_since(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-back"))
    with server.client(server.key("team", "ann")) as ann:
        contribute(ann, VITE), contribute(ann, DOCKER)
        with opened(server.database) as database:
            embed_all(database, "old")
            backfill.start(database, "new")
            fill(database, Marked("new"))
            assert state(server.database) == [(2, "old", "new", False)]
            contribute(ann, {**VITE, "title": "another"})
            embed_all(database, "new")
            backfill.start(database, "old")
            old = Marked("old")
            fill(database, old)
    assert old.texts == 2  # the two of one trace
    assert state(server.database) == [(1, "old", "new", False)]


def test_a_trace_that_an_older_worker_embedded_alone_gets_its_new_vectors_with_the_next_one(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-older"))
    with server.client(server.key("team", "ann")) as ann:
        contribute(ann, VITE)
        with opened(server.database) as database:
            embed_all(database, "old")
            backfill.start(database, "new")
            fill(database, Marked("new"))
            contribute(ann, DOCKER)
            with psycopg.connect(server.database) as connection:  # as workers did that knew no second columns
                connection.execute(
                    "UPDATE trace SET model = t.model, problem = t.problem, solution_vector = t.solution_vector "
                    "FROM trace t WHERE t.number < trace.number"
                )
            assert count(server.database, "second_problem IS NULL") == 1
            last = contribute(ann, {**VITE, "title": "another"})
            with pytest.raises(ModelUnavailable, match="new is not on this machine"):
                jobs.embed(database, Models(Marked("third")), "team", last)
            jobs.embed(database, Models(Marked("new")), "team", last)
    assert count(server.database, "second_problem IS NULL") == 0


def test_vectors_that_an_older_repertoire_mixed_in_one_column_are_never_compared_and_get_one_model(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-mixed"))
    with server.client(server.key("team", "ann")) as ann:
        vite, docker = contribute(ann, VITE), contribute(ann, DOCKER)
        with opened(server.database) as database:
            embed_all(database, OLD_MODEL)
            with psycopg.connect(server.database) as connection:
                connection.execute("UPDATE trace SET model = 'other' WHERE key = %s", (docker,))
                connection.execute("UPDATE community SET first_model = ''")
            assert found(ann, q=MEANT) == [vite]  # DOCKER has vectors, of another model
            backfill.start(database, OLD_MODEL)
            fill(database, Marked(OLD_MODEL))
            assert state(server.database) == [(2, OLD_MODEL, OLD_MODEL, False)]
            assert set(found(ann, q=MEANT)) == {vite, docker}


def test_a_trace_on_which_the_new_model_fails_delays_the_switch_until_it_is_removed(
    postgres: Callable[[str], str], run: Callable[..., Server]
):
    server = run(postgres("backfill-poisoned"))
    with server.client(server.key("team", "ann", *ALL)) as ann:
        contribute(ann, VITE)
        bad = contribute(ann, {**VITE, "title": "poison"})
        contribute(ann, DOCKER)
        with opened(server.database) as database:
            embed_all(database, "old")
            backfill.start(database, "new")
            filler = Filler(database, Models(Marked("new", poison="poison")))
            filler.fill(lambda: False)
            assert count(server.database, "second_problem IS NULL") == 1
            assert state(server.database) == [(1, "old", "new", True)]
            assert ann.delete(f"/moderation/traces/{bad}").status_code == 204
            filler.fill(lambda: False)
    assert state(server.database) == [(2, "old", "new", False)]


def test_a_model_of_other_dimensions_is_refused():
    with pytest.raises(ModelUnavailable, match="768 dimensions"):
        Models(Marked("wide", dimensions=768)).configured()
    assert Models(Marked("wide", dimensions=768)).named("wide") is None


def embed_all(database: Database, model: str) -> None:
    """Do the jobs of all traces."""
    for community in database.communities():
        with database.tenant(community) as connection:
            keys = [key for (key,) in connection.execute("SELECT key FROM trace ORDER BY number")]
        for key in keys:
            jobs.embed(database, Models(Marked(model)), community, key)


def fill(database: Database, embedder: Marked) -> None:
    Filler(database, Models(embedder)).fill(lambda: False)


class MarkedError(Exception):
    """Stands for a fault of the model on one text."""


class Marked:
    """An embedder with the name of a model, that counts texts and fails on those with a word."""

    def __init__(self, model: str, *, dimensions: int = 384, poison: str = "\0") -> None:
        self.model, self.dimensions, self.texts = model, dimensions, 0
        self._poison = poison

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if any(self._poison in text for text in texts):
            raise MarkedError
        self.texts += len(texts)
        return np.ones((len(texts), self.dimensions), dtype=np.float32)

"""The same traces, votes and questions in a home and in a commons give the same answers, trust and reputation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from commons.conftest import Server, until
from commons.test_server import ALL
from repertoire.app.clock import now, today
from repertoire.app.kernel import Repertoire
from repertoire.app.traces.embed import embed_traces
from repertoire.app.traces.fields import TraceFields, trace_of
from repertoire.app.traces.search import TraceQuery, search_traces
from repertoire.app.traces.voting import NewVote, vote
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.domain.trace import ACTIVE, ME

AUTHORS = ("ann", "ben", "cem", "mia")  # mia is the person of the home; in the commons, a member who is vouched for
SUBJECTS = (
    ("vite", "vite build is killed", "The bundler dies with exit code 137 in CI.", "Raise --max-old-space-size."),
    (
        "pydantic",
        "BaseSettings cannot be imported",
        "PydanticImportError: `BaseSettings` has moved",
        "Install it apart.",
    ),
    ("docker", "compose cannot reach postgres", "connection refused on port 5432", "Wait for the health check."),
    ("pytest", "fixtures are not found in a package", "fixture 'client' not found", "Move conftest.py up one folder."),
    ("rust", "the borrow checker refuses a loop", "error[E0502]: cannot borrow `cache` as mutable", "Clone the keys."),
    ("kubernetes", "pods restart for ever", "CrashLoopBackOff with OOMKilled", "Raise the memory limit of the pod."),
    ("django", "migrations conflict after a merge", "Conflicting migrations detected", "Run makemigrations --merge."),
    (
        "react",
        "too many re-renders",
        "Error: Too many re-renders. React limits the number",
        "Call the setter in an effect.",
    ),
)
VARIANTS = ("", " on Windows", " since the upgrade", " behind a proxy")
QUESTIONS: tuple[dict[str, Any], ...] = (
    {"q": "build killed in CI with exit code 137"},
    {"q": "javascript bundler exhausts ram"},
    {"q": "cannot connect to the database container"},
    {"q": "", "error": "pydantic.errors.PydanticImportError: `BaseSettings` has moved"},
    {"q": "fixture not found", "tags": "pytest"},
    {"q": "pods run out of memory on Windows"},
    {"q": "rust borrow", "error": "error[E0502]: cannot borrow `cache` as mutable"},
    {"q": "merge conflicts in migrations behind a proxy"},
    {"q": "state setter renders endlessly"},
    {"q": "how do I bake bread"},
    {"q": "upgrade", "limit": 20},
    {"q": "memory", "environment": ["language=python 3.12", "os=windows 11"], "limit": 12},
)
NEAR = 0.01  # of scores that count as a tie: a commons keeps vectors in half precision


@dataclass
class Both:
    """A home and a commons that were told the same."""

    home: Repertoire
    commons: httpx.Client


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    keys = {name: server.key("congruent", name, *ALL, vouched=name == "mia") for name in AUTHORS}
    clients = {name: server.client(key) for name, key in keys.items()}
    with open_repertoire(Path(tmp_path_factory.mktemp("home")), environment={}) as home:
        made = [_contribute(home, clients, number) for number in range(len(SUBJECTS) * len(VARIANTS))]
        for number, key in enumerate(made):
            for voter in (AUTHORS[(number // 3 + turn) % 4] for turn in range(1 + number % 4)):
                _vote(home, clients, key, voter, up=(number + len(voter) * AUTHORS.index(voter)) % 3 != 0)
        for number, key in enumerate(made):
            _vote(home, clients, key, "mia", up=number % 5 != 0)
        _vote(home, clients, made[0], "ben", up=False)  # ben thinks better of it
        _vote(home, clients, made[0], "ben", up=True)
        _vote(home, clients, made[0], "ben", up=True)
        assert home.embedder is not None
        embed_traces(home.store, home.embedder)
        ann = clients["ann"]
        until(lambda: all(ann.get(f"/traces/{key}").json()["embedded"] for key in made))
        yield Both(home, ann)
    for client in clients.values():
        client.close()


def _contribute(home: Repertoire, clients: dict[str, httpx.Client], number: int) -> str:
    tag, title, context, solution = SUBJECTS[number % len(SUBJECTS)]
    variant, author = VARIANTS[number // len(SUBJECTS)], AUTHORS[number % len(AUTHORS)]
    told = TraceFields(
        f"{title}{variant}",
        f"{context}{variant}, seen {number} times.",
        f"{solution} Case {number}.",
        (tag, "windows") if "Windows" in variant else (tag,),
        {"language": "python 3.12"} if number % 2 else {"os": "linux"},
        author=ME if author == "mia" else author,
    )
    trace = trace_of(told, project="", session="", now=now())
    with home.store.transaction():
        home.store.traces.put_many([replace(trace, status=ACTIVE)], now=now())
    names = ("title", "context", "solution", "tags", "environment")
    body = {name: list(told.tags) if name == "tags" else getattr(told, name) for name in names}
    answer = clients[author].post("/traces", json=body)
    assert answer.status_code == 202, answer.text
    assert answer.json()["id"] == trace.key
    return trace.key


def _vote(home: Repertoire, clients: dict[str, httpx.Client], key: str, voter: str, *, up: bool) -> None:
    said = NewVote(key, up, "" if up else "outdated")
    vote(home.traces, said, moment=Moment(now(), "", ""), voter=ME if voter == "mia" else voter)
    body = {"vote": "up" if up else "down", "tag": said.tag}
    assert clients[voter].post(f"/traces/{key}/votes", json=body).status_code == 200


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked["q"] or asked["error"])
def test_a_question_has_the_same_answer_in_a_home_and_in_a_commons(both: Both, asked: dict[str, Any]):
    wanted = TraceQuery(
        asked["q"],
        asked.get("error", ""),
        tuple(filter(None, asked.get("tags", "").split(","))),
        dict(pair.split("=") for pair in asked.get("environment", ())),
        asked.get("limit", 5),
    )
    here = search_traces(both.home.traces, wanted, embedder=both.home.embedder)
    answer = both.commons.get("/traces/search", params=asked)
    assert answer.status_code == 200, answer.text
    there = answer.json()
    assert there["fits"] == here.fits
    assert there["confidence"] == pytest.approx(here.confidence, abs=NEAR)
    assert [hit["score"] for hit in there["hits"]] == pytest.approx([hit.score for hit in here.hits], abs=NEAR)
    scores = {hit.trace.key: hit.score for hit in here.hits}
    worst = min(scores.values(), default=0.0)
    for hit, same in zip(there["hits"], here.hits, strict=True):  # within a tie the order is free
        assert scores.get(hit["trace"]["id"], worst) == pytest.approx(same.score, abs=NEAR)
        assert hit["trace"]["id"] in scores or same.score < worst + NEAR


def test_trust_and_reputation_are_equal_to_the_last_digit(both: Both):
    opinion = both.home.traces.votes(today())
    for trace in both.home.store.traces.all():
        shown = both.commons.get(f"/traces/{trace.key}").json()["trust"]
        trust = both.home.traces.trust(trace, today())
        assert (shown["bound"], shown["high"]) == (trust.bound, trust.high)
        assert (shown["ups"], shown["votes"], shown["complaints"]) == (trust.ups, trust.votes, list(trust.complaints))
    for author in AUTHORS:
        weights = both.commons.get(f"/users/{author}/reputation").json()["weights"]
        name = ME if author == "mia" else author
        assert weights == {tag: weight for (whose, tag), weight in opinion.reputation.weights.items() if whose == name}
    assert len(set(opinion.reputation.weights.values())) > 3

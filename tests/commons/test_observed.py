"""A server says how it is: metrics, health, readiness, a log; and it ends what runs before it stops."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from commons.conftest import Server, answers, postgres_in, until
from commons.test_mcp import INITIALIZE, call
from commons.test_server import ALL, SECRET, VITE

TOKEN = "prometheus-reads-this"


@pytest.fixture(scope="module")
def observed(postgres: Callable[[str], str], start: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory):
    file = tmp_path_factory.mktemp("token") / "token"
    file.write_text(f"{TOKEN}\n")
    return start(postgres("observed"), REPERTOIRE_COMMONS_METRICS_TOKEN_FILE=str(file))


def metrics(server: Server) -> dict[str, float]:
    answer = httpx.get(f"{server.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    lines = [line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def counted(server: Server, method: str, route: str, status: int) -> float:
    name = "repertoire_commons_requests_total"
    return metrics(server).get(f'{name}{{method="{method}",route="{route}",status="{status}"}}', 0.0)


def lines(server: Server) -> list[dict[str, object]]:
    return [json.loads(line) for line in server.log.read_text().splitlines()]


def test_requests_are_counted_by_route_template_and_status(observed: Server):
    with observed.client(observed.key("team", "ann")) as ann:
        before = counted(observed, "GET", "/api/v1/traces/{trace}", 404)
        for number in range(3):
            ann.get(f"/traces/nothing-{number}")
        ann.request("BREW", "/tags")
        ann.get("/there/is/no/route")
    assert counted(observed, "GET", "/api/v1/traces/{trace}", 404) == before + 3
    assert counted(observed, "GET", "none", 404) == 1
    found = metrics(observed)
    assert found['repertoire_commons_request_seconds_count{method="GET",route="/api/v1/traces/{trace}"}'] >= 3
    assert found["repertoire_commons_requests_running"] == 1  # this one
    assert found['repertoire_commons_pool_connections{state="open"}'] >= 1
    assert found["repertoire_commons_database_up"] == 1


def test_waiting_and_dead_jobs_are_counted_over_all_communities(observed: Server):
    assert metrics(observed)['repertoire_commons_jobs{state="dead"}'] == 0
    for community in ("one", "two"):
        with observed.client(observed.key(community, "ann")) as ann:
            assert ann.post("/traces", json=VITE).status_code == 202
    waiting = metrics(observed)['repertoire_commons_jobs{state="pending"}']
    with psycopg.connect(observed.database) as connection:
        connection.execute("UPDATE procrastinate_jobs SET status = 'failed' WHERE args->>'community' = 'two'")
    found = metrics(observed)
    assert found['repertoire_commons_jobs{state="pending"}'] == waiting - 1
    assert found['repertoire_commons_jobs{state="dead"}'] == 1


def test_metrics_are_for_the_operator_alone_and_name_no_key_trace_or_community(observed: Server, server: Server):
    admin = observed.key("secretive", "ann", *ALL)
    with observed.client(admin) as ann:
        key = ann.post("/traces", json={**VITE, "title": "a title of ours"}).json()["id"]
        ann.get(f"/traces/{key}")
        ann.get(f"/users/ann/reputation?q={key}")
    for sent in ("none", admin, "x" * 20):
        assert httpx.get(f"{observed.url}/metrics", headers={"Authorization": f"Bearer {sent}"}).status_code == 401
    # a server without a token shows its metrics to nobody
    assert httpx.get(f"{server.url}/metrics", headers={"Authorization": "Bearer"}).status_code == 401
    told = " ".join(metrics(observed))
    for word in ("secretive", "ann", key.split(":")[1], admin.split("_")[2], "title"):
        assert word not in told


def test_a_log_has_one_object_for_each_request_with_its_id_and_no_contents(observed: Server):
    key = observed.key("logged", "ann")
    with observed.client(key) as ann:
        refused = ann.post("/traces", json={**VITE, "solution": SECRET}, headers={"X-Request-ID": "from-the-proxy-1"})
        asked = ann.get("/traces/search", params={"q": "a question of ours"})
        odd = ann.get("/tags", headers={"X-Request-ID": 'no id", "status": 1'})
    assert refused.headers["x-request-id"] == "from-the-proxy-1"
    assert odd.headers["x-request-id"].isalnum()
    by_id = {line["id"]: line for line in lines(observed) if line["message"] == "request"}
    line = by_id["from-the-proxy-1"]
    assert (line["method"], line["route"], line["status"]) == ("POST", "/api/v1/traces", 422)
    assert line["key"] == key.split("_")[2]
    assert line["ms"] > 0
    assert by_id[asked.headers["x-request-id"]]["route"] == "/api/v1/traces/search"
    text = observed.log.read_text()
    for word in (SECRET, "a question of ours", VITE["context"], key, key.split("_")[3], "logged"):
        assert word not in text


def test_a_call_of_a_tool_and_the_call_of_the_api_that_it_makes_are_logged_under_one_id(observed: Server):
    key = observed.key("both", "ann")
    assert not call(observed, key, "list_tags").is_error
    api = [line for line in lines(observed) if line.get("route") == "/api/v1/tags"][-1]
    doors = [line for line in lines(observed) if line.get("id") == api["id"]]
    assert [line["route"] for line in doors] == ["/api/v1/tags", "/mcp"]
    assert {line["key"] for line in doors} == {key.split("_")[2]}


def test_every_answer_has_a_request_id_also_an_error(observed: Server):
    for path in ("/healthz", "/nowhere", "/api/v1/tags", "/metrics"):
        assert len(httpx.get(f"{observed.url}{path}").headers["x-request-id"]) == 16


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """A PostgreSQL of a test's own, which it may stop and start again."""
    folder = Path(tempfile.mkdtemp(prefix="repertoire-own-"))  # PostgreSQL's user must get through to it
    found = postgres_in(folder / "postgres")
    yield found
    found.cleanup()
    shutil.rmtree(folder)


def test_a_server_is_ready_again_when_postgresql_comes_back(start: Callable[..., Server], own_postgres: Any):
    server = start(own_postgres.get_uri())

    def ready() -> int:
        return httpx.get(f"{server.url}/readyz").status_code

    with server.client(server.key("team", "ann")) as ann:
        key = ann.post("/traces", json=VITE).json()["id"]
        threads = [threading.Thread(target=lambda: ann.get("/tags")) for _ in range(8)]  # so that the pool has grown
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os.kill(own_postgres.get_pid(), signal.SIGQUIT)  # it ends at once, as in a crash
        until(lambda: ready() == 503)
        assert httpx.get(f"{server.url}/readyz").json() == {"status": "no database"}
        assert httpx.get(f"{server.url}/healthz").json() == {"status": "ok"}
        away = ann.get("/tags")
        assert away.status_code == 503
        assert int(away.headers["retry-after"]) > 0
        assert ann.post("/traces", json={**VITE, "title": "another"}).status_code == 503
        assert httpx.post(f"{server.url}/mcp", json=INITIALIZE, headers=ann.headers).status_code == 503
        own_postgres.ensure_postgres_running()
        until(lambda: ready() == 200)
        assert ann.get(f"/traces/{key}").status_code == 200
        assert ann.post("/traces", json={**VITE, "title": "another"}).status_code == 202


def test_a_server_is_not_ready_on_a_schema_that_lacks_a_step(
    start: Callable[..., Server], postgres: Callable[[str], str]
):
    server = start(postgres("step"))
    with psycopg.connect(server.database) as connection:
        connection.execute("DELETE FROM migration WHERE step = (SELECT max(step) FROM migration)")
    assert httpx.get(f"{server.url}/readyz").status_code == 503


def test_a_signal_to_stop_lets_what_runs_end_and_takes_nothing_new(
    start: Callable[..., Server], postgres: Callable[[str], str]
):
    server = start(postgres("grace"))
    answers_of: list[httpx.Response] = []
    with server.client(server.key("team", "ann")) as ann, psycopg.connect(server.database) as other:
        other.execute("SELECT * FROM community FOR UPDATE")  # a contribution waits for it
        sender = threading.Thread(target=lambda: answers_of.append(ann.post("/traces", json=VITE)))
        sender.start()
        until(lambda: waiting(server.database) == 1)
        server.process.send_signal(signal.SIGTERM)
        until(lambda: not answers(server.url))
        assert server.process.poll() is None
        other.commit()
        sender.join(20)
    assert [answer.status_code for answer in answers_of] == [202]
    assert server.process.wait(20) == 0
    with psycopg.connect(server.database) as connection:
        assert connection.execute("SELECT count(*) FROM trace").fetchone() == (1,)


def waiting(database: str) -> int:
    with psycopg.connect(database) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchone()
    return row[0] if row else 0

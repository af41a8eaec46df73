"""What fits the OpenAPI description is served as it says, what does not is refused, and nothing fails otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg

from commons.conftest import Server
from commons.test_server import ALL

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")
PROBLEMS = {"401", "403", "404", "409", "413", "422", "429"}


def test_schemathesis_finds_nothing_with_all_its_checks(
    postgres: Callable[[str], str], start: Callable[..., Server], tmp_path: Path
):
    server = start(postgres("openapi"))
    key = server.key("team", "ann", *ALL)
    line = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION), "run"),
        *(f"{server.url}/openapi.json", "--header", f"Authorization: Bearer {key}", "--checks", "all"),
        *("--max-examples", "15", "--seed", "1", "--generation-deterministic", "--no-color"),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert "Selected: 33/33" in done.stdout
    assert '"message": "fault"' not in server.log.read_text()
    with psycopg.connect(server.database) as connection:
        assert connection.execute("SELECT DISTINCT community FROM trace").fetchall() == [("team",)]


def test_every_route_of_the_api_describes_the_errors_that_it_may_answer_with(server: Server):
    described = httpx.get(f"{server.url}/openapi.json").json()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            if path.startswith("/api/v1"):
                assert set(operation["responses"]) >= PROBLEMS, (method, path)


def test_a_wrong_method_is_answered_with_those_of_the_path(server: Server):
    answer = httpx.put(f"{server.url}/api/v1/traces/trace:0123456789ab")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, PATCH"

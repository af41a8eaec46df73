"""The image is built and the compose file started in real containers, where `docker` reaches an engine.

It needs the base images, or a way to fetch them, and some minutes: tests/commons/test_deploy.py stands in elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from commons.conftest import SERVER
from commons.test_deploy import instructions

PROJECT = "repertoire-commons-tested"
# No port of this machine: another server may have it.
OVER = "services:\n  server:\n    ports: !override []\n"
ASK = """
import json, sys, urllib.request
method, path, key, body = sys.argv[1:]
told = urllib.request.Request("http://127.0.0.1:8392" + path, body.encode() or None, method=method)
told.add_header("Content-Type", "application/json")
told.add_header("Authorization", "Bearer " + key)
print(urllib.request.urlopen(told, timeout=20).read().decode())
"""


def engine() -> bool:
    """Tell whether `docker compose` is there and reaches an engine."""
    if shutil.which("docker") is None:
        return False
    asked = (["docker", "compose", "version"], ["docker", "info", "--format", "{{.ServerVersion}}"])
    done = [subprocess.run(line, capture_output=True, text=True, timeout=30, check=False) for line in asked]
    return all(one.returncode == 0 and one.stdout.strip() for one in done)


@dataclass
class Compose:
    """A project of the compose file, in a folder with all that the image is built from."""

    folder: Path

    def __call__(self, *arguments: str, fails: bool = False) -> str:
        files = ("-f", "compose.yaml", "-f", "over.yaml")
        line = ["docker", "compose", "-p", PROJECT, *files, *arguments]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, text=True, timeout=900, check=False)
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return done.stdout

    def inside(self, service: str, *line: str) -> str:
        return self("exec", "-T", service, *line).strip()

    def ask(self, method: str, path: str, key: str, body: object = None) -> object:
        told = json.dumps(body) if body is not None else ""
        return json.loads(self.inside("server", "python", "-c", ASK, method, path, key, told))

    def healthy(self) -> bool:
        """Tell whether all four containers are healthy."""
        names = self("ps", "--quiet").split()
        line = ["docker", "inspect", "--format", "{{.State.Health.Status}}", *names]
        said = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False).stdout.split()
        return len(said) == 4 and set(said) == {"healthy"}

    def started(self, service: str) -> str:
        """Return when the first container of a service was started."""
        name = self("ps", "--quiet", service).split()[0]
        line = ["docker", "inspect", "--format", "{{.State.StartedAt}}", name]
        return subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout

    def started_after(self, service: str, begun: str) -> bool:
        """Tell whether it was started again since."""
        return self.started(service) != begun

    def member(self, name: str) -> str:
        file = f"/tmp/{name}.key"
        self.inside("server", "python", "-m", "repertoire.commons", "key", "team", name, file)
        return self.inside("server", "cat", file)


@pytest.fixture(scope="module")
def compose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    if not engine():
        pytest.skip("NO CONTAINER RAN: docker reaches no engine here")
    root = tmp_path_factory.mktemp("context")
    deploy = root / "server" / "deploy"
    shutil.copytree(SERVER / "deploy", deploy, ignore=shutil.ignore_patterns("secrets"))
    for name in ("requirements-commons.lock", "server/repertoire", "server/repertoire.dist-info"):
        source = SERVER.parent / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, root / name)
    (deploy / "over.yaml").write_text(OVER)
    (deploy / "secrets").mkdir(mode=0o700)
    for name in ("database_password", "pepper", "metrics_token"):
        (deploy / "secrets" / name).write_text(os.urandom(32).hex())
        (deploy / "secrets" / name).chmod(0o444)
    made = Compose(deploy)
    try:
        made("up", "--build", "--detach")
        within(120, made.healthy)
        yield made
    finally:
        made("down", "--volumes")


def within(seconds: float, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(2)


def test_what_is_contributed_is_embedded_found_and_kept_over_kills_and_a_new_start(compose: Compose):
    ann = compose.member("ann")
    trace = {
        "title": "Vite runs out of memory",
        "context": "The build dies.",
        "solution": "Raise the limit of the heap.",
    }
    key = compose.ask("POST", "/api/v1/traces", ann, trace)["id"]  # type: ignore[index]
    within(60, lambda: compose.ask("GET", "/api/v1/statistics", ann)["waiting"] == 0)  # type: ignore[index]
    for service in ("server", "worker"):  # that end are started again
        begun = compose.started(service)
        compose("exec", "-T", service, "python", "-c", "import os; os.kill(1, 15)")
        within(60, partial(compose.started_after, service, begun))
    within(120, compose.healthy)
    compose("stop")
    ended = [json.loads(line) for line in compose("ps", "--all", "--format", "json").splitlines()]
    assert [one["ExitCode"] for one in ended] == [0] * 4, "each ended in order within its grace"
    compose("down")
    compose("up", "--detach")
    within(120, compose.healthy)
    hits = compose.ask("GET", "/api/v1/traces/search?q=bundler+killed+for+want+of+RAM", compose.member("ben"))["hits"]  # type: ignore[index]
    assert [hit["trace"]["id"] for hit in hits] == [key]


def test_no_process_has_a_privilege_and_the_code_cannot_be_written(compose: Compose):
    for service in ("server", "worker", "postgres"):
        status = dict(
            line.split(":", 1) for line in compose.inside(service, "cat", "/proc/1/status").splitlines() if ":" in line
        )
        assert {status[name].strip() for name in ("CapEff", "CapPrm", "CapBnd")} == {"0" * 16}, service
        assert status["NoNewPrivs"].strip() == "1", service
        assert status["Uid"].split()[0] != "0", service
    (user,) = instructions("USER")
    for service in ("server", "worker"):
        assert compose.inside(service, "id", "-u") == user.split(":")[0]
        for place in ("/opt/repertoire", "/usr", "/var/lib/repertoire"):
            compose("exec", "-T", service, "touch", f"{place}/written", fails=True)
        assert compose.inside(service, "stat", "-c", "%a", "/tmp/repertoire") == "700"


def test_a_worker_reaches_the_database_and_nothing_outside(compose: Compose):
    reach = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"
    compose("exec", "-T", "worker", "python", "-c", reach, "postgres", "5432")
    compose("exec", "-T", "worker", "python", "-c", reach, "1.1.1.1", "443", fails=True)

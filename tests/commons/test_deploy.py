"""The compose file fits the specification, and each of its commands runs as a process on what the image would hold.

No container runs here: the image is never built, and nothing below shows that it can be.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from commons.conftest import SERVER, until

DEPLOY = SERVER / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
PORT = 8392
INSTRUCTION = re.compile(r"^([A-Z]+) (.+(?:\\\n.+)*)$", re.MULTILINE)


def instructions(name: str) -> list[str]:
    return [rest for word, rest in INSTRUCTION.findall((DEPLOY / "Dockerfile").read_text()) if word == name]


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found


def test_the_compose_file_fits_the_specification():
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_service_is_without_privileges_and_has_a_health_check_and_secrets_as_files():
    described = yaml.safe_load(COMPOSE.read_text())
    (user,) = instructions("USER")
    assert user.split(":")[0] not in {"0", "root"}
    for name, service in services().items():
        assert service.get("user", user) not in {"0", "root"}, name
        assert service["healthcheck"]["test"][0] == "CMD", name
        assert service["cap_drop"] == ["ALL"], name
        assert not service.get("privileged"), name
        assert set(service["secrets"]) <= set(described["secrets"]), name
        for variable, value in service["environment"].items():
            secret = any(word in variable for word in ("PASSWORD", "PEPPER", "TOKEN"))
            assert not secret or (variable.endswith("_FILE") and value.startswith("/run/secrets/")), variable
    assert all(set(secret) == {"file"} for secret in described["secrets"].values())
    assert "ports" not in services()["postgres"]


class Image:
    """What the image holds, in a folder, and its commands in the environment of the compose file."""

    def __init__(self, folder: Path, database: str) -> None:
        self.root = folder / "opt"
        with socket.create_server(("127.0.0.1", 0)) as free:  # the described port may be in use on this machine
            self.port = free.getsockname()[1]
        secrets = folder / "secrets"
        secrets.mkdir()
        (secrets / "database_password").write_text("no-password-is-asked-on-a-socket\n")
        (secrets / "pepper").write_bytes(os.urandom(32))
        (secrets / "metrics_token").write_text("a-token-for-prometheus\n")
        for line in instructions("COPY"):
            source, target = shlex.split(line)
            self._copy(SERVER.parent / source, self.root / target)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        for line in instructions("ENV"):
            name, value = line.split("=", 1)
            self.environment[name] = value.replace("/opt/repertoire", str(self.root))
        for name, value in services()["server"]["environment"].items():
            self.environment[name] = value.replace("/run/secrets", str(secrets))
        self.environment |= {"DATABASE_URL": database, "REPERTOIRE_HOME": str(folder / "home")}

    def start(self, *command: str) -> subprocess.Popen[str]:
        (entry,) = (yaml.safe_load(line) for line in instructions("ENTRYPOINT"))
        return self.run([*entry, *command])

    def run(self, line: list[str]) -> subprocess.Popen[str]:
        assert line[0] == "python"
        return subprocess.Popen(
            [sys.executable, *line[1:]],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def healthy(self, service: str) -> bool:
        _, *line = services()[service]["healthcheck"]["test"]
        with self.run([word.replace(f":{PORT}/", f":{self.port}/") for word in line]) as check:
            check.communicate(timeout=30)
        return check.returncode == 0

    @staticmethod
    def _copy(source: Path, target: Path) -> None:
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """End a process as Docker does, and hold it to an end in order."""
    with process:
        try:
            yield
        finally:
            process.terminate()
        assert process.wait(20) == 0


@pytest.fixture
def image(tmp_path: Path, postgres: Callable[[str], str]) -> Image:
    return Image(tmp_path, postgres(tmp_path.name))


def test_the_commands_of_the_compose_file_run_and_their_health_checks_say_so(image: Image):
    assert not image.healthy("server")
    with ended(image.start(*services()["server"]["command"], "--port", str(image.port))):
        until(lambda: image.healthy("server"))
        assert not image.healthy("worker")  # there is none yet
        with ended(image.start(*services()["worker"]["command"])):
            until(lambda: image.healthy("worker"))
        until(lambda: not image.healthy("worker"))


def test_a_key_is_made_with_the_secrets_of_the_compose_file(image: Image):
    file = Path(image.environment["HOME"]) / "ann.key"
    with image.start("key", "team", "ann", str(file)) as made:
        made.communicate(timeout=60)
    assert made.returncode == 0
    assert file.read_text().startswith("rpc_team_")
    file.write_text("precious")
    with image.start("key", "team", "ann", str(file)) as again:
        again.communicate(timeout=60)
    assert again.returncode == 2
    assert file.read_text() == "precious"


def test_the_image_asks_for_what_the_lock_of_a_commons_holds():
    assert "requirements-commons.lock" in instructions("COPY")[0]
    assert any("--require-hashes" in line for line in instructions("RUN"))
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    for line in instructions("COPY"):
        assert f"!{shlex.split(line)[0]}" in kept

"""While a server lives, what changes in a project with a memory is found; no process outlives the server."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from app.projects.small_project import FILES, write
from mcp_server.talk import COMMAND, ask, connected
from repertoire.app.projects.places import memory_file
from repertoire.boot.filelock import is_free

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
_PATIENCE_S = 60.0  # on a busy machine; it takes less than a second on a quiet one


@pytest.fixture
def surroundings(environment: dict[str, str], kiln: Path, tmp_path: Path) -> dict[str, str]:
    own = {"PYTHONPATH": str(ROOT / "server"), "CLAUDE_PROJECT_DIR": str(kiln), "HOME": str(tmp_path)}
    return {**environment, **own, "REPERTOIRE_MODEL": "none/at-all"}


@pytest.fixture
def lock(home: Path, kiln: Path) -> Path:
    """Return the lock that a watching process holds."""
    memory = memory_file(home, str(kiln))
    return memory.with_name(f"{memory.name}.watch")


@pytest.fixture
def server(surroundings: dict[str, str], kiln: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        COMMAND, env=surroundings, cwd=kiln, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        yield process
        process.kill()


def is_held(lock: Path) -> bool:
    return lock.exists() and not is_free(lock)


async def until(what, *, holds: bool = True) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + _PATIENCE_S
    while time.monotonic() < ends:
        if bool(await what()) is holds:
            return
        await anyio.sleep(0.05)
    raise AssertionError(what)


async def test_an_edit_is_found_while_the_server_lives_and_what_is_ignored_is_not(
    surroundings: dict[str, str], kiln: Path, lock: Path
) -> None:
    async with connected(surroundings, kiln) as client:

        async def found(name: str) -> bool:
            return name in await ask(client, "code_symbols", name=name) and "::" in await ask(
                client, "code_symbols", name=name
            )

        async def held() -> bool:
            return is_held(lock)

        await until(held)
        write(kiln, {"kiln/clay.py": FILES["kiln/clay.py"] + "\n\ndef knead(pot):\n    return weigh(pot)\n"})
        await until(lambda: found("knead"))
        assert "knead" in await ask(client, "code_symbols", name="weigh", action="callers")
        assert "symbol:kiln/clay.py::knead" in await ask(client, "memory_search", query="knead", kinds=["code"])
        write(kiln, {"build/late.py": "def hidden_one(): pass\n", ".env": "API_TOKEN=abcdefgh12345678\n"})
        write(kiln, {"kiln/late.py": "def seen_one(): pass\n", "new/folder/deep.py": "def deep_one(): pass\n"})
        await until(lambda: found("seen_one"))
        await until(lambda: found("deep_one"))
        assert not await found("hidden_one")
        (kiln / "kiln/late.py").unlink()
        await until(lambda: found("seen_one"), holds=False)


async def test_no_process_watches_after_the_server_was_killed(server: subprocess.Popen[bytes], lock: Path) -> None:
    async def held() -> bool:
        return is_held(lock)

    await until(held)
    server.kill()
    await until(held, holds=False)


async def test_the_setting_switches_it_off(surroundings: dict[str, str], kiln: Path, lock: Path) -> None:
    async with connected({**surroundings, "REPERTOIRE_WATCH": "false"}, kiln) as client:
        await ask(client, "status")  # waits for what the start does
        await anyio.sleep(1.0)
        assert not is_held(lock)


async def test_a_checkout_of_many_files_is_read_in_few_batches_and_a_forgotten_project_ends_the_watch(
    surroundings: dict[str, str], home: Path, kiln: Path, lock: Path
) -> None:
    command = [sys.executable, "-m", "repertoire", "project", "watch", "--while-input"]
    with subprocess.Popen(  # noqa: ASYNC220 - starting it takes no time worth waiting for
        command, env=surroundings, cwd=kiln, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:

        async def held() -> bool:
            return is_held(lock)

        await until(held)
        await anyio.sleep(3.0)  # the first look
        write(kiln, {f"many/m{number}.py": f"def many_{number}(): pass\n" for number in range(400)})
        write(kiln, {".gitignore": "build/\n*.log\nmany/m1.py\n"})
        read_at = 0
        lines = []
        while read_at < 400:
            assert process.stdout is not None
            line = await anyio.to_thread.run_sync(process.stdout.readline)
            lines.append(line)
            read_at += int(line.split()[0])
        assert len(lines) <= 4
        for file in (home / "projects").iterdir():
            if not file.name.endswith((".watch", ".lock")):
                file.unlink()
        write(kiln, {"kiln/clay.py": "pass\n"})
        assert await anyio.to_thread.run_sync(lambda: process.wait(_PATIENCE_S)) == 0

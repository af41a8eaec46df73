"""Work on the store that goes on while prompts are timed: nothing, ingests of what changed, a refresh that embeds."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import library
from stdio import Client, ready_environment

from repertoire.boot.layout import command

NICENESS = 10  # a refresh that a server starts yields to all others so far


class Work(Protocol):
    """Something that goes on for a while; `rounds` counts how often it was done or begun."""

    rounds: int

    def going_on(self, client: Client) -> contextlib.AbstractContextManager[None]:
        """Let it go on during the block."""

    def goes_on(self) -> bool:
        """Tell whether it still does."""


class Nothing:
    """Nothing at all."""

    rounds = 0

    @contextlib.contextmanager
    def going_on(self, client: Client) -> Iterator[None]:
        """Do nothing."""
        del client
        yield

    def goes_on(self) -> bool:
        """Say that nothing ever ends."""
        return True


class Ingests:
    """One ingest after the other, each of a repository whose every text has changed since the last."""

    def __init__(self, home: Path, repository: Path) -> None:
        self._home, self._repository = home, repository
        self._stop = threading.Event()
        self._failed: Exception | None = None
        self.rounds = 0

    @contextlib.contextmanager
    def going_on(self, client: Client) -> Iterator[None]:
        """Ingest until the block ends."""
        del client
        thread = threading.Thread(target=self._guarded)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()
        if self._failed is not None:
            raise self._failed

    def goes_on(self) -> bool:
        """Say that it goes on as long as it is let."""
        return True

    def _guarded(self) -> None:
        try:
            self._run()
        except Exception as error:  # noqa: BLE001 - told by the thread that waits for this one
            self._failed = error

    def _run(self) -> None:
        while not self._stop.is_set():
            change(self._repository, self.rounds)
            arguments = ("ingest", "--quiet", str(self._repository))
            subprocess.run(
                command(Path(sys.executable), "repertoire", *arguments),
                env=environment(self._home, self._repository),
                stdout=subprocess.DEVNULL,
                check=True,
            )
            self.rounds += 1


class IngestsForModel:
    """The same through the tool that a model calls, in the session whose prompts are timed."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._client: Client | None = None
        self._call = -1
        self.rounds = 0

    @contextlib.contextmanager
    def going_on(self, client: Client) -> Iterator[None]:
        """Ingest until the block ends, then wait for the last ingest."""
        self._client = client
        self._begin()
        yield
        client.text(self._call)

    def goes_on(self) -> bool:
        """Begin another ingest where the last has ended."""
        if self._client is not None and self._client.answered(self._call):
            self._client.text(self._call)
            self._begin()
        return True

    def _begin(self) -> None:
        if self._client is not None:
            change(self._repository, 1000 + self.rounds)
            arguments = {"source": str(self._repository)}
            self._call = self._client.send("tools/call", name="ingest_repo", arguments=arguments)
            self.rounds += 1


class Refresh:
    """A refresh as a server starts it: it reads every source again and embeds what has no vectors."""

    def __init__(self, home: Path, repository: Path) -> None:
        self._home, self._repository = home, repository
        self._process: subprocess.Popen[bytes] | None = None
        self.rounds = 0

    @contextlib.contextmanager
    def going_on(self, client: Client) -> Iterator[None]:
        """Refresh until it is done or the block ends."""
        del client
        self._process = subprocess.Popen(
            command(Path(sys.executable), "repertoire", "refresh", "--quiet"),
            env=environment(self._home, self._repository),
            stdout=subprocess.DEVNULL,
        )
        os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        self.rounds = 1
        try:
            yield
            if self._process.poll():
                message = f"the refresh failed with status {self._process.returncode}"
                raise RuntimeError(message)
        finally:
            self._process.terminate()
            self._process.wait()

    def goes_on(self) -> bool:
        """Tell whether it still runs."""
        return self._process is not None and self._process.poll() is None


def environment(home: Path, repository: Path) -> dict[str, str]:
    """Return the environment of a session in the repository on a machine where nothing is installed."""
    empty = str(home.parent)
    return ready_environment(home, HOME=empty, CLAUDE_CONFIG_DIR=f"{empty}/claude", CLAUDE_PROJECT_DIR=str(repository))


@contextlib.contextmanager
def changing_repository() -> Iterator[Path]:
    """Lend a copy of the largest repository."""
    largest = max(library.repositories(), key=lambda folder: sum(1 for _ in folder.rglob("*.md")))
    with tempfile.TemporaryDirectory(prefix="repertoire-speed-") as place:
        copy = Path(place).resolve() / "changing"
        shutil.copytree(largest, copy)
        for path in copy.rglob("*"):  # the data may be read-only
            path.chmod(0o755 if path.is_dir() else 0o644)
        copy.chmod(0o755)
        yield copy


def change(repository: Path, number: int) -> None:
    """Give every text of a repository another last line."""
    for path in repository.rglob("*.md"):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\nRevision {number}.\n")

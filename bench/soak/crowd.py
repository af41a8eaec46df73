"""Lets eight processes use one file at once and looks for what got lost: `python bench/soak/crowd.py [--seconds 120]`.

Four servers over stdio, as the client starts them: three answer the hooks of sessions (prompts, uses, failures, stops),
one answers tools (sets, searches, outcomes) and reads a repository in between; in place of them, servers that keep
traces and vote on what the others kept. Beside them a session-start hook, a
person's commands (feedback, sets), commands that only look, and ingests of a folder that changes: each of these four
starts one process after the other. Whatever was acknowledged (an answer, a status 0) is noted with what must then be in
the log, and in the end each of it must be there exactly once. Whatever is answered or printed must speak of no lock.
The size of the write-ahead log is looked at every 20 milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "speed")]

from harness import bare_environment, plain_python  # noqa: E402
from ledger import Ledger, not_once, unrecorded  # noqa: E402
from sample_source import write_source  # noqa: E402
from states import faults  # noqa: E402
from stdio import Client, launch_command  # noqa: E402

from repertoire.app.session.spool import take_in  # noqa: E402
from repertoire.app.sources.ingest import ingest  # noqa: E402
from repertoire.boot.layout import command  # noqa: E402
from repertoire.domain.event import (  # noqa: E402
    ASKED,
    CLOSED,
    CONTRIBUTED,
    FAILED,
    OFFERED,
    OUTCOME,
    SELECTED,
    VOTED,
)
from repertoire.domain.trace import ACTIVE  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

_KITS, SIZE = 3, 40
_NAMES = ("fields", "ledger", "cluster", "report", "forms", "queries", "notes", "pages", "charts", "parcels")
_ASKED = "Fill the PDF form of the {} from the spreadsheet, then read it as {}"


class Crowd:
    """A home with components, and everybody who uses it."""

    def __init__(
        self, place: Path, seconds: float, size: int = SIZE, settings: Mapping[str, str] | None = None
    ) -> None:
        self.place, self.home = place, place / "home"
        self._settings = settings or {}
        self.ledger = Ledger()
        self._seconds, self._size = seconds, size
        self._until = 0.0
        self._kept: list[str] = []  # traces that anybody was told are kept
        self.home.mkdir(mode=0o700)
        (place / "project").mkdir()
        (place / "project/pyproject.toml").write_text(
            '[project]\nname = "a"\ndependencies = ["psycopg", "playwright"]\n'
        )
        with Store.open(self.home / "repertoire.db") as store:
            for number in range(_KITS):
                write_source(place / f"kit{number}", number, size, changed=False)
                ingest(store, self.home, str(place / f"kit{number}"), settings=Settings())
            _write_rare(place / "rare")
            ingest(store, self.home, str(place / "rare"), settings=Settings())
            self.skills = sorted(row.name for row in store.graph.summaries() if row.type == "skill")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of all of them: a machine where nothing is installed, and no refresh beside."""
        place = str(self.place)
        return bare_environment(
            HOME=place,
            CLAUDE_CONFIG_DIR=f"{place}/claude",
            CLAUDE_PROJECT_DIR=f"{place}/project",
            REPERTOIRE_HOME=str(self.home),
            REPERTOIRE_PYTHON=sys.executable,
            REPERTOIRE_BACKGROUND="false",
            **self._settings,
        )

    def cli(self, *arguments: str) -> str:
        """Run a command as a person does; what it complains of is noted."""
        done = subprocess.run(
            command(Path(sys.executable), "repertoire", *arguments),
            env=self.environment,
            cwd=self.place / "project",
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode or "lock" in done.stderr:
            self.ledger.complain(f"{arguments[0]}: {done.returncode} {done.stderr}")
        return done.stdout if not done.returncode else ""

    def gather(self, roles: list[Callable[[int], None]]) -> None:
        """Let everybody do what they do until time is up."""
        self._until = time.monotonic() + self._seconds
        threads = [threading.Thread(target=self._guarded, args=(role, n)) for n, role in enumerate(roles)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _guarded(self, role: Callable[[int], None], number: int) -> None:
        try:
            role(number)
        except Exception as error:  # noqa: BLE001 - told at the end, with everything else
            self.ledger.complain(f"{role.__name__}: {error!r}")

    def rounds(self) -> Iterator[int]:
        """Yield numbers until time is up, one at least."""
        number = 0
        while not number or time.monotonic() < self._until:
            yield number
            number += 1

    @contextmanager
    def server(self) -> Iterator[Client]:
        with closing(Client(launch_command(), self.environment, cwd=self.place / "project")) as client:
            client.handshake()
            client.call("status")  # once it is there; on a busy machine that takes longer than a hook waits
            yield client
            client.call("status")  # answers when what came before is written: a session ends after its last answer
            client.process.terminate()
            client.process.wait(timeout=60)  # on a machine as busy as this one is made

    def session(self, number: int) -> None:
        """Prompt, use what is there, fail now and then, stop; a new session every ten prompts."""
        draw = random.Random(number)
        with self.server() as client:
            for turn in self.rounds():
                session = f"server {number} session {turn // 10}"
                prompt = _ASKED.format(draw.choice(_NAMES), spelled(turn))
                shown = self._hook(client, "hook_prompt", session, prompt=prompt)
                self.ledger.need(ASKED, session, prompt)
                if "hookSpecificOutput" in shown:
                    with self.ledger.lock:
                        self.ledger.shown[f"{session}: {prompt}"] += 1
                name = draw.choice(self.skills)
                tool = {"tool_name": "Skill", "tool_input": json.dumps({"skill": name})}
                if turn % 4 == 3:
                    self._hook(client, "hook_failed", session, error="it broke", **tool)
                    self.ledger.need(FAILED, session, f"{name} {prompt}")
                else:
                    self._hook(client, "hook_used", session, **tool)
                    self.ledger.need(SELECTED, session, f"{name} {prompt}")
                self._hook(client, "hook_stop", session)
                self.ledger.need(CLOSED, session, prompt)
                time.sleep(0.05)  # a client has other things to do as well

    def _hook(self, client: Client, name: str, session: str, **arguments: str) -> str:
        began = time.monotonic()
        answer = client.call(name, session_id=session, cwd=str(self.place / "project"), **arguments)
        with self.ledger.lock:
            self.ledger.late += time.monotonic() - began >= 1.5
            self.ledger.done[name] += 1
        return answer

    def tools(self, number: int) -> None:
        """Call what a model calls."""
        with self.server() as client:
            for turn in self.rounds():
                note = f"told by server {number}, {spelled(turn)}"
                self._tool(client, "report_outcome", id=self.skills[turn % len(self.skills)], outcome="ok", note=note)
                self.ledger.need(OUTCOME, "", note)
                self._tool(client, "recommend_set", task="Audit a ledger and deploy to Kubernetes")
                self._tool(client, "search_components", query="explain slow PostgreSQL queries")
                if turn % 10 == 5:
                    write_source(self.place / "project/kit9", 9, 10, changed=turn % 20 == 5)
                    self._tool(client, "ingest_repo", source=str(self.place / "project/kit9"))

    def contributing(self, number: int) -> None:
        """Keep traces, and vote on what anybody kept; no two vote in the same words."""
        draw = random.Random(number)
        with self.server() as client:
            for turn in self.rounds():
                told = f"{spelled(number)} {spelled(turn)}"
                words = {"context": f"ValueError: no plan {told} in the ledger", "solution": f"Draw up plan {told}."}
                draft = self._tool(client, "contribute_trace", title=f"The plan {told} fails", tags=["plans"], **words)
                token = draft.rpartition("token: ")[2].split()
                kept = self._tool(client, "contribute_trace", token=token[0]) if token else ""
                if "Kept: " in kept:
                    self._keep(kept)
                with self.ledger.lock:
                    chosen = draw.choice(self._kept) if self._kept else ""
                note = f"voted by server {told}"
                if "kept;" in (
                    self._tool(client, "vote_trace", id=chosen, vote="up", feedback_text=note) if chosen else ""
                ):
                    self.ledger.need(VOTED, "", note)
                self._tool(client, "search_traces", query="a plan fails in the ledger", error=words["context"])

    def _keep(self, said: str) -> None:
        key = said.partition("Kept: ")[2].partition(",")[0]
        self.ledger.need(CONTRIBUTED, "", key)
        with self.ledger.lock:
            self._kept.append(key)

    def _tool(self, client: Client, name: str, **arguments: Any) -> str:
        try:
            text = client.call(name, **arguments)
        except RuntimeError as error:
            text = f"{name}: {error}"
            self.ledger.complain(text)
        if "locked" in text:
            self.ledger.complain(text)
        self.ledger.did(name)
        return text

    def greetings(self, number: int) -> None:
        """Start sessions, as the client's hook does."""
        hook = [plain_python(), "-I", "-S", str(ROOT / "hooks/session_start.py")]
        for turn in self.rounds():
            session = f"greeting {number} {turn}"
            given = {"session_id": session, "cwd": str(self.place / "project"), "source": "startup"}
            done = subprocess.run(
                hook, input=json.dumps(given), env=self.environment, capture_output=True, text=True, check=False
            )
            self.ledger.did("session start")
            if done.returncode or done.stderr:
                self.ledger.complain(f"session start: {done.returncode} {done.stderr}")
            if done.stdout:
                self.ledger.did("session start with a hint")
                self.ledger.need(OFFERED, session)

    def person(self, number: int) -> None:
        """Say how things went, and ask."""
        for turn in self.rounds():
            note = f"said by person {number}, {spelled(turn)}"
            if self.cli("feedback", self.skills[turn % len(self.skills)], "failed", "--note", note):
                self.ledger.need(OUTCOME, "", note)
            self.ledger.did("feedback")
            self.cli("recommend", "Fill PDF forms and write a changelog")
            self.ledger.did("recommend")
            told = f"{spelled(number)} of a person {spelled(turn)}"
            words = (
                "--title",
                f"The report {told} fails",
                "--context",
                "It is empty.",
                "--solution",
                f"Sort it, {told}.",
            )
            if "Kept: " in (said := self.cli("trace", "contribute", *words, "--yes")):
                self._keep(said)
            self.ledger.did("trace contribute")

    def looking(self, _: int) -> None:
        """Look at everything that can be looked at."""
        for turn in self.rounds():
            self.cli(("status", "stats", "review", "sources")[turn % 4])
            self.ledger.did("look")

    def ingests(self, number: int) -> None:
        """Ingest a folder again and again, each time changed."""
        for turn in self.rounds():
            write_source(self.place / "changing", number, 3 * self._size, changed=turn % 2 == 1)
            self.cli("ingest", "--quiet", str(self.place / "changing"))
            self.ledger.did("ingest")


def _write_rare(folder: Path) -> None:
    """Write a source whose one skill fits the project and hardly anything else does: a session's start names it."""
    path = folder / "skills/playwright-tests/SKILL.md"
    path.parent.mkdir(parents=True)
    description = "Writes and mends Playwright tests of web applications."
    path.write_text(
        f"---\nname: playwright-tests\ndescription: {description}\n---\n\n# Playwright\n\nRun Playwright.\n"
    )


def crowd(seconds: float, roles: str, size: int) -> dict[str, Any]:
    """Return what came of so many seconds of it."""
    with tempfile.TemporaryDirectory(prefix="repertoire-crowd-") as named:
        made = Crowd(Path(named).resolve(), seconds, size)
        of_letter = {
            "s": made.session, "t": made.tools, "g": made.greetings,
            "p": made.person, "l": made.looking, "i": made.ingests, "c": made.contributing,
        }  # fmt: skip
        database = made.home / "repertoire.db"
        wal = database.with_name(f"{database.name}-wal")
        with watched(wal) as sizes:
            made.gather([of_letter[letter] for letter in roles])
        with Store.open(database) as store:
            waited = take_in(store)  # as whoever writes next does
            log = store.events.since(0, limit=-1)
            there = {trace.key for trace in store.traces.all(ACTIVE)}
        missing = [key for kind, _, key in made.ledger.needed if kind == CONTRIBUTED and key not in there]
        return {
            "processes": len(roles),
            "seconds": seconds,
            "done": dict(sorted(made.ledger.done.items())),
            "acknowledged": sum(made.ledger.needed.values()),
            "lost": [*not_once(made.ledger, log), *missing][:20],
            "hints without their offers": unrecorded(made.ledger, log)[:20],
            "waited beside the file": waited,
            "hooks later than 1.5 s": made.ledger.late,
            "complaints": made.ledger.complaints[:20],
            "faults of the file": faults(database),
            "events": len(log),
            "file_kb": database.stat().st_size // 1024,
            "wal_peak_kb": max(sizes, default=0) // 1024,
            "wal_after_kb": bytes_of(wal) // 1024,
        }


@contextmanager
def watched(path: Path) -> Iterator[list[int]]:
    """Look at the size of a file every 20 milliseconds, and lend what was seen."""
    sizes: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            sizes.append(bytes_of(path))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield sizes
    finally:
        stop.set()
        thread.join()


def bytes_of(path: Path) -> int:
    """Return the bytes of a file that may come and go."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0


def spelled(number: int) -> str:
    """Return a number as a word: digits in a row may be taken for a secret."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--roles", default="ssstgpli", help="s, t, c, g, p, l, i: one letter a process")
    parser.add_argument("--size", type=int, default=SIZE, help="components in each of three sources")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    found = crowd(options.seconds, options.roles, options.size)
    text = json.dumps(found, indent=1)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    return int(any(found[name] for name in ("lost", "hints without their offers", "complaints", "faults of the file")))


if __name__ == "__main__":
    sys.exit(main())

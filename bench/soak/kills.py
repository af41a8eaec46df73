"""Kills processes in the middle of what they write, and looks at what they leave: `python bench/soak/kills.py`.

Every work is first done in peace: how often it writes, how long that takes, and what the file holds after each
commit. Then it is done again and again, and killed (SIGKILL) at points that a seed draws: two of three before or
half-way through the n-th write to the disk, the third after a share of its time. Each commit is told through a pipe as
it happens. After a kill the file must open and be sound; it must hold what it held after the last commit that was told,
or after the next one, which there was no time to tell; and the work, done once more, must end in the state that it ends
in undisturbed.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as every process of the product has it (boot.threads)
if os.environ.get("PYTHONHASHSEED") != "0":  # what is done twice must come in one order
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})

import apsw
from states import State, difference, faults, state, state_of
from works import Work, works

from repertoire.store.connection import Connection
from repertoire.store.database import Store

DATABASE = "repertoire.db"
Say = Callable[[Any], None]


@dataclass(frozen=True)
class Blow:
    """When a process dies: at its n-th write, a share of which is still done, or after so many seconds; or never."""

    write: int = 0
    share: float = 0.0
    seconds: float = 0.0


@dataclass
class Course:
    """What a work does undisturbed."""

    states: list[State]  # at the start, and after each commit
    writes: int
    seconds: float


@dataclass
class Tally:
    """What came of the kills of one work."""

    work: str
    commits: int
    writes: int
    kills: int = 0
    too_late: int = 0  # of these, the process had ended before
    between: int = 0  # of these, the file held a commit that had not been told yet
    faults: list[str] = field(default_factory=list)


class _Disk(apsw.VFS):
    """The file system as SQLite uses it, counting writes."""

    def __init__(self, blow: Blow) -> None:
        self.blow, self.writes = blow, 0
        super().__init__("soak", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _File(self, name, flags)

    def write(self, data: bytes, rest: Callable[[bytes], None]) -> None:
        self.writes += 1
        if self.writes == self.blow.write:
            if self.blow.share:
                rest(data[: int(len(data) * self.blow.share)])
            os.kill(os.getpid(), signal.SIGKILL)
        rest(data)


class _File(apsw.VFSFile):
    def __init__(self, disk: _Disk, name: Any, flags: Any) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.write(data, lambda part: apsw.VFSFile.xWrite(self, part, offset))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.write(b"", lambda _: apsw.VFSFile.xTruncate(self, size))


def in_child(task: Callable[[Say], None], *, seconds: float = 0.0) -> tuple[list[Any], int]:
    """Run a task in a process of its own, killed after so many seconds; return what it said and how it ended."""
    hears, says = os.pipe()
    process = os.fork()
    if not process:
        os.close(hears)
        _run(task, says)
    os.close(says)
    if seconds:
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
    said: list[Any] = []
    # What ends it is the end, or a word that was cut off.
    with os.fdopen(hears, "rb") as pipe, suppress(EOFError, pickle.UnpicklingError):
        while True:
            said.append(pickle.load(pipe))
    return said, os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _run(task: Callable[[Say], None], says: int) -> None:
    status = 1
    try:
        task(lambda word: _write_whole(says, pickle.dumps(word)))
        status = 0
    except BaseException:  # noqa: BLE001 - a child must not go on as its parent
        traceback.print_exc()
    finally:
        os._exit(status)


def _write_whole(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]


@contextmanager
def telling_commits(tell: Callable[[Connection], None]) -> Iterator[None]:
    """Call something after each commit of whatever writes to a store."""
    plain = Connection.transaction

    @contextmanager
    def transaction(self: Connection) -> Iterator[None]:
        outermost = not self.in_transaction
        with plain(self):
            yield
        if outermost:
            tell(self)

    Connection.transaction = transaction  # type: ignore[method-assign]
    try:
        yield
    finally:
        Connection.transaction = plain  # type: ignore[method-assign]


def undisturbed(work: Work, start: Path, place: Path) -> Course:
    """Do a work in peace, twice: once to time it, once to see every state that it passes through."""
    timed = _copy(start, place / "timed")

    def plain(say: Say) -> None:
        disk = _Disk(Blow())
        began = time.perf_counter()
        with telling_commits(lambda _: None):
            work.run(timed)
        say((disk.writes, time.perf_counter() - began))

    def watched(say: Say) -> None:
        with telling_commits(lambda connection: say(state(connection.rows))):
            work.run(seen)

    ((writes, seconds),), status = in_child(plain)
    seen = _copy(start, place / "seen")
    states, watched_status = in_child(watched)
    if status or watched_status:
        message = f"{work.name} fails undisturbed"
        raise RuntimeError(message)
    return Course([state_of(start / DATABASE), *states], writes, seconds)


def kill(work: Work, course: Course, start: Path, place: Path, blow: Blow, tally: Tally) -> None:
    """Kill a work once and judge what is left."""
    home = _copy(start, place / "killed")

    def task(say: Say) -> None:
        disk = _Disk(blow)  # held: SQLite would go on without it
        with telling_commits(lambda _: say(1)):
            work.run(home)
        del disk

    said, status = in_child(task, seconds=blow.seconds)
    tally.kills += 1
    tally.too_late += status == 0
    if status > 0:
        tally.faults.append(f"{blow}: failed by itself")
        return
    for fault in _left(home, course, len(said), tally):
        tally.faults.append(f"{blow}, {len(said)} commits told: {fault}")
    for fault in _once_more(work, home, course):
        tally.faults.append(f"{blow}, {len(said)} commits told, done once more: {fault}")


def _left(home: Path, course: Course, told: int, tally: Tally) -> Iterator[str]:
    path = home / DATABASE
    if not path.exists():
        if told or course.states[0]:
            yield "there is no file"
        return
    yield from faults(path)
    found = state_of(path)
    last, following = course.states[told], course.states[min(told + 1, len(course.states) - 1)]
    if found != last:
        tally.between += 1
        if found != following:
            yield f"neither the last commit nor the next: {difference(found, last)}; {difference(found, following)}"
    with Store.open(path) as store:
        store.graph.counts()


def _once_more(work: Work, home: Path, course: Course) -> Iterator[str]:
    _, status = in_child(lambda _: work.run(home))
    if status:
        yield "fails"
        return
    yield from faults(home / DATABASE)
    found = state_of(home / DATABASE)
    if found != course.states[-1]:
        yield f"ends otherwise than undisturbed: {difference(found, course.states[-1])}"


def killed_often(work: Work, place: Path, kills: int, draw: random.Random) -> Tally:
    """Kill a work so often."""
    start = place / "start"
    start.mkdir(parents=True)
    _, status = in_child(lambda _: work.prepare(start))
    if status:
        message = f"{work.name} cannot be prepared"
        raise RuntimeError(message)
    work.recall(start)
    course = undisturbed(work, start, place)
    tally = Tally(work.name, len(course.states) - 1, course.writes)
    for number in range(kills):
        at_write = Blow(draw.randint(1, course.writes), draw.choice((0.0, draw.random())))
        after = Blow(seconds=draw.random() * course.seconds)
        kill(work, course, start, place, after if number % 3 == 2 else at_write, tally)
    return tally


def _copy(start: Path, home: Path) -> Path:
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(start, home)
    return home


def soak(chosen: Sequence[Work], kills: int, seed: int, *, tell: Callable[[Tally], None]) -> list[Tally]:
    """Kill works, each as often as its weight says; every seed draws other points."""
    tallies = []
    whole, drawn = sum(work.weight for work in chosen), 0
    for number, work in enumerate(chosen):
        share = round(kills * sum(work.weight for work in chosen[: number + 1]) / whole) - drawn
        drawn += share
        with tempfile.TemporaryDirectory(prefix="repertoire-soak-") as place:
            tally = killed_often(work, Path(place).resolve(), share, random.Random(f"{seed} {work.name}"))
        tell(tally)
        tallies.append(tally)
    return tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=12, help="components in each source, sessions of learning")
    parser.add_argument("--only", default="", help="works in whose names this is")
    parser.add_argument("--without", default="-", help="no works in whose names this is")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    began = time.monotonic()
    chosen = [work for work in works(options.size) if options.only in work.name and options.without not in work.name]
    tallies = soak(chosen, options.kills, options.seed, tell=_told)
    if options.json:
        figures = {"seed": options.seed, "size": options.size, "works": [vars(tally) for tally in tallies]}
        figures["seconds"] = round(time.monotonic() - began, 1)
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return int(any(tally.faults for tally in tallies))


def _told(tally: Tally) -> None:
    print(
        f"{tally.work:36} {tally.kills:4} kills ({tally.too_late} too late, {tally.between} before a commit was told) "
        f"of {tally.writes} writes in {tally.commits} commits: {len(tally.faults)} faults",
        flush=True,
    )
    for fault in tally.faults[:10]:
        print(f"    {fault}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Times the first ingest of all real repositories into an empty home, and the second, which finds nothing to do."""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import harness
import library
from harness import MEGABYTES, Row, Section

TEXT, SETTLED, AGAIN = "text of everything is searchable", "relations settled", "second run"
READ = "every file read and hashed"
GOALS_MS = {TEXT: 20_000.0, AGAIN: 10_000.0}
PEAK_GOAL_MB = 600.0
# As a refresh does it, in a process of its own: source by source, and what only all of them show at the end.
_CHILD = """
import json, resource, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from repertoire.app.sources.file_outcomes import account
from repertoire.app.sources.ingest import write_source
from repertoire.app.sources.settle import settle
from repertoire.app.sources.opening import Surroundings, open_address
from repertoire.settings import Settings
from repertoire.sources import address, installed
from repertoire.store.database import Store
home, folders, told = Path(sys.argv[2]), sys.argv[3:], {}
around = Surroundings(home, Settings(), installed.look({"HOME": str(home)}, project=None))
with Store.open(home / "repertoire.db") as store:
    def run():
        start, worked = time.perf_counter(), time.process_time()
        for folder in folders:
            write_source(store, open_address(address.parse(folder, trusted=True), around, tick=lambda: None))
        text = 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - worked)
        settle(store)
        return text, (1000 * (time.perf_counter() - start), 1000 * (time.process_time() - worked))
    told["text"], told["settled"] = run()
    told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _, told["again"] = run()
    told["counts"] = store.graph.counts()
    told["fates"] = [fate.became for folder in folders for fate in account(store, home, folder, settings=Settings())]
print(json.dumps(told))
"""


def measure(options: argparse.Namespace) -> Section:
    """Ingest into a fresh home each time, beside reading the same files and no more."""
    folders = library.repositories()
    section = Section("ingest", {"repositories": len(folders), "runs": options.runs})
    times: dict[str, list[float]] = {}
    peaks: list[float] = []
    for _ in range(options.runs):
        times.setdefault(READ, []).append(harness.milliseconds(lambda: _read(folders)))
        with tempfile.TemporaryDirectory(prefix="repertoire-speed-") as home:
            command = [sys.executable, "-c", _CHILD, str(harness.SERVER), home, *map(str, folders)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        for name, key in ((TEXT, "text"), (SETTLED, "settled"), (AGAIN, "again")):
            for label, value in zip((name, f"{name}, processor time"), told[key], strict=True):
                times.setdefault(label, []).append(value)
        peaks.append(told["peak"])
    section.settings |= {"counts": told["counts"], "files": Counter(told["fates"])}
    section.rows = [
        Row(name, values, baseline="" if name == READ else READ, goal=GOALS_MS.get(name), judged="max")
        for name, values in times.items()
    ]
    section.rows.append(Row("peak memory", peaks, unit=MEGABYTES, goal=PEAK_GOAL_MB, judged="max"))
    return section


def _read(folders: Sequence[Path]) -> None:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    started = time.perf_counter()
    harness.run_script("ingest", measure, runs=1)
    print(f"{time.perf_counter() - started:.0f} s in all", file=sys.stderr)

"""Compares the tools that are read out of packages with those that the servers list: `python bench/packages/tools.py`.

Every package of `servers.tsv` is fetched and ingested as a person would, then installed in a folder of its own without
scripts, started, and asked. `seen` says whether its source was looked at while the reading was written.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "server"))

from repertoire.app.sources.ingest import ingest  # noqa: E402
from repertoire.domain.component import MCP_SERVER, PACKAGE, TOOL  # noqa: E402
from repertoire.domain.errors import SourceError  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

SERVERS = Path(__file__).with_name("servers.tsv")
STARTS_IN_S, INSTALLS_IN_S = 60, 400
ASKED = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}


@dataclass(frozen=True)
class Start:
    """How a server is started, and what must be installed beside it."""

    arguments: list[str]
    environment: list[str]
    beside: list[str]


@dataclass(frozen=True)
class Result:
    """What was found of one package, and what its server lists; `problem`: why it could not be asked."""

    package: str
    version: str
    seen: bool
    found: tuple[str, ...]
    listed: tuple[str, ...]
    seconds: float
    problem: str = ""

    @property
    def right(self) -> int:
        return len(set(self.found) & set(self.listed))


def main() -> int:
    """Print a line a package, and the sums; `--write` keeps them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="*", help="addresses out of servers.tsv; none: all of them")
    parser.add_argument("--write", type=Path, help="the file in bench/results to write")
    parser.add_argument("--kept", type=Path, help="a folder for installed servers, which are then not installed again")
    chosen = parser.parse_args()
    lines = [line.split("\t") for line in SERVERS.read_text(encoding="utf-8").splitlines()[1:]]
    results = []
    for address, seen, arguments, environment, beside in lines:
        if not chosen.packages or address in chosen.packages:
            start = Start(arguments.split(), environment.split(), beside.split())
            results.append(measured(address, start, seen=seen == "yes", kept=chosen.kept))
            print(line_of(results[-1]), flush=True)
    for label, group in (("seen", [r for r in results if r.seen]), ("not seen", [r for r in results if not r.seen])):
        print(f"{label}: {json.dumps(summary(group))}")
    if chosen.write:
        chosen.write.write_text(json.dumps(report(results), indent=1) + "\n", encoding="utf-8")
    return 0


def measured(address: str, start: Start, *, seen: bool, kept: Path | None) -> Result:
    folder = Path(tempfile.mkdtemp(prefix="measure-"))
    try:
        started = time.perf_counter()
        try:
            version, program, found = read(folder / "home", address)
        except SourceError as error:
            return Result(address, "", seen, (), (), 0.0, str(error))
        seconds = round(time.perf_counter() - started, 2)
        place = (kept or folder) / address.replace("/", "_").replace(":", "_")
        filled = [word.format(folder=folder) for word in start.arguments]
        variables = dict(pair.format(folder=folder).split("=", 1) for pair in start.environment)
        try:
            listed = asked([str(installed(address, version, program, place, start.beside)), *filled], variables, folder)
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            return Result(address, version, seen, found, (), seconds, str(error)[:300])
        return Result(address, version, seen, found, listed, seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read(home: Path, address: str) -> tuple[str, str, tuple[str, ...]]:
    """Ingest a package; return its version, the program that starts its server, and its tools' names."""
    home.mkdir()
    with Store.open(home / "repertoire.db") as store:
        ingest(store, home, address, settings=Settings())
        rows = store.graph.components(row.node_id for row in store.graph.summaries()).values()
    components = [row.component for row in rows]
    package = next(c for c in components if c.type == PACKAGE)
    named = str(package.front_matter.get("package"))
    server = next((c for c in components if c.type == MCP_SERVER and named in c.front_matter.get("args", ())), None)
    tools = tuple(sorted(c.name for c in components if c.type == TOOL)) if server is not None else ()
    return str(package.front_matter.get("version", "")), server.name if server is not None else "", tools


def installed(address: str, version: str, program: str, place: Path, beside: Sequence[str]) -> Path:
    """Install a package with what it requires, no scripts run, and return the program that starts it."""
    registry, _, name = address.partition(":")
    if registry == "npm":
        path = place / "node_modules" / ".bin" / program
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(place)]
        commands = [[*command, f"{name}@{version}"]]
    else:
        path = place / "bin" / program
        pip = [str(place / "bin" / "pip"), "install", "-q", "--only-binary", ":all:", f"{name}=={version}", *beside]
        commands = [[sys.executable, "-m", "venv", str(place)], pip]
    if not path.exists():
        place.mkdir(parents=True, exist_ok=True)
        for one in commands:
            done = subprocess.run(one, capture_output=True, timeout=INSTALLS_IN_S, check=False)
            if done.returncode:
                told = f"cannot be installed: {done.stderr.decode('utf-8', 'replace')[-250:]}"
                raise RuntimeError(told)
    return path


def asked(command: Sequence[str], variables: dict[str, str], folder: Path) -> tuple[str, ...]:
    """Start a server and return the names of the tools that it lists."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, **variables},
    )
    clock = threading.Timer(STARTS_IN_S, process.kill)
    clock.start()
    try:
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": ASKED,
            "clientInfo": {"name": "bench", "version": "1"},
        }
        call(process, 1, "initialize", hello)
        send(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        time.sleep(1)  # some register tools when they know what the client can do
        names: list[str] = []
        cursor, number = "", 2
        while True:
            page = call(process, number, "tools/list", {"cursor": cursor} if cursor else {})
            names += [tool["name"] for tool in page["tools"]]
            cursor, number = page.get("nextCursor") or "", number + 1
            if not cursor:
                return tuple(sorted(names))
    finally:
        clock.cancel()
        process.kill()
        process.communicate()


def send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def call(process: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdout is not None
    send(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    for line in process.stdout:
        try:
            message = json.loads(line)
        except ValueError:  # a server that prints a greeting
            continue
        if message.get("id") == number and ("result" in message or "error" in message):
            if "error" in message:
                told = f"{method}: {message['error'].get('message')}"
                raise RuntimeError(told)
            return dict(message["result"])
        if "method" in message and "id" in message:
            send(process, {"jsonrpc": "2.0", "id": message["id"], "result": {"roots": []}})
    assert process.stderr is not None
    process.kill()
    told = f"{method} was not answered: {process.stderr.read()[-200:].decode('utf-8', 'replace')}"
    raise RuntimeError(told)


def line_of(result: Result) -> str:
    told = f"{result.package:50s} found {len(result.found):3d} listed {len(result.listed):3d} right {result.right:3d}"
    missed = sorted(set(result.listed) - set(result.found))
    wrong = sorted(set(result.found) - set(result.listed)) if result.listed else []
    return f"{told} {result.seconds:.1f} s  missed {missed[:4]} wrong {wrong[:4]} {result.problem}"


def summary(results: Sequence[Result]) -> dict[str, Any]:
    told = [result for result in results if not result.problem]
    found, listed, right = (
        sum(map(len_or, told)) for len_or in (lambda r: len(r.found), lambda r: len(r.listed), lambda r: r.right)
    )
    return {
        "packages": len(results),
        "asked": len(told),
        "exact": sum(result.found == result.listed for result in told),
        "found": found,
        "listed": listed,
        "right": right,
        "precision": round(right / found, 3) if found else None,
        "recall": round(right / listed, 3) if listed else None,
    }


def report(results: Sequence[Result]) -> dict[str, Any]:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {
        "commit": commit.strip(),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "command": "python bench/packages/tools.py --write bench/results/packages-1.json",
        "seen": summary([result for result in results if result.seen]),
        "not seen": summary([result for result in results if not result.seen]),
        "packages": [
            {**asdict(result), "right": result.right, "missed": sorted(set(result.listed) - set(result.found))}
            for result in results
        ],
    }


if __name__ == "__main__":
    raise SystemExit(main())

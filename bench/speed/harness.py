"""What every measurement of speed shares: turns taken fairly, spreads, the machine's facts, one shape of result."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SERVER = ROOT / "server"
MILLISECONDS, MEGABYTES = "ms", "MB"
_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Row:
    """One figure: its samples, what they are compared with, and the goal that its `judged` percentile has to meet."""

    name: str
    samples: Sequence[float]
    unit: str = MILLISECONDS
    baseline: str = ""
    goal: float | None = None
    judged: str = "p95"


@dataclass
class Section:
    """What one script found out, and under which settings."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def figures(self) -> list[dict[str, Any]]:
        """Return every row as numbers, each with its ratio to its baseline."""
        by_name = {row.name: row for row in self.rows}
        return [_figures(row, by_name.get(row.baseline)) for row in self.rows]


class Skipped(Exception):
    """A measurement that cannot be made here; the message says what it lacks."""


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the smallest sample that at least this share of them do not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def in_turn(cases: Mapping[str, Callable[[], float]], *, runs: int, warmups: int = 2) -> dict[str, list[float]]:
    """Return the samples of cases that take turns, A B C A B C, so that a drifting machine favours none of them."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(warmups + runs):
        for name, case in cases.items():
            value = case()
            if turn >= warmups:
                samples[name].append(value)
    return samples


def milliseconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.perf_counter()
    work()
    return 1000.0 * (time.perf_counter() - start)


def processor_milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long a piece of work takes, and how much processor time: other processes do not lengthen that."""
    used = time.process_time()
    spent = milliseconds(work)
    return spent, 1000.0 * (time.process_time() - used)


def whole_process(command: Sequence[str], *, environment: Mapping[str, str], given: str = "") -> tuple[float, str]:
    """Return how long a process takes from its spawn to its end, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        command, input=given, env=environment, capture_output=True, text=True, check=True, timeout=_PATIENCE_S
    )
    return 1000.0 * (time.perf_counter() - start), done.stdout


def plain_python() -> str:
    """Return the interpreter below the environment: what `python3` is to a client, without a version manager's shim."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def bare_environment(**more: str) -> dict[str, str]:
    """Return the environment that measured processes get: this one less what would change what they do."""
    foreign = ("REPERTOIRE_", "CLAUDE_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, **more}


def run_script(name: str, measure: Callable[[argparse.Namespace], Section], *, runs: int) -> None:
    """Measure as the command line says, print a table, and write the figures where `--json` says.

    Leaves with status 3 where it had to be skipped.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--runs", type=int, default=runs, help=f"turns of each case (default {runs})")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    try:
        section = measure(options)
    except Skipped as why:
        print(f"SKIPPED {name}: {why}", file=sys.stderr)
        sys.exit(3)
    found = {"name": section.name, "settings": section.settings, "figures": section.figures()}
    print(table(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def table(section: Mapping[str, Any]) -> str:
    """Return a section's figures to read."""
    lines = [f"== {section['name']}  {json.dumps(section['settings'])}"]
    lines.append(f"{'':62} {'n':>5} {'min':>8} {'p50':>8} {'p95':>8} {'max':>8}      ratio  goal")
    for row in section["figures"]:
        numbers = " ".join(f"{row[key]:8.1f}" for key in ("min", "p50", "p95", "max"))
        ratio = f"{row['ratio']:6.2f} x" if "ratio" in row else ""
        goal = f"{row['judged']} <= {row['goal']:g}: {'met' if row['met'] else 'MISSED'}" if "goal" in row else ""
        lines.append(f"{row['name']:62} {row['n']:5} {numbers} {row['unit']:2} {ratio:>10}  {goal}".rstrip())
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """Return what the figures depend on beside the code."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else [],
    }


def commit() -> dict[str, Any]:
    """Return which code was measured, and whether the product in it had changes that are in no commit."""
    head = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--", "server", "hooks", "bin")
    return {"commit": head, "uncommitted": len(changed.splitlines())}


def today() -> str:
    """Return the date in UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d")


def _figures(row: Row, baseline: Row | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": row.name,
        "unit": row.unit,
        "n": len(row.samples),
        "min": round(min(row.samples), 3),
        "p50": round(statistics.median(row.samples), 3),
        "p95": round(percentile(row.samples, 0.95), 3),
        "max": round(max(row.samples), 3),
    }
    if baseline is not None:
        told["baseline"] = baseline.name
        told["ratio"] = round(_ratio(row.samples, baseline.samples), 3)
    if row.goal is not None:
        told |= {"goal": row.goal, "judged": row.judged, "met": told[row.judged] <= row.goal}
    return told


def _ratio(samples: Sequence[float], baseline: Sequence[float]) -> float:
    if len(samples) == len(baseline):  # taken in turn: pair by pair, what both suffered cancels out
        return statistics.median(a / b for a, b in zip(samples, baseline, strict=True))
    return statistics.median(samples) / statistics.median(baseline)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()

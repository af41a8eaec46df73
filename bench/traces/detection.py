"""Measures which sessions are offered to be kept, on labelled ones: precision, recall, and offers in quiet sessions.

detection.py FOLDER [--split NAME] [--worst N] [--threshold X]

FOLDER holds JSON lines (`*.jsonl`), a session each: {"id", "split", "solved", "offer_at", "events": [...]}; an event is
what a hook gets: {"hook", "at", "tool_name", "tool_input", "tool_response", "error", "prompt", ...}. `offer_at` is the
place of the Stop at which the offer is due, counted from 0, or its time, or a list of them; it may be missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "server"))

from repertoire.domain.confidence_intervals import wilson  # noqa: E402
from repertoire.learning.checks import is_check  # noqa: E402
from repertoire.learning.shell import commands  # noqa: E402
from repertoire.learning.undoing import undoes  # noqa: E402
from repertoire.traces.attempts import fold  # noqa: E402
from repertoire.traces.detection import DetectionSettings, offered, to_offer, verdict  # noqa: E402
from repertoire.traces.drafting import draft_of  # noqa: E402
from repertoire.traces.invocations import Shell  # noqa: E402
from repertoire.traces.problem import SessionTrace  # noqa: E402
from repertoire.traces.session_codec import dumps, loads  # noqa: E402

SHELL = Shell(commands, is_check, undoes)


@dataclass(frozen=True)
class Outcome:
    """What came of one session."""

    id: str
    split: str
    solved: bool
    offers: tuple[int, ...]  # places of stops
    due: tuple[int, ...]
    told: tuple[str, ...]
    size: int  # bytes of the state at its largest
    slowest: float  # milliseconds of one hook


def main() -> int:
    """Run over all sessions and print what came of them."""
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folder", type=Path)
    args.add_argument("--split", default="")
    args.add_argument("--worst", type=int, default=0, help="print so many sessions that went wrong")
    args.add_argument("--threshold", type=float, default=DetectionSettings().threshold)
    asked = args.parse_args()
    files = [asked.folder] if asked.folder.is_file() else sorted(asked.folder.rglob("*.jsonl"))
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]
    rule = DetectionSettings(threshold=asked.threshold)
    outcomes = [run(session, rule) for session in map(json.loads, lines) if asked.split in ("", session.get("split"))]
    by_split: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_split[outcome.split].append(outcome)
    for split, each in sorted(by_split.items()):
        tell(split or "(no split)", each)
    if len(by_split) > 1:
        tell("all", outcomes)
    wrong = [outcome for outcome in outcomes if outcome.solved != bool(outcome.offers)]
    for outcome in wrong[: asked.worst]:
        print(
            f"  {'missed' if outcome.solved else 'false'} {outcome.id}: {'; '.join(outcome.told) or 'nothing solved'}"
        )
    return 0


def run(told: Mapping[str, Any], rule: DetectionSettings) -> Outcome:
    """Fold a session hook by hook, as the server would, its state written and read again at each stop."""
    session, offers, notes, size, slowest = SessionTrace(), [], [], 0, 0.0
    for place, event in enumerate(told["events"]):
        began = time.perf_counter()
        session = fold(session, event, SHELL)
        slowest = max(slowest, 1000 * (time.perf_counter() - began))
        if event.get("hook", event.get("hook_event_name")) != "Stop":
            continue
        text = dumps(session)
        size, session = max(size, len(text.encode())), loads(text)
        notes = [
            f"{each.part.family} {each.state} {verdict(each, rule).score:g} {', '.join(verdict(each, rule).signs)}"
            for each in session.problems
        ]
        problem = to_offer(session, settings=rule)
        if problem is not None:
            offers.append(place)
            notes = [f"{draft_of(session, problem).title!r}", *notes]
            session = offered(session, problem)
    stops = due(told)
    return Outcome(
        str(told.get("id")),
        str(told.get("split", "")),
        bool(told["solved"]),
        tuple(offers),
        stops,
        tuple(notes),
        size,
        slowest,
    )


def due(told: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the places of the stops at which an offer is due."""
    at = told.get("offer_at")
    wanted = at if isinstance(at, list) else [] if at is None else [at]
    events = told["events"]
    places = [one if isinstance(one, int) and one < len(events) else _at(events, one) for one in wanted]
    return tuple(place for place in places if place is not None)


def _at(events: Sequence[Mapping[str, Any]], at: object) -> int | None:
    return next((place for place, event in enumerate(events) if event.get("at") == at), None)


def tell(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print the figures of a split with their intervals."""
    solved = [each for each in outcomes if each.solved]
    quiet = [each for each in outcomes if not each.solved]
    right = sum(bool(each.offers) for each in solved)
    false = [each for each in quiet if each.offers]
    dated = [each for each in solved if each.offers and each.due]
    prompt = sum(each.offers[0] in each.due for each in dated)
    print(f"{name}: {len(outcomes)} sessions, {len(solved)} solved")
    print(f"  precision {share(right, right + len(false))}   recall {share(right, len(solved))}")
    print(f"  quiet sessions with an offer {share(len(false), len(quiet))}")
    print(f"  at the very stop {share(prompt, len(dated))}   second offers {sum(len(o.offers) > 1 for o in outcomes)}")
    size, slowest = (max((getattr(one, name) for one in outcomes), default=0) for name in ("size", "slowest"))
    print(f"  state {size} bytes, hook {slowest:.1f} ms at most")


def share(part: int, whole: int) -> str:
    """Return a share in percent with its bounds."""
    bounds = wilson(part, whole)
    value = f"{100 * part / whole:.1f}" if whole else "-"
    return f"{value} % ({part} of {whole}; {100 * bounds.low:.1f} to {100 * bounds.high:.1f})"


if __name__ == "__main__":
    raise SystemExit(main())

"""Tell whether the labelled sessions have the form that the README promises; exit 1 and name each that has not.

python bench/traces/sessions/check.py [FOLDER]
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

HERE = Path(__file__).parent
GROUPS = {"hard": 60, "failure": 20, "quiet": 100}
FIELDS = {
    "UserPromptSubmit": ["prompt"],
    "PreToolUse": ["tool_name", "tool_input"],
    "PostToolUse": ["tool_name", "tool_input", "tool_response", "duration_ms"],
    "PostToolUseFailure": ["tool_name", "tool_input", "error", "is_interrupt"],
    "Stop": ["stop_hook_active", "last_assistant_message"],
}
TYPES = {
    "at": {"type": "number", "minimum": 0},
    "cwd": {"type": "string"},
    "prompt": {"type": "string", "minLength": 1},
    "tool_name": {"type": "string", "minLength": 1},
    "tool_input": {"type": "object"},
    "tool_response": {"type": ["object", "array"]},
    "duration_ms": {"type": "integer"},
    "error": {"type": "string", "minLength": 1},
    "is_interrupt": {"type": "boolean"},
    "stop_hook_active": {"type": "boolean"},
    "last_assistant_message": {"type": "string", "minLength": 1},
}
EVENT = {
    "oneOf": [
        {
            "properties": {"hook_event_name": {"const": name}, **TYPES},
            "required": ["hook_event_name", "at", "cwd", *fields],
            "additionalProperties": False,
        }
        for name, fields in FIELDS.items()
    ]
}
SESSION = {
    "type": "object",
    "properties": {
        "id": {"pattern": "^(hard|failure|quiet)-[0-9]{3}$"},
        "group": {"enum": list(GROUPS)},
        "kind": {"type": "string", "minLength": 1},
        "split": {"enum": ["dev", "test"]},
        "solved": {"type": "boolean"},
        "offer_at": {"type": ["integer", "null"]},
        "also_at": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        "why": {"type": "string", "minLength": 1},
        "events": {"type": "array", "items": EVENT, "minItems": 5, "maxItems": 80},
    },
    "required": ["id", "group", "kind", "split", "solved", "offer_at", "why", "events"],
    "additionalProperties": False,
}


def read(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for group in GROUPS for line in (folder / f"{group}.jsonl").open(encoding="utf-8")]


def label_faults(session: dict[str, Any]) -> Iterator[str]:
    due = [at for at in (session["offer_at"], *session.get("also_at", [])) if at is not None]
    events = session["events"]
    if session["solved"] != (session["group"] == "hard") or session["solved"] != bool(due):
        yield "group, solved and offer_at disagree"
    if any(not 0 <= at < len(events) or events[at]["hook_event_name"] != "Stop" for at in due):
        yield "an offer is due where no turn ends"
    times = [event["at"] for event in events]
    if times != sorted(times):
        yield "events are not in the order of their times"
    if events[-1]["hook_event_name"] != "Stop":
        yield "the last turn does not end"


def faults(sessions: list[dict[str, Any]]) -> Iterator[str]:
    form = Draft202012Validator(SESSION)
    for session in sessions:
        wrong = [f"{error.json_path}: {error.message[:200]}" for error in form.iter_errors(session)]
        yield from (f"{session.get('id')}: {one}" for one in wrong or label_faults(session))
    ids = Counter(session["id"] for session in sessions)
    yield from (f"{name}: {count} sessions have this id" for name, count in ids.items() if count > 1)
    halves = Counter((session["group"], session["split"]) for session in sessions)
    for group, size in GROUPS.items():
        if {halves[group, "dev"], halves[group, "test"]} != {size // 2}:
            yield f"{group}: not {size // 2} in each half"


if __name__ == "__main__":
    found = list(faults(read(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)))
    print("\n".join(found) or f"{sum(GROUPS.values())} sessions, no fault")
    sys.exit(bool(found))

"""Whatever hooks tell, the fold takes it: it never raises, stays small, and is the same after a detour through JSON."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repertoire.traces.attempts import fold
from repertoire.traces.detection import to_offer
from repertoire.traces.drafting import draft_of
from repertoire.traces.known_failures import fact, failed_before
from repertoire.traces.problem import OPEN, SOLVED, SessionTrace
from repertoire.traces.session_codec import MOST, dumps, loads
from traces.story import BEGUN, PASSED, SHELL, Story, pytest_failed

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
COMMANDS = (
    "pytest", "npm test 2>&1 | tail", "cd a && make build", "git stash", "git checkout -- a.py", "rm -rf x", "grep x y",
    "A=1 docker build .", "pip install x==1", "python - <<'E'\nopen('a','w')\nE", "for i in 1; do npm test; done", "'",
    "|", "&& &&",
)  # fmt: skip
command = st.sampled_from(COMMANDS) | st.text(max_size=60)
printed = st.sampled_from([pytest_failed(), "", "Error: Cannot find module 'x'", "2 failed"]) | st.text(max_size=200)
side = st.sampled_from(["x = 1", "x = 2", "x = 3\ny = 4", ""]) | st.text(max_size=60)
file = st.sampled_from(["a.py", "tests/test_a.py", "package.json"]) | st.text(max_size=20)


def used(tool: str, **given: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "hook": st.sampled_from(["PostToolUse", "PostToolUseFailure"]),
            "tool_name": st.just(tool),
            "tool_input": st.fixed_dictionaries(given),
            "tool_response": st.fixed_dictionaries({"stdout": printed}),
            "error": printed,
        }
    )


told = st.one_of(
    used("Bash", command=command),
    used("Edit", file_path=file, old_string=side, new_string=side),
    used("Write", file_path=file, content=side),
    used("WebSearch", query=side),
    st.just({"hook": "Stop"}),
    st.fixed_dictionaries(
        {},
        optional={
            "hook": st.sampled_from(["PostToolUse", "PostToolUseFailure", "Stop"]) | anything,
            "tool_name": st.sampled_from(["Bash", "Edit", "Write", "MultiEdit", "mcp__x__search"]) | anything,
            "tool_input": anything
            | st.dictionaries(st.sampled_from(["command", "file_path", "edits", "content", "query"]), anything),
            "tool_response": anything,
            "error": anything,
            "at": anything,
            "is_interrupt": anything,
        },
    ),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(told, max_size=25))
def test_no_sequence_of_hooks_raises_or_loses_anything_in_json(events: list[dict[str, Any]]):
    session = SessionTrace()
    for at, event in enumerate(events):
        session = fold(session, {"at": BEGUN + at, **event}, SHELL)
    assert loads(dumps(session)) == session
    for problem in session.problems:
        draft = draft_of(session, problem)
        assert len(draft.title) <= 120
        assert max(len(draft.context), len(draft.solution)) <= 4_000
    to_offer(session)
    for failure in session.failed:
        assert "\n" not in fact(failure, BEGUN)
    failed_before(session, "pytest", SHELL, BEGUN)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200) | anything.map(json.dumps))
def test_what_is_no_state_begins_anew(text: str):
    assert isinstance(loads(text), SessionTrace)


def test_a_state_stays_small_however_long_the_session_and_whatever_the_characters():
    story = Story()
    for number in range(60):
        odd = '\U0001f600"\\\n' * 2_000 + str(number)
        story.fails(f"pytest tests/test_{number % 7}.py -k '{odd[:300]}'", pytest_failed(error=f"KeyError: '{odd}'"))
        for part in range(4):
            story.edits(f"src/{odd[:100]}/{part}.py", odd, odd[:5_000] + f"{number}{part}")
        story.passes(f"npm install 'x{number}{odd[:50]}'", odd).searches(odd)
    assert len(dumps(story.session).encode()) <= MOST
    assert loads(dumps(story.session)).problems


def test_what_passes_or_is_tried_in_another_project_solves_nothing_here():
    here, there = {"place": "/srv/shop"}, {"place": "/srv/kiln", "outside": True}
    story = Story()
    for _ in range(3):
        story.fails("pytest", pytest_failed(), **here).edits("src/pay.py")
    story.told("cd ../kiln && pip install attrs", **there).told("cd ../kiln && pytest", PASSED, **there)
    story.fails("cd ../kiln && pytest", pytest_failed(error="OSError: kiln"), **there)
    mine, other = story.session.problems
    assert mine.state == OPEN
    assert "kiln" not in " ".join((*mine.commands, *mine.attempts, *mine.pending.lines))
    assert other.folder == "/srv/kiln"
    story.told("cd web && pytest", PASSED, place="/srv/shop/web")
    assert story.session.problems[0].state == SOLVED


def test_what_the_client_sends_as_json_text_is_read_as_the_object_it_is():
    story = Story()
    for number in range(3):
        story.hook("PostToolUseFailure", "Bash", json.dumps({"command": "pytest"}), error=pytest_failed())  # type: ignore[arg-type]
        edit = {"file_path": "a.py", "old_string": f"x = {number}", "new_string": f"x = {number + 1}"}
        story.hook("PostToolUse", "Edit", json.dumps(edit))  # type: ignore[arg-type]
    passed = json.dumps({"stdout": "5 passed", "interrupted": False})
    story.hook("PostToolUse", "Bash", json.dumps({"command": "pytest"}), tool_response=passed)  # type: ignore[arg-type]
    assert story.stops() is not None

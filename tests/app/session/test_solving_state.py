"""What fails in a session is known to the process that goes on with it, and no longer once it has passed."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from repertoire.app.clock import now
from repertoire.app.session.solving import SolvingSessions
from repertoire.app.session.solving_state import SolvingStates
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import Moment
from repertoire.traces.problem import Failure, SessionTrace


def test_a_command_that_passed_since_is_no_failure_to_the_next_process(tmp_path: Path) -> None:
    states = SolvingStates(tmp_path, read_only=False)
    states.put("s1", "/p", SessionTrace(failed=(Failure("pytest", "pytest", "assert 1 == 2", 1.0),)))
    assert SolvingStates(tmp_path, read_only=False).get("s1").failed
    states.put("s1", "/p", SessionTrace())
    assert not SolvingStates(tmp_path, read_only=False).get("s1").failed


def test_nothing_is_written_of_a_session_in_which_nothing_fails(tmp_path: Path) -> None:
    SolvingStates(tmp_path, read_only=False).put("s1", "/p", SessionTrace(languages=("python",)))
    assert not list(tmp_path.rglob("*"))


def test_no_value_of_a_file_that_holds_secrets_is_kept_and_none_of_the_error_is_proposed(tmp_path: Path) -> None:
    token, values = f"ghp_{'aB3' * 12}", [f"value-{number}-of-zither" for number in range(4)]
    failed = {"hook": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    failed["error"] = f"Exit code 1\nTypeError: bad login of {token}"
    passed = {"hook": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    passed["tool_response"] = {"stdout": "3 passed in 0.10s"}
    with open_repertoire(tmp_path, environment={}) as repertoire:
        sessions, moment = SolvingSessions(repertoire), Moment(now(), "s1", "/srv/shop")
        steps: list[Mapping[str, object]] = []
        for old, new in pairwise(values):
            edit = {"file_path": "/srv/shop/.env.local", "old_string": old, "new_string": new}
            steps += [failed, {"hook": "PostToolUse", "tool_name": "Edit", "tool_input": edit}]
        write = {"file_path": "/srv/shop/id_rsa", "content": values[0]}
        steps += [failed, {"hook": "PostToolUse", "tool_name": "Write", "tool_input": write}, passed, {"hook": "Stop"}]
        for step in steps:
            sessions.hear(step, moment)
        (held,) = (tmp_path / "unwritten").glob("session-*")
        proposal, _ = sessions.proposal(moment)
    assert "zither" not in held.read_text()
    assert ".env.local" in held.read_text()
    assert proposal is not None
    assert "bad login of [secret]" in proposal.title
    assert "zither" not in f"{proposal.told.solution}{proposal.told.context}"

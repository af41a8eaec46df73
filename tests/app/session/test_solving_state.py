"""What fails in a session is known to the process that goes on with it, and no longer once it has passed."""

from __future__ import annotations

from pathlib import Path

from repertoire.app.session.solving_state import SolvingStates
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

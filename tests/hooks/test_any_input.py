"""Any standard input: the session hook ends with status 0, in time, and prints hook JSON or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from anything import ANY_TEXT, ANYTHING, profile
from sample_home import filled_home

HOOK = Path(__file__).parents[2] / "hooks" / "session_start.py"
PATIENCE_S = 20  # its own deadline is 1 s after Python has started; a busy machine starts Python late
FIELDS = ("session_id", "cwd", "source", "hook_event_name", "transcript_path", "model", "permission_mode")
SOURCES = st.sampled_from(["startup", "resume", "clear", "compact", "fork", "", "other"])


def test_no_input_makes_the_session_hook_fail(tmp_path: Path) -> None:
    home, project = filled_home(tmp_path / "home"), tmp_path / "project"
    project.mkdir()
    (project / "requirements.txt").write_text("psycopg==3.2\nfastapi==0.115.0\n")
    folders = st.one_of(st.just(str(project)), st.sampled_from(["/a\x00b", "\ud800", "~root", "/"]), ANY_TEXT)
    told = st.one_of(
        st.fixed_dictionaries(
            {"cwd": folders, "source": SOURCES}, optional={"session_id": ANY_TEXT, "hook_event_name": ANY_TEXT}
        ),
        st.dictionaries(st.sampled_from(FIELDS), ANYTHING),
        ANYTHING,
    )
    inputs = st.one_of(told.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60))

    @profile(10)
    @given(inputs)
    @example(b"\xff\xfe")
    @example(b"[" * 100_000)
    @example(json.dumps({"cwd": str(project), "source": "startup", "session_id": "\ud800"}).encode())
    def answers(sent: bytes) -> None:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK)],
            input=sent,
            env={"HOME": str(tmp_path), "REPERTOIRE_HOME": str(home)},
            cwd=project,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        if done.stdout:
            output = json.loads(done.stdout.decode())
            assert output["hookSpecificOutput"]["hookEventName"] == "SessionStart"
            assert output["hookSpecificOutput"]["additionalContext"]

    answers()

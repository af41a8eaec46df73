"""What is used in a session is recorded and shown by status; several sessions share one file."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from client.api_stub import Reply, Script, ToolUse
from client.belongings import A_PROMPT_THAT_NEEDS_ONE, AGENT, CHIT_CHAT, COMMAND, SKILL
from client.graph_tools import ask
from client.machine import Machine

pytestmark = pytest.mark.client

USE_SKILL = ToolUse("Skill", {"skill": SKILL})
USE_AGENT = ToolUse(
    "Agent",
    {"description": "audit", "prompt": "audit the ledger", "subagent_type": AGENT, "run_in_background": False},
)


def test_before_anything_is_used_status_names_none_of_it(regular: Machine) -> None:
    status = ask(regular, "status")
    assert not [name for name in (SKILL, AGENT, COMMAND) if name in status]


@pytest.mark.parametrize(("used", "name"), [(USE_SKILL, SKILL), (USE_AGENT, AGENT)])
def test_a_component_that_the_model_uses_is_recorded_and_shown(regular: Machine, used: Reply, name: str) -> None:
    session = regular.session(CHIT_CHAT, script=Script([used, "Done."], agent=["Audited."]))
    assert session.results == ["Done."]
    assert name in ask(regular, "status")


def test_a_slash_command_that_the_user_types_is_recorded_and_shown(regular: Machine) -> None:
    session = regular.session(f"/{COMMAND} 2.0")
    assert "Write the notes of release 2.0." in session.main_requests[0].text
    assert COMMAND in ask(regular, "status")


def test_status_shows_what_was_suggested(regular: Machine) -> None:
    regular.answered_session(A_PROMPT_THAT_NEEDS_ONE)
    assert SKILL in ask(regular, "status")


def test_what_a_check_printed_and_an_edit_put_back_tell_how_it_went(regular: Machine) -> None:
    file = regular.project / "total.txt"
    file.write_text("one\n")
    read = ToolUse("Read", {"file_path": str(file)})
    there, back = (
        {"file_path": str(file), "old_string": old, "new_string": new} for old, new in (("one", "two"), ("two", "one"))
    )
    piped = ToolUse("Bash", {"command": "bash scripts/test.sh | tail -1", "description": "check"})
    scripts = regular.project / "scripts"
    scripts.mkdir(exist_ok=True)
    (scripts / "test.sh").write_text("echo 3 passed in 0.1s\n")
    script = Script([USE_SKILL, read, ToolUse("Edit", there), piped, "Done.", ToolUse("Edit", back), "Done."])
    granted = ("--allowedTools", "Bash", "Skill", "Read", "Edit")
    regular.session(CHIT_CHAT, "now set the total back to one", script=script, args=granted)
    database = Path(regular.env["REPERTOIRE_HOME"]) / "repertoire.db"
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        kinds = [kind for (kind,) in connection.execute("SELECT kind FROM event ORDER BY id")]
    assert [kind for kind in kinds if kind in ("selected", "checked", "undone")] == ["selected", "checked", "undone"]


def test_two_sessions_at_once_lose_nothing(regular: Machine) -> None:
    scripts = [Script([USE_SKILL, "Done."]), Script([USE_AGENT, "Done."], agent=["Audited."])]
    with ThreadPoolExecutor(len(scripts)) as pool:
        sessions = list(pool.map(lambda script: regular.session(CHIT_CHAT, CHIT_CHAT, script=script), scripts))
    for session in sessions:
        assert session.returncode == 0
        assert [run["outcome"] for run in session.hook_runs("PostToolUse")] == ["success"]
    status = ask(regular, "status")
    assert SKILL in status
    assert AGENT in status

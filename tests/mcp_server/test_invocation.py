"""A component is offered and recorded under the name that starts it; what only a person can start is told as such."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from mcp_server.talk import Talk, ask, events_of, text_of
from repertoire.domain.component import SourceInfo
from repertoire.domain.event import SELECTED
from repertoire.domain.invocation import MATCHED, MODEL, NOBODY, PERSON, REFUSED
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of

pytestmark = pytest.mark.anyio

PROMPT = "Fill in the fields of these PDF tax forms with the values from the spreadsheet"
PDF = f"{SOURCE.key}:skills/pdf-forms.md"


def start_by(home: Path, invocation: str) -> None:
    """Let the skill for forms lie in a folder of another name, and be started by these alone."""
    with closing(apsw.Connection(str(home / "repertoire.db"))) as db:
        db.execute(
            """UPDATE component SET path = 'skills/tax-forms/SKILL.md', invocation = ?
               WHERE node_id = (SELECT id FROM node WHERE key = ?)""",
            (invocation, PDF),
        )
        db.execute("UPDATE node SET key = replace(key, 'pdf-forms.md', 'tax-forms/SKILL.md') WHERE key = ?", (PDF,))


@pytest.mark.parametrize(
    ("invocation", "told"),
    [
        ("", "- tax-forms (skill, installed): Fills"),
        (MODEL, "- tax-forms (skill, installed): Fills"),
        (PERSON, "- tax-forms (skill, installed; only the person can start it, with /tax-forms): Fills"),
        (NOBODY, ""),
        (MATCHED, ""),
    ],
)
async def test_a_hint_names_it_as_the_client_does_and_says_who_alone_can_start_it(
    talk: Talk, home: Path, invocation: str, told: str
) -> None:
    start_by(home, invocation)
    async with talk() as client:
        explained = await ask(client, "explain_component", id="tax-forms", task=PROMPT)  # the model is loaded by it
        hint = text_of(await client.call_tool("hook_prompt", {"prompt": PROMPT, "session_id": "s1", "cwd": "/project"}))
        found = await ask(client, "recommend_set", task=PROMPT)
    assert (told in hint) if told else hint == "{}"
    assert ("tax-forms (skill, installed)" in found) == (invocation != NOBODY)
    assert ("only a person can start it, with /tax-forms" in found) == (invocation == PERSON)
    assert "started as: tax-forms" in explained
    assert ("only the model can start it" in explained) == (invocation == MODEL)
    assert ("neither a person nor the model can start it" in explained) == (invocation == NOBODY)
    assert ("can be started only once" in found) == ("can be started only once" in explained) == (invocation == MATCHED)


async def test_its_use_is_recorded_under_either_name(talk: Talk, home: Path) -> None:
    start_by(home, "")
    async with talk() as client:
        for session, name in (("s1", "tax-forms"), ("s2", "pdf-forms")):
            use = {"tool_name": "Skill", "tool_input": json.dumps({"skill": name})}
            await client.call_tool("hook_used", {**use, "session_id": session, "cwd": "/project"})
        await ask(client, "status")
    assert [event.node for event in events_of(home, SELECTED)] == [
        PDF.replace("pdf-forms.md", "tax-forms/SKILL.md")
    ] * 2


async def test_its_use_is_recorded_of_the_project_in_which_it_is_used(talk: Talk, home: Path) -> None:
    path = ".claude/skills/sorter/SKILL.md"
    with Store.open(home / "repertoire.db") as store:
        for folder in ("/other", "/project", "/third"):
            source = SourceInfo(f"project:{folder}", "project", folder)
            sorter = component("skill", "sorter", f"Sorts {folder}.", path=path, installed=True)
            record = record_of(replace(sorter, id=f"{source.key}:{path}"))
            store.sources.write(source, [record], [], derived=[], now=NOW)
    async with talk() as client:
        use = {"tool_name": "Skill", "tool_input": json.dumps({"skill": "sorter"}), "session_id": "s1"}
        await client.call_tool("hook_used", {**use, "cwd": "/project"})
        await ask(client, "status")
    assert [event.node for event in events_of(home, SELECTED)] == [f"project:/project:{path}"]


@pytest.mark.parametrize(
    "settings",
    [{"enabledPlugins": {"kit@box": False}}, {"permissions": {"deny": ["Skill(kit:*)"]}}],
)
async def test_what_the_projects_settings_turn_off_or_deny_is_offered_in_other_projects_and_told_as_such_here(
    talk: Talk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, object]
) -> None:
    with closing(apsw.Connection(str(home / "repertoire.db"))) as db:
        set_plugin = "UPDATE component SET plugin = 'kit', marketplace = 'box' WHERE path = 'skills/pdf-forms.md'"
        db.execute(set_plugin)
    (tmp_path / "shop" / ".claude").mkdir(parents=True)
    (tmp_path / "shop" / ".claude" / "settings.json").write_text(json.dumps(settings))
    for project, offered in ((tmp_path / "shop", False), (tmp_path, True)):
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
        async with talk() as client:
            assert ("pdf-forms" in await ask(client, "recommend_set", task=PROMPT)) == offered
            found = await ask(client, "search_components", query="pdf forms")
            explained = await ask(client, "explain_component", id="pdf-forms", task=PROMPT)
        assert "pdf-forms (skill, installed)" in found
        assert (found.count(REFUSED), explained.count(REFUSED)) == ((0, 0) if offered else (1, 2))
        assert ("in the set: no, settings deny it" in explained) != offered


async def test_what_another_of_its_name_is_started_for_is_in_no_set_and_told_so(talk: Talk, home: Path) -> None:
    source = SourceInfo("project:/project", "project", "/project")
    path = ".claude/commands/pdf-forms.md"
    command = component("command", "pdf-forms", "Fills the fields of PDF tax forms.", path=path, installed=True)
    with Store.open(home / "repertoire.db") as store:
        record = record_of(replace(command, id=f"{source.key}:{path}"))
        store.sources.write(source, [record], [], derived=[], now=NOW)
    async with talk() as client:
        explained = await ask(client, "explain_component", id=f"{source.key}:{path}", task=PROMPT)
    assert "in the set: no, Claude Code starts another one that is installed under the same name" in explained


async def test_what_would_be_denied_once_it_is_installed_is_in_no_set_either(
    talk: Talk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    form_writer = component("skill", "form-writer", "Fills the fields of PDF tax forms.", path="skills/new.md")
    with Store.open(home / "repertoire.db") as store:
        source = SourceInfo("folder:/other", "folder", "/other")
        record = record_of(replace(form_writer, id="folder:/other:skills/new.md"))
        store.sources.write(source, [record], [], derived=[], now=NOW)
    (tmp_path / ".claude").mkdir()
    for rule, denied in (("Skill(form-reader)", False), ("Skill(form-writer)", True)):
        (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"permissions": {"deny": [rule]}}))
        monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
        async with talk() as client:
            found = await ask(client, "search_components", query="pdf forms")
            explained = await ask(client, "explain_component", id="form-writer", task=PROMPT)
        assert "form-writer (skill, available)" in found
        assert (found.count(REFUSED), "in the set: no, settings deny it" in explained) == (denied, denied)

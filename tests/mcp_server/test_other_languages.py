"""Other languages through the server: what is asked and what is prompted is read, and small talk needs nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_server.talk import Talk, ask, events_of, load_model, text_of
from repertoire.learning.outcomes import trials

pytestmark = pytest.mark.anyio


async def hinted(talk: Talk, text: str) -> str:
    """Return what the model is told of a prompt."""
    async with talk() as client:
        await load_model(client)
        result = await client.call_tool("hook_prompt", {"prompt": text, "session_id": "s1", "cwd": "/project"})
    return str(json.loads(text_of(result)).get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.mark.parametrize(
    "text",
    [
        "Fülle die Felder dieser PDF-Steuerformulare mit den Werten aus der Tabelle aus",
        "このPDFフォームの項目に表計算の値を入力してください",
        "заполни поля в этих формах PDF значениями из таблицы",
    ],
)
async def test_a_prompt_is_told_of_what_it_needs(talk: Talk, text: str) -> None:
    assert "- pdf-forms (skill, installed): " in await hinted(talk, text)


@pytest.mark.parametrize(
    "text",
    ["danke, das sieht gut aus, mach weiter", "sim, pode fazer", "спасибо, отлично, продолжай", "谢谢 很好 继续"],
)
async def test_small_talk_hears_nothing(talk: Talk, text: str) -> None:
    assert await hinted(talk, text) == ""


async def test_a_task_is_answered_and_said_to_be_read_word_by_word(talk: Talk) -> None:
    async with talk() as client:
        told = await ask(client, "recommend_set", task="remplis les champs des formulaires PDF depuis un tableur")
    assert "pdf-forms (skill, installed)" in told
    assert "Note: read from French word by word, as: fill input field form PDF from spreadsheet" in told


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ("Fülle die Felder dieser PDF-Steuerformulare aus der Tabelle aus", "Das hat leider nicht geholfen."),
        ("このPDFフォームの項目に値を入力してください", "役に立ちませんでした"),
        ("用表格里的数值填写这些 PDF 表单的字段", "这没有帮助"),
        ("rellena los campos de estos formularios PDF con la hoja de cálculo", "eso no ayudó, prueba otra cosa"),
        ("заполни поля в этих формах PDF значениями из таблицы", "не помогло"),
    ],
)
async def test_a_use_that_did_not_help_is_heard(talk: Talk, home: Path, request_: str, complaint: str) -> None:
    same = {"session_id": "s1", "cwd": "/project"}
    async with talk() as client:
        await load_model(client)
        await client.call_tool("hook_prompt", {"prompt": request_, **same})
        used = {"tool_name": "Skill", "tool_input": json.dumps({"skill": "pdf-forms"})}
        await client.call_tool("hook_used", {**used, **same})
        await client.call_tool("hook_stop", same)
        answer = await client.call_tool("hook_prompt", {"prompt": complaint, **same})
        await ask(client, "status")
    [trial] = [trial for trial in trials(events_of(home)) if trial.selected_at]
    assert (trial.outcome, trial.because) == ("failed", "the next prompt corrected it")
    assert text_of(answer) == "{}"

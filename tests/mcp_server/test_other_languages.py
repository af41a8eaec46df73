"""Other languages through the server: what is asked and what is prompted is read, and small talk needs nothing."""

from __future__ import annotations

import json

import pytest

from mcp_server.talk import Talk, ask, text_of

pytestmark = pytest.mark.anyio


async def hinted(talk: Talk, text: str) -> str:
    """Return what the model is told of a prompt."""
    async with talk() as client:
        await client.call_tool(
            "hook_prompt", {"prompt": text, "session_id": "s0", "cwd": "/project"}
        )  # loads the model
        await ask(client, "search_components", query="fill PDF forms")
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

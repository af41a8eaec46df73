"""Settings that are invalid: a tool refuses and says what is wrong, and hooks go on with the valid ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_server.talk import Talk, ask, events_of, refused, text_of
from repertoire.domain.event import ASKED

pytestmark = pytest.mark.anyio

PROMPT = "Fill in the fields of these PDF tax forms with the values from the spreadsheet"
ASKING = {"prompt": PROMPT, "session_id": "s1", "cwd": "/project"}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('{"hint": true}', "unknown settings hint; known are model, "),
        ("[" * 100_000, "settings.json cannot be read as JSON"),
        ('{"threads": "%s"}' % ("9" * 5_000), "setting threads (REPERTOIRE_THREADS) is"),
        ('{"threads": "\u00b2"}', "setting threads (REPERTOIRE_THREADS) is '\u00b2'; it takes a whole"),
        ('{"threads": 0}', "setting threads (REPERTOIRE_THREADS) is 0; it takes a whole number of at least 1"),
        ('{"hint_limit": 9}', "setting hint_limit (REPERTOIRE_HINT_LIMIT) is 9; it takes a whole number from 1 to 3"),
        ('{"hint_limit": 0}', "it takes a whole number from 1 to 3"),
        ('{"query_ms": -1}', "it takes a whole number"),
        ('["hints"]', "settings.json is not a JSON object; mend or delete it"),
        ('{"hints": ', "settings.json cannot be read as JSON"),
    ],
)
async def test_bad_settings_are_told_in_words(talk: Talk, home: Path, settings: str, told: str) -> None:
    (home / "settings.json").write_text(settings, encoding="utf-8")
    async with talk() as client:
        assert told in await refused(client, "status")
        assert told in await refused(client, "mute", target="pdf-forms")


async def test_settings_that_a_windows_editor_wrote_are_read(talk: Talk, home: Path) -> None:
    (home / "settings.json").write_text('{"hints": false}', encoding="utf-8-sig")
    async with talk() as client:
        assert "hints: off" in await ask(client, "status")


@pytest.mark.parametrize("wrong", ['"hintz": true', '"hint_limit": 9', '"store_prompts": "none"'])
async def test_hooks_go_on_beside_an_invalid_setting_and_keep_no_prompt(talk: Talk, home: Path, wrong: str) -> None:
    (home / "settings.json").write_text(f"{{{wrong}}}", encoding="utf-8")
    async with talk() as client:
        assert "pdf-forms" in text_of(await client.call_tool("hook_prompt", ASKING))
        (home / "settings.json").write_text("{}", encoding="utf-8")
        await ask(client, "status")  # what was mended holds at once
    assert [event.data for event in events_of(home, ASKED)] == [{}]


async def test_the_valid_settings_hold_beside_an_invalid_one(talk: Talk, home: Path) -> None:
    (home / "settings.json").write_text('{"hintz": 1, "hints": false}', encoding="utf-8")
    async with talk() as client:
        assert json.loads(text_of(await client.call_tool("hook_prompt", ASKING))) == {}
        (home / "settings.json").write_text('{"hintz": 1, "store_prompts": "redacted"}', encoding="utf-8")
        await refused(client, "status")
        (home / "settings.json").write_text('{"store_prompts": "redacted"}', encoding="utf-8")
        assert "pdf-forms" in text_of(await client.call_tool("hook_prompt", ASKING))
        await ask(client, "status")
    assert PROMPT in [event.data.get("prompt") for event in events_of(home, ASKED)]

"""What an administrator's settings do not allow is in no set and no hint, and a search tells so."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from mcp_server.talk import Talk, ask, text_of
from repertoire.domain.invocation import REFUSED
from repertoire.sources import client_files

pytestmark = pytest.mark.anyio

PROMPT = "Fill in the fields of these PDF tax forms with the values from the spreadsheet"


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("repository", ["o/box", "o/another"])
async def test_what_comes_from_a_marketplace_that_is_not_allowed_is_not_offered(
    talk: Talk, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str, installed: bool
) -> None:
    with closing(apsw.Connection(str(home / "repertoire.db"))) as db:
        lines = json.dumps(["/plugin marketplace add o/box", "/plugin install kit@box"])
        set_plugin = """UPDATE component SET plugin = 'kit', marketplace = 'box', installed = ?, install = ?,
            repository = 'github.com/o/box' WHERE path = 'skills/pdf-forms.md'"""
        db.execute(set_plugin, (installed, "[]" if installed else lines))
    managed, allowed = tmp_path / "managed", repository == "o/box"
    managed.mkdir()
    rules = {"strictKnownMarketplaces": [{"source": "github", "repo": repository}]}
    (managed / "managed-settings.json").write_text(json.dumps(rules))
    monkeypatch.setattr(client_files, "MANAGED", managed)
    async with talk() as client:
        found = await ask(client, "search_components", query="pdf forms")
        explained = await ask(client, "explain_component", id="pdf-forms", task=PROMPT)
        chosen = await ask(client, "recommend_set", task=PROMPT)
        hint = text_of(await client.call_tool("hook_prompt", {"prompt": PROMPT, "session_id": "s1", "cwd": "/project"}))
    assert ("pdf-forms" in chosen) == allowed
    first = found[: found.index("\n2. ")]
    assert "pdf-forms (skill" in first
    assert (REFUSED in first) == (not allowed)
    assert ("/plugin install kit@box" in first) == (allowed and not installed)
    assert ("in the set: no, an administrator's settings do not allow the marketplace box" in explained) != allowed
    assert allowed or "pdf-forms" not in hint

"""The page for those who know Graph Memory is true: each of its 70 calls is answered, and does what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.projects.small_project import FILES, begin, read, write
from mcp_server.talk import Talk, ask

pytestmark = pytest.mark.anyio
PAGE = Path(__file__).resolve().parents[2] / "docs" / "graph-memory.md"
ROW = re.compile(r"^\| `(\w+)` \| `(\w+) (\{.*\})` \|$", re.MULTILINE)
ENTRIES = {
    "epic": {"kind": "epic", "title": "A kiln for pots", "tags": ["kiln"]},
    "task": {"kind": "task", "title": "Turn a pot", "epic": "{epic}", "about": ["kiln/clay.py"]},
    "other_task": {"kind": "task", "title": "Sell the pot"},
    "note": {"kind": "note", "title": "Weigh clay", "tags": ["clay"], "about": ["weigh", "kiln/clay.py"]},
    "other_note": {"kind": "note", "title": "Clay comes from the pit"},
    "procedure": {"kind": "procedure", "title": "Fire", "steps": ["heat"], "tags": ["clay"], "about": ["kiln/clay.py"]},
}


@pytest.fixture
def kiln(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> Path:
    root = write(tmp_path / "kiln-project", {**FILES, "USE.md": "# Use of the kiln\n\n```python\nfire()\n```\n"})
    with begin(home, root) as memory:
        read(memory)
    environment["CLAUDE_PROJECT_DIR"] = str(root)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(root))
    return root


def filled(call: str, ids: dict[str, str]) -> dict[str, object]:
    for name, key in ids.items():
        call = call.replace(f"{{{name}}}", key)
    return json.loads(call)


async def test_every_call_of_the_page_is_answered(talk: Talk, kiln: Path) -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len({tool for tool, *_ in rows}) == 70
    ids: dict[str, str] = {}
    async with talk() as client:
        for tool, name, call in rows:
            if not ids:
                for entry, fields in ENTRIES.items():
                    said = await ask(client, "memory_save", **filled(json.dumps(fields), ids))
                    ids[entry] = said.split()[1]
                await ask(client, "memory_link", id=ids["note"], relation="relates_to", target=ids["other_note"])
            answer = await ask(client, name, **filled(call, ids))
            assert answer, tool
            assert "Nothing" not in answer, (tool, answer)
            if name in ("memory_save", "memory_move", "memory_link", "memory_delete"):
                gone = {key for key in ids.values() if f"deleted: {key}" not in answer}
                await ask(client, "memory_delete", ids=sorted(gone))
                ids = {}


async def test_a_procedure_that_was_followed_comes_before_one_that_fits_as_well(talk: Talk, kiln: Path) -> None:
    async with talk() as client:
        for title in ("Fire the red pots", "Fire the blue pots"):
            await ask(client, "memory_save", kind="procedure", title=title, steps=["heat", "cool"])
        found = await ask(client, "memory_search", query="fire pots", kinds=["procedure"])
        last = re.findall(r"procedure:[0-9a-f]{12}", found)[-1]
        for _ in range(3):
            await ask(client, "memory_save", id=last, used=True)
        found = await ask(client, "memory_search", query="fire pots", kinds=["procedure"])
        assert re.findall(r"procedure:[0-9a-f]{12}", found)[0] == last

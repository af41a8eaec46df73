"""Keeping a trace asks the person in a form where the client shows forms, and shows a draft with a token elsewhere."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData

from mcp_server.talk import COMMAND, ask, events_of
from mcp_server.test_process import ROOT
from repertoire.domain.event import CONTRIBUTED, PROPOSED
from repertoire.domain.trace import ACTIVE, DRAFT
from repertoire.store.database import Store

pytestmark = pytest.mark.anyio

PRINTED = "File \"/home/ana/shop/totals.py\", line 41, in total\nKeyError: 'net'"
SAID = {
    "title": "Totals fail with a KeyError",
    "context": f"The totals stopped working.\n{PRINTED}",
    "solution": "Read amount_net; API_KEY=sk-proj-abcdefghijklmnop1234567890 is needed.",
}


class Person:
    """Somebody who answers forms in one way."""

    def __init__(self, action: str, **content: Any) -> None:
        self.answer, self.forms = ElicitResult(action=action, content=content or None), list[ElicitRequestParams]()

    async def __call__(self, _: ClientRequestContext, asked: ElicitRequestParams) -> ElicitResult | ErrorData:
        self.forms.append(asked)
        return self.answer


@asynccontextmanager
async def connected(
    environment: dict[str, str], project: Path, person: Person | None = None, mode: str = "legacy"
) -> AsyncIterator[Client]:
    """Connect the SDK's client over stdio; with a person it declares that it shows forms."""
    surroundings = {**environment, "PYTHONPATH": str(ROOT / "server"), "HOME": str(project)}
    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=surroundings, cwd=project)
    async with Client(parameters, elicitation_callback=person, mode=mode) as client:
        yield client


def statuses(home: Path) -> list[str]:
    with Store.open(home / "repertoire.db") as store:
        return [trace.status for trace in store.traces.all()]


async def test_a_person_sees_the_redacted_draft_in_a_form_and_agrees(
    environment: dict[str, str], home: Path, tmp_path: Path
) -> None:
    person = Person("accept", keep=True)
    async with connected(environment, tmp_path, person) as client:
        said = await ask(client, "contribute_trace", **SAID)
        kept = re.findall(r"Kept: (trace:\w+)", said)[0]
        await ask(client, "amend_trace", id=kept, solution="Read amount_net first.")
    first, second = (form.message for form in person.forms)
    assert "KeyError: 'net'" in first
    assert "amount_net" in first
    assert "sk-proj" not in first
    assert "/home/ana" not in first
    assert "token" not in first
    assert "Read amount_net first." in second
    assert statuses(home) == ["superseded", ACTIVE]
    assert len(events_of(home, CONTRIBUTED)) == 2


@pytest.mark.parametrize("person", [Person("decline"), Person("accept", keep=False)])
async def test_what_a_person_declines_is_deleted_and_not_asked_again(
    environment: dict[str, str], home: Path, tmp_path: Path, person: Person
) -> None:
    async with connected(environment, tmp_path, person) as client:
        assert "nothing was kept" in await ask(client, "contribute_trace", **SAID)
        assert statuses(home) == []
        again = await ask(client, "contribute_trace", **{**SAID, "title": "Totals fail again"})
        assert len(person.forms) == 1
        token = re.findall(r"token\W+([0-9a-f]{8})\b", again)[0]
        assert "nothing was kept" in await ask(client, "contribute_trace", token=token), (
            "no model keeps it by its token"
        )
        assert len(person.forms) == 2, "no model keeps by a token what a person refused"
    assert statuses(home) == []
    [refused] = events_of(home, PROPOSED)
    assert refused.data["errors"]


@pytest.mark.parametrize(
    ("person", "mode"), [(None, "legacy"), (Person("cancel"), "legacy"), (Person("accept"), "2026-07-28")]
)
async def test_without_an_answer_to_a_form_a_token_keeps_the_draft(
    environment: dict[str, str], home: Path, tmp_path: Path, person: Person | None, mode: str
) -> None:
    async with connected(environment, tmp_path, person, mode) as client:
        drafted = await ask(client, "contribute_trace", **SAID)
        assert statuses(home) == [DRAFT]
        token = re.findall(r"token\W+([0-9a-f]{8})\b", drafted)[0]
        assert "Kept: trace:" in await ask(client, "contribute_trace", token=token)
    assert statuses(home) == [ACTIVE]
    assert events_of(home, PROPOSED) == []

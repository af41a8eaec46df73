"""A task about trouble with a product, or a change of it, asks for know-how; one that wants its data asks for those."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import write_catalogue
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Task
from repertoire.domain.component import Component
from repertoire.retrieval.know_how import asks_know_how, only_data

SERVER = Component(id="s:server.yaml", type="mcp_server", name="kafka", description="Reads topics.")


@pytest.mark.parametrize(
    "task",
    [
        "kafka consumer lag keeps growing after the deploy",
        "our MongoDB aggregation is slow",
        "upgrade postgres 12 to 16 with little downtime",
        "BigQuery costs exploded, what can we do",
        "the sqlite database is locked",
        "tune elasticsearch for faster search",
    ],
)
def test_trouble_with_a_product_and_a_change_of_it_ask_for_know_how(task: str) -> None:
    assert asks_know_how(task)


@pytest.mark.parametrize(
    "task",
    [
        "query our MongoDB",
        "find slow queries in Datadog",
        "please list the deadlocks in postgres",
        "our shop is slow today, show me the traces in Sentry",
        "post the release notes to Slack",
    ],
)
def test_what_wants_the_data_of_a_product_does_not(task: str) -> None:
    assert not asks_know_how(task)


def test_advice_comes_before_the_server_of_the_product_where_know_how_is_asked_for(tmp_path: Path) -> None:
    with open_repertoire(tmp_path, environment={"REPERTOIRE_QUERY_MS": "60000"}) as opened:
        write_catalogue(opened.store)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        tune, query = (
            recommend(opened.pipeline, Task(text)).items[0].hit.component.type
            for text in ("tune postgres for many connections", "query our MongoDB")
        )
    assert (tune, query) == ("skill", "mcp_server")


def test_a_server_has_only_data_where_another_component_is_for_the_product_as_well() -> None:
    skill = replace(SERVER, id="s:SKILL.md", type="skill")
    assert only_data((SERVER, skill), np.array([True, True])).tolist() == [1.0, 0.0]
    assert only_data((SERVER, skill), np.array([True, False])).tolist() == [0.0, 0.0]
    assert only_data((SERVER, SERVER), np.array([True, True])).tolist() == [0.0, 0.0]

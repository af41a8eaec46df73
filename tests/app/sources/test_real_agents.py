"""A recommended real agent comes with its declared skills, or with copies that the answer names as such.

REPERTOIRE_COMPONENTS_DATA names a folder that holds a folder for each repository; all agents here are of one of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Task
from repertoire.domain.component import AGENT, DEPENDS_ON, SKILL
from repertoire.installing.steps import include, read

DATA = "REPERTOIRE_COMPONENTS_DATA"
UNHURRIED = {"REPERTOIRE_QUERY_MS": "60000"}  # how busy a machine is must not decide what is recommended
pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif(DATA not in os.environ, reason=f"NOT TESTED: {DATA} names no real components"),
]


def test_what_a_recommended_agent_declares_comes_along(tmp_path: Path) -> None:
    folder = Path(os.environ[DATA]) / "yonatangross+orchestkit"
    met = 0
    with open_repertoire(tmp_path, environment=UNHURRIED) as repertoire:
        ingest(repertoire.store, tmp_path, str(folder), settings=repertoire.settings)
        graph = repertoire.store.graph
        for summary in [one for one in graph.summaries() if one.type == AGENT]:
            links = [link for link in graph.links(summary.id) if link.outgoing and link.relation == DEPENDS_ON]
            entries = [entry for link in links if (entry := graph.by_key(link.other)) is not None]
            skills = [entry.component for entry in entries if entry.component.type == SKILL]
            agent = graph.by_key(summary.id)
            if not skills or agent is None:
                continue
            steps = read(agent.component.install)  # what its plugin brings is not named again
            declared = [skill.id for skill in skills if not include(steps, read(skill.install))]
            task = Task(agent.component.description[:400])
            found = recommend(repertoire.pipeline, task, muted=repertoire.unfit_for_sets(), environment={"PATH": ""})
            roles = {item.hit.component.id: item.role for item in found.items}
            if summary.id in roles:
                met += 1
                told = " ".join(roles.values())
                assert [skill for skill in declared if skill not in roles and skill not in told] == []
    assert met >= 10

"""Ten real tasks over 5,800 real components keep the answers that a reader judged right.

REPERTOIRE_COMPONENTS_DATA names a folder that holds a folder for each repository. The first run reads and embeds them
(minutes) into pytest's cache; later ones only what changed. A new model or new weights move answers: read the new ones
as these were read, and keep them with `--snapshot-update` only where each sentence below still holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from app.real_components import DATA, real_components
from repertoire.app.ask.recommend import recommend
from repertoire.app.kernel import Repertoire
from repertoire.domain.answer import Task

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif(DATA not in os.environ, reason=f"NOT TESTED: {DATA} names no real components"),
]

# each task, and why what is kept for it is right
TASKS = {
    "add OAuth login with sessions to a FastAPI service": "one for OAuth and sessions, one for FastAPI",
    "review this pull request for security problems": "two review changes, one of them for security",
    "fill in PDF forms from a spreadsheet": "two fill forms; that none reads a spreadsheet is said",
    "write end-to-end tests with Playwright for our React checkout page": "what drives Playwright, and writes tests",
    "deploy our services to Kubernetes with Helm and set up monitoring with Prometheus and Grafana": (
        "two jobs that take four: clusters, Helm, deployment, and one who monitors"
    ),
    "find out why our Postgres queries are slow and add the missing indexes": "two guides to faster queries do both",
    "write release notes and a changelog from the git history": "a dozen do this job: two write it",
    "build an MCP server in Python that wraps our internal REST API": "how to build servers, and one in Python; a gap",
    "triage Sentry errors and fix the most frequent one": "Sentry's own plugin, and its server",
    "block dangerous shell commands like rm -rf before they run": "a guard before the shell, another in reserve",
}


@pytest.fixture(scope="module")
def repertoire(request: pytest.FixtureRequest) -> Iterator[Repertoire]:
    with real_components(request.config) as opened:
        yield opened


@pytest.mark.parametrize("task", TASKS)
def test_a_real_task_gets_the_set_that_was_read_and_found_right(
    repertoire: Repertoire, task: str, snapshot: SnapshotAssertion
) -> None:
    found = recommend(repertoire.pipeline, Task(task), muted=repertoire.unfit_for_sets(), environment={"PATH": ""})
    roles = [(item.hit.component, item.role.partition(", in place of")[0]) for item in found.items]  # ids hold folders
    kept = [f"{component.name} ({component.type}): {role}" for component, role in roles]
    assert [TASKS[task], *kept, *(f"not covered: {gap}" for gap in found.gaps)] == snapshot


def test_what_nobody_has_anything_for_is_answered_with_no_more_than_a_doubtful_set(repertoire: Repertoire) -> None:
    found = recommend(repertoire.pipeline, Task("qwertz asdfgh yxcvbn"), muted=repertoire.unfit_for_sets())
    assert found.items == () or not found.fits

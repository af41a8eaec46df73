"""Through the command line, over a repository that holds a vendor's component beside a neutral one."""

from __future__ import annotations

import json
import re

import pytest

TASKS = {
    "write release notes for the next version": "change-notes",
    "write release notes in Octopus Deploy": "octopus-release-notes",
    "convert the PDF to Excel": "pdf-to-excel",
    "review our database queries": "query-reviewer",
}


@pytest.fixture
def ask(skill, run, tmp_path):
    """Return what searches a repository's folder, once it was read: the hits that are its own."""
    folder = tmp_path / "shelf"
    skill(folder, "octopus-release-notes", "Writes release notes for a version from the deployments in Octopus Deploy.")
    skill(folder, "change-notes", "Writes release notes for a version from the changes that were merged.")
    skill(folder, "excel-to-markdown", "Converts Excel workbooks into Markdown tables.")
    skill(folder, "pdf-to-excel", "Extracts tables of PDF documents into Excel workbooks.")
    skill(folder, "query-writer", "Writes database queries for a question in plain words.")
    skill(folder, "query-reviewer", "Reviews database queries for mistakes and slow joins.")
    done = run("ingest", str(folder))
    assert done.returncode == 0, done.stderr

    def hits(task, *more):
        found = json.loads(run("search", task, "--limit", "40", "--json", *more).stdout)["components"]
        return [hit for hit in found if str(folder) in hit["id"]]

    return hits


def test_what_the_task_names_or_what_nothing_binds_comes_first(ask):
    assert {task: ask(task)[0]["name"] for task in TASKS} == TASKS


def test_each_part_can_be_switched_off(run, ask):
    task = "review our database queries in Octopus Deploy"
    for part in ("binding", "direction"):
        told = [run("search", task, "--stages", *more).stderr for more in ((), ("--without", part))]
        assert [bool(re.search(rf"^{part} .*switched off", stages, re.MULTILINE)) for stages in told] == [False, True]

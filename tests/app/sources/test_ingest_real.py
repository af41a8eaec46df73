"""Fourteen real repositories: every component of their manifests is ingested, every file has an outcome.

REPERTOIRE_COMPONENTS_DATA names a folder that holds `owner+name` for each repository and `manifests/owner+name.json`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from repertoire.app.sources.file_outcomes import account
from repertoire.settings import Settings

pytestmark = [
    pytest.mark.bench_data,
    pytest.mark.skipif(
        "REPERTOIRE_COMPONENTS_DATA" not in os.environ, reason="REPERTOIRE_COMPONENTS_DATA names no repositories"
    ),
]
_TYPES = {"mcp": "mcp_server"}
TOOLS = 755  # entries of all `tools.json`, counted apart from the product


def unaccounted(bench, manifest: Path) -> list[str]:
    """Return the files that became no component of their type, no part of a skill and no skipped row."""
    folder = manifest.parents[1] / manifest.stem
    report = bench.ingest(folder)
    rows = bench.store._connection.rows(
        "SELECT n.file, c.type FROM node n JOIN component c ON c.node_id = n.id JOIN source s ON s.id = n.source_id "
        "WHERE s.key = ?",
        (report.source,),
    )
    found = set(rows)
    skills = {file.rpartition("/")[0] for file, kind in rows if kind == "skill"}
    skipped = {item.path for item in report.skipped}
    lost = []
    for row in json.loads(manifest.read_text(encoding="utf-8"))["files"]:
        path, kind = row["path"], _TYPES.get(row["type"], row["type"])
        parents = {str(parent) for parent in Path(path).parents}
        known = (path, kind) in found or path in skipped or (kind == "agent" and parents & skills)
        if kind not in ("marketplace", "tools") and not known and (folder / path).is_file():
            lost.append(f"{kind} {path}")
    return lost


def test_every_component_and_every_file_of_real_repositories_is_accounted_for(bench):
    manifests = sorted((Path(os.environ["REPERTOIRE_COMPONENTS_DATA"]) / "manifests").glob("*.json"))

    assert {manifest.stem: unaccounted(bench, manifest) for manifest in manifests} == {
        manifest.stem: [] for manifest in manifests
    }

    for manifest in manifests:
        folder = manifest.parents[1] / manifest.stem
        fates = account(bench.store, bench.home, str(folder), settings=Settings())
        assert [fate.path for fate in fates] == sorted(
            str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()
        )
        assert [fate for fate in fates if fate.became not in ("component", "part") and not fate.of] == []
        assert sum(fate.became == "component" for fate in fates) >= len(fates) * 0.85
    counts = bench.store.graph.counts()
    assert counts["tool"] == TOOLS

    revision = bench.revision()
    assert bench.store.graph.counts()["components"] > 5_000
    for manifest in manifests:
        assert bench.ingest(manifest.parents[1] / manifest.stem).changed == 0
    assert bench.revision() == revision


def test_components_of_a_real_history_bear_the_dates_that_git_tells(bench, tmp_path):
    data, name = Path(os.environ["REPERTOIRE_COMPONENTS_DATA"]), "getsentry+skills"
    subprocess.run([sys.executable, str(data / "as_git.py"), str(tmp_path / "git"), name], check=True)
    folder = tmp_path / "git" / name
    bench.ingest(folder)

    told = {component.path: (component.first_commit, component.last_commit) for component in bench.all().values()}
    assert len(told) == 30
    for place, dates in told.items():
        # a plugin is where its folder is; its dates are its manifest's
        path = ".claude-plugin/plugin.json" if place == "." else place
        out = subprocess.run(
            ["git", "log", "--format=%cs", "--", path], cwd=folder, check=True, capture_output=True, text=True
        )
        days = out.stdout.split()
        assert tuple(date[:10] for date in dates) == (days[-1], days[0]), path

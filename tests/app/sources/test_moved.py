"""Repositories read over the network have outcomes for every file, and their moves and disappearance are reported."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ingestion.workbench import commit, git, repository, skill
from repertoire.app.ask.search import search
from repertoire.app.clone_folder import clone_folder
from repertoire.app.health.stale import StaleFilter, stale
from repertoire.app.upkeep.refresh import refresh
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query
from repertoire.rendering.answers import answer_text
from repertoire.rendering.health import stale_text
from repertoire.settings import Settings
from repertoire.sources import releases
from repertoire.sources.repository import look
from sources.git_server import git_server

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="NOT TESTED: openssl is not installed")
NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}


@pytest.fixture
def origin(bench, monkeypatch):
    """A repository with a past, on a server."""
    folder = bench.write(
        {"skills/one/SKILL.md": skill("one", "Rotates ledgers."), "big.bin": b"x" * 5_000}, under="srv/a"
    )
    repository(folder, date="2024-01-01")
    git(folder, "tag", "v1.0.0", date="2024-01-01")
    bench.write({"skills/two/SKILL.md": skill("two"), "big.bin": b"y" * 5_000}, under="srv/a")
    commit(folder, date="2025-05-05")
    git(folder, "tag", "v2.0.0", date="2025-05-05")
    with git_server(bench.root / "srv", bench.root) as (address, sent_on, certificate):
        monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
        yield folder, f"{address}/a", sent_on


def dates(bench):
    return {key: item.last_commit for key, item in bench.all().items()}


def clone_of(bench) -> Path:
    (row,) = [row for row in bench.store.sources.all() if row.info.kind == "git"]
    return clone_folder(bench.home, row.info.key)


def test_a_clone_knows_when_each_file_changed_and_what_was_released_but_no_old_contents(bench, origin):
    folder, address, _ = origin
    bench.ingest(address)
    clone = clone_of(bench)

    assert dates(bench) == {"skills/one/SKILL.md": "2024-01-01", "skills/two/SKILL.md": "2025-05-05"}
    assert [release.version for release in releases.read(clone).of("skills/one/SKILL.md")] == ["2.0.0", "1.0.0"]
    assert (look(clone).partial, look(clone).shallow) == (True, ())
    missing = git(clone, "rev-list", "--objects", "--all", "--missing=print").count("?")
    assert missing == 1  # the first big.bin

    bench.write({"skills/two/SKILL.md": skill("two", "Newer.")}, under="srv/a")
    commit(folder, date="2025-06-06")
    git(folder, "tag", "v3.0.0", date="2025-06-06")
    report = bench.ingest(address)

    assert (report.changed, dates(bench)["skills/one/SKILL.md"]) == (1, "2024-01-01")
    assert bench.all()["skills/two/SKILL.md"].description == "Newer."
    assert releases.read(clone).of("skills/one/SKILL.md")[0].version == "3.0.0"
    assert clone_of(bench) == clone


def test_a_repository_that_moved_is_read_on_and_says_where_it_is_now(bench, origin):
    folder, address, sent_on = origin
    key = bench.ingest(address).source
    folder.rename(bench.root / "srv/b")
    sent_on["/a"] = "/b"
    bench.write({"skills/three/SKILL.md": skill("three")}, under="srv/b")
    commit(bench.root / "srv/b", date="2025-07-07")

    with open_repertoire(bench.home, environment=NO_MODEL) as repertoire:
        refresh(repertoire.store, bench.home, settings=Settings())
        told = stale_text(stale(repertoire, StaleFilter(), environment={}))
        answer = answer_text(search(repertoire.pipeline, Query("rotate ledgers", repository="")))

    assert "skills/three/SKILL.md" in bench.all()
    now = address.removesuffix("/a") + "/b"
    assert f"{key}: has moved to {now}; the old address redirects there" in told
    assert f"warning: its source {key} has moved to {now}" in answer


def test_a_repository_that_vanished_keeps_its_last_good_state_until_it_is_back(bench, origin):
    folder, address, _ = origin
    key = bench.ingest(address).source
    before = bench.all()
    kept = folder.rename(bench.root / "kept")

    with open_repertoire(bench.home, environment=NO_MODEL) as repertoire:
        refresh(repertoire.store, bench.home, settings=Settings())
        (lost,) = stale(repertoire, StaleFilter(), environment={}).lost
        assert (lost.source, lost.moved) == (key, "")
        assert {name: bench.all()[name] for name in before} == before

        shutil.move(kept, folder)
        refresh(repertoire.store, bench.home, settings=Settings())
        assert stale(repertoire, StaleFilter(), environment={}).lost == ()


def test_a_repository_that_a_person_ingested_stays_when_claude_codes_clone_of_it_comes_and_goes(bench, origin):
    folder, address, _ = origin
    key = bench.ingest(address).source
    before, plugins = bench.all(), bench.root / "person/.claude/plugins"
    market = plugins / "marketplaces/market"
    shutil.copytree(folder, market)
    known = {"market": {"source": {"source": "git", "url": address}, "installLocation": str(market)}}
    (plugins / "known_marketplaces.json").write_text(json.dumps(known), encoding="utf-8")

    def refreshed() -> list[tuple[str, str]]:
        refresh(bench.store, bench.home, settings=Settings())
        return [(row.info.kind, row.info.location) for row in bench.store.sources.all() if row.info.key == key]

    os.utime(clone_folder(bench.home, key), (0, 0))
    for _ in range(2):
        assert refreshed() == [("marketplace", str(market))]
    assert clone_folder(bench.home, key).is_dir()
    shutil.rmtree(plugins)
    kept = folder.rename(bench.root / "kept")
    refreshed()
    assert before.keys() <= bench.all().keys(), "what cannot be fetched now is not lost either"

    kept.rename(folder)

    assert refreshed() == [("git", address)]
    assert {name: bench.all()[name] for name in before} == before


def test_a_clone_of_the_newest_commit_alone_is_made_whole(bench, origin):
    _, address, _ = origin
    bench.ingest(address)
    clone = clone_of(bench)
    shutil.rmtree(clone)
    git(bench.root, "clone", "-q", "--depth", "1", address, str(clone))

    bench.ingest(address)

    assert not look(clone).shallow
    assert dates(bench)["skills/one/SKILL.md"] == "2024-01-01"

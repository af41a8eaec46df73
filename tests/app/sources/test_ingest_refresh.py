"""A refresh ingests every source again, one process at a time, text before vectors, and keeps unreachable sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.workbench import commit, repository, skill
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.settle import remove_source
from repertoire.app.sources.shipped_vectors import ShippedVectorEmbedder
from repertoire.app.sources.unreachable import lost_sources
from repertoire.app.upkeep.background_refresh import RefreshRunning, one_refresh, running, start_detached_refresh
from repertoire.app.upkeep.refresh import refresh
from repertoire.catalogue import reading
from repertoire.domain.answer import REQUEST_SPACE
from repertoire.retrieval.embedded_text import COMPONENT_SPACES
from repertoire.settings import Settings
from repertoire.store.database import Store

SETTINGS = Settings()


def sources(bench):
    return {row.info.key: row.components for row in bench.store.sources.all()}


def test_an_empty_machine_knows_the_catalogue(bench):
    (report,) = refresh(bench.store, bench.home, settings=SETTINGS)

    entries = reading.load().components
    assert report.source == "catalogue"
    assert report.components == len(entries) >= 150
    entry = entries[0]
    stored = bench.store.graph.by_key(entry.id)
    assert stored is not None
    assert (stored.component.name, stored.component.install) == (entry.name, entry.install)
    assert {link.other_name for link in bench.store.graph.links(entry.id) if link.relation == "provides"} == set(
        entry.capabilities
    )


def test_a_second_refresh_keeps_the_revision(bench):
    bench.ingest(bench.write({"skills/one/SKILL.md": skill("one")}))
    refresh(bench.store, bench.home, settings=SETTINGS)
    revision = bench.revision()

    reports = refresh(bench.store, bench.home, settings=SETTINGS)

    assert all(report.changed == report.removed == 0 for report in reports)
    assert bench.revision() == revision


def test_what_is_read_for_real_takes_the_catalogues_place_and_gives_it_back(bench):
    entry = next(item for item in reading.load().components if item.type == "skill" and item.path.endswith("SKILL.md"))
    bench.ingest("catalogue")
    folder = repository(bench.write({entry.path: skill(entry.name, "The real thing.")}))
    subprocess.run(["git", "remote", "add", "origin", f"https://{entry.repository}"], cwd=folder, check=True)

    report = bench.ingest(folder)

    stored = bench.store.graph.by_key(entry.id)
    assert stored is not None
    assert (report.source, stored.source) == (entry.repository, entry.repository)
    assert stored.component.description == "The real thing."

    remove_source(bench.store, entry.repository)
    stored = bench.store.graph.by_key(entry.id)
    assert stored is not None
    assert (stored.source, stored.component.description) == ("catalogue", entry.description)


def test_what_is_read_from_a_copy_that_tells_no_repository_takes_the_catalogues_place_too(bench):
    whole = [item for item in reading.load().components if item.repository == "github.com/getsentry/skills"]
    entry = next(item for item in whole if item.type == "skill")
    bench.ingest("catalogue")

    bench.ingest(bench.write({item.path: skill(item.name, "A copy.") for item in whole if item.type == "skill"}))

    assert bench.store.graph.by_key(entry.id) is None
    (found,) = (row for row in bench.store.graph.summaries() if (row.type, row.name) == (entry.type, entry.name))
    assert bench.store.graph.by_key(found.id).component.description == "A copy."


def test_sources_added_by_hand_are_read_again(bench):
    origin = repository(bench.write({"skills/one/SKILL.md": skill("one")}))
    folder = bench.write({"skills/a/SKILL.md": skill("a")}, under="plain")
    bench.ingest(origin.as_uri())
    bench.ingest(folder)
    bench.write({"skills/two/SKILL.md": skill("two")})
    commit(origin, date="2026-02-02")
    bench.write({"skills/b/SKILL.md": skill("b")}, under="plain")

    refresh(bench.store, bench.home, settings=SETTINGS)

    assert sources(bench)[f"folder:{origin}"] == sources(bench)[f"folder:{folder}"] == 2


def test_a_source_that_cannot_be_reached_is_kept_and_told(bench):
    origin = repository(bench.write({"skills/one/SKILL.md": skill("one")}))
    folder = bench.write({"skills/a/SKILL.md": skill("a")}, under="plain")
    bench.ingest(origin.as_uri())
    bench.ingest(folder)
    shutil.rmtree(origin)
    shutil.rmtree(folder)

    reports = {report.source: report for report in refresh(bench.store, bench.home, settings=SETTINGS)}

    for key in (f"folder:{origin}", f"folder:{folder}"):
        assert sources(bench)[key] == reports[key].components == reports[key].unchanged == 1
        assert reports[key].warnings[0].startswith("kept as it was: ")


def test_a_folder_that_is_empty_now_as_where_its_drive_is_not_mounted_keeps_its_components(bench):
    folder = bench.write({"skills/a/SKILL.md": skill("a")}, under="plain")
    bench.ingest(folder)
    shutil.rmtree(folder / "skills")

    (report,) = (one for one in refresh(bench.store, bench.home, settings=SETTINGS) if one.source == f"folder:{folder}")

    assert (report.components, report.removed) == (1, 0)
    assert report.warnings == (f"kept as it was: {folder} is empty now; its drive may not be mounted",)
    assert bench.ingest(folder).removed == 1  # a person says so


def test_a_source_of_too_many_files_names_the_setting(bench):
    folder = bench.write({"skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b")})

    report = bench.ingest(folder, settings=Settings(max_files=1))

    assert report.warnings == ("more than 1 files: reading ended at skills/b (setting `max_files`)",)


def test_components_in_their_own_folders_are_read_before_the_code_of_a_large_repository(bench):
    code = {f"apps/shop/{number}.ts": "x" for number in range(3)}
    folder = bench.write({**code, "plugins/kit/skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b")})

    report = bench.ingest(folder, settings=Settings(max_files=3))

    assert report.components == 2
    assert report.warnings == ("more than 3 files: reading ended at apps/shop/1.ts (setting `max_files`)",)


def test_a_source_that_gains_a_file_made_to_fail_its_parser_does_not_end_the_refresh_of_the_others(bench):
    hostile = bench.write({"skills/a/SKILL.md": skill("a")}, under="hostile")
    other = bench.write({"skills/b/SKILL.md": skill("b")}, under="other")
    bench.ingest(hostile)
    bench.ingest(other)
    bench.write({"pyproject.toml": f"[project]\nname = 0x{'f' * 20_000}\n"}, under="hostile")
    bench.write({"skills/d/SKILL.md": skill("d")}, under="other")

    refresh(bench.store, bench.home, settings=SETTINGS)

    assert (sources(bench)[f"folder:{hostile}"], sources(bench)[f"folder:{other}"]) == (1, 2)


@pytest.mark.parametrize("step", ["fetch", "extract"])
def test_what_a_person_removes_while_it_is_read_again_stays_removed_and_the_others_are_read(bench, step):
    folders = [bench.write({"skills/a/SKILL.md": skill("a")}, under=name) for name in ("one", "two", "three")]
    keys = [f"folder:{folder}" for folder in folders]
    for folder in folders:
        bench.ingest(folder)
        (folder / "skills" / "a" / "SKILL.md").write_text(skill("b"))

    def away(done):
        if (done.source, done.stage) == (keys[0], step):
            remove_source(bench.store, keys[0])
            remove_source(bench.store, keys[1])

    reports = refresh(bench.store, bench.home, settings=SETTINGS, report=away)

    assert set(keys) & set(sources(bench)) == {keys[2]}
    assert [report.changed for report in reports if report.source in keys] == [1]


def test_a_folder_that_gets_a_remote_is_read_again_under_its_new_name(bench):
    folder = repository(bench.write({"skills/a/SKILL.md": skill("a")}))
    bench.ingest(folder)
    bench.write({"skills/b/SKILL.md": skill("b")})
    subprocess.run(["git", "remote", "add", "origin", "https://github.com/me/mine.git"], cwd=folder, check=True)

    refresh(bench.store, bench.home, settings=SETTINGS)

    assert sources(bench)["github.com/me/mine"] == 2


def test_one_refresh_runs_at_a_time(bench):
    with one_refresh(bench.home):
        assert running(bench.home)
        assert start_detached_refresh(bench.home) is None
        with pytest.raises(RefreshRunning):
            refresh(bench.store, bench.home, settings=SETTINGS)

    assert not running(bench.home)


def test_a_killed_refresh_leaves_no_lock_behind(bench):
    code = (
        "import sys, pathlib, os, signal\nfrom repertoire.app.upkeep.background_refresh import one_refresh\n"
        "with one_refresh(pathlib.Path(sys.argv[1])):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "server")}
    subprocess.run([sys.executable, "-c", code, str(bench.home)], env=env, check=False)

    assert not running(bench.home)


def test_a_detached_refresh_fills_the_store(bench):
    process = start_detached_refresh(bench.home)

    assert process is not None
    assert process.wait(timeout=300) == 0, (bench.home / "log" / "refresh.log").read_text()
    assert sources(bench)["catalogue"] >= 150


def test_a_refresh_that_nobody_asked_for_fetches_repositories_only_where_the_setting_lets_it(bench, monkeypatch):
    origin = repository(bench.write({"skills/one/SKILL.md": skill("one")}, under="origin"))
    key = bench.ingest(origin.as_uri()).source

    def unasked(fetch: str) -> int:
        monkeypatch.setenv("REPERTOIRE_FETCH", fetch)
        process = start_detached_refresh(bench.home)
        assert process is not None
        assert process.wait(timeout=300) == 0, (bench.home / "log" / "refresh.log").read_text()
        return sources(bench)[key]

    bench.write({"skills/two/SKILL.md": skill("two")}, under="origin")
    commit(origin, date="2026-02-02")
    assert unasked("false") == 1
    assert unasked("true") == 2


def test_what_was_never_fetched_is_kept_as_it_was_where_nothing_may_be_fetched_and_a_loss_is_not_forgotten(bench):
    origin = repository(bench.write({"skills/one/SKILL.md": skill("one")}, under="origin"))
    key = bench.ingest(origin.as_uri()).source
    shutil.move(origin, origin.with_name("gone"))
    refresh(bench.store, bench.home, settings=SETTINGS)
    lost = lost_sources(bench.store)
    assert [one.source for one in lost] == [key]
    shutil.move(origin.with_name("gone"), origin)
    quiet = Settings(fetch=False)
    refresh(bench.store, bench.home, settings=quiet)
    assert lost_sources(bench.store) == lost
    shutil.rmtree(bench.home / "sources")
    (told,) = [one for one in refresh(bench.store, bench.home, settings=quiet) if one.source == key]
    assert "was never fetched here" in told.warnings[0]
    assert sources(bench)[key] == 1


def test_every_space_is_embedded_once_and_goes_on_where_it_was_stopped(bench, embedder):
    bench.ingest(
        bench.write({f"skills/s{number}/SKILL.md": skill(f"s{number}", f"Does {number}.") for number in range(20)})
        / "skills"
    )
    bench.ingest(bench.write({"agents/coder.md": "---\nname: c\ndescription: d\n---\n```\nrun()\n```"}, under="two"))
    progress = []
    calls = iter([False] * 6)  # three times while it looks for a person's own components

    embed_pending(bench.store, embedder, stop=lambda: next(calls, True))
    partly = bench.store.vectors.progress("body", embedder.model)
    count = embed_pending(bench.store, embedder, report=lambda done, total: progress.append((done, total)))

    assert 0 < partly.done < partly.total == 21
    assert all(bench.store.vectors.progress(space, embedder.model).done == 21 for space in COMPONENT_SPACES)
    assert progress[-1] == (63, 63)
    assert count < 63
    ids, _ = bench.store.vectors.matrix("code", embedder.model)
    assert len(ids) == 1  # only where there is code
    assert embed_pending(bench.store, embedder) == 0


def test_embedding_moves_no_revision_and_follows_what_changed(bench, embedder):
    folder = bench.write({"skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b", "Other.")})
    bench.ingest(folder)
    revision = bench.revision()
    embed_pending(bench.store, embedder)
    assert bench.revision() == revision

    bench.write({"skills/a/SKILL.md": skill("a", "Different now.")})
    bench.ingest(folder)

    assert embed_pending(bench.store, embedder) == 1  # so short a text is the same in both spaces


def test_two_processes_may_embed_at_once(bench, embedder):
    bench.ingest(bench.write({f"skills/s{number}/SKILL.md": skill(f"s{number}") for number in range(10)}))

    with Store.open(bench.home / "repertoire.db") as other:

        def both(done, total):
            embed_pending(other, embedder)

        embed_pending(bench.store, embedder, report=both)

    assert bench.store.vectors.progress("body", embedder.model).done == 10


class Renamed:
    """The real model under the name of another: whatever bears another name must be embedded anew."""

    def __init__(self, embedder):
        self.model = self.query_encoder = "another"
        self.dimensions = embedder.dimensions
        self.embed_queries = embedder.embed_queries
        self.embed_passages = ShippedVectorEmbedder(embedder).embed_passages  # the catalogue's are at hand


def test_a_refresh_keeps_the_vectors_of_past_requests(bench, embedder):
    bench.store.requests.record("request:1", text="fill in this form", now="2026-01-01T00:00:00Z")
    refresh(bench.store, bench.home, settings=SETTINGS, embedder=embedder)
    assert embedder.query_encoder != embedder.model
    assert len(bench.store.vectors.matrix(REQUEST_SPACE, embedder.query_encoder)[0]) == 1


def test_a_refresh_with_another_model_embeds_anew_and_drops_what_the_last_one_made(bench, embedder):
    bench.ingest(bench.write({"skills/a/SKILL.md": skill("a")}))
    embed_pending(bench.store, embedder)

    refresh(bench.store, bench.home, settings=SETTINGS, embedder=Renamed(embedder))

    progress = bench.store.vectors.progress("body", "another")
    assert progress.done == progress.total > 1
    assert len(bench.store.vectors.matrix("body", embedder.model)[0]) == 0

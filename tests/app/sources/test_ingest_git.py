"""Git repositories are cloned into the home, fetched again and dated by their history, and their code never runs."""

from __future__ import annotations

import random

import pytest

from ingestion.workbench import commit, git, repository, skill
from repertoire.domain.errors import SourceError, SourceRefused
from repertoire.settings import Settings
from repertoire.sources import clones as clones_of_sources
from repertoire.sources.scratch import PLACE

FILES = {"skills/one/SKILL.md": skill("one"), "skills/two/SKILL.md": skill("two")}


def clones(bench):
    """Return the clones, and what is lent for as long as something is fetched."""
    place = bench.home / "sources"
    return [path for path in (*place.iterdir(), *place.glob(f"{PLACE}/*")) if path.is_dir() and path.name != PLACE]


def test_a_repository_is_cloned_into_the_home_with_its_past_and_read_there(bench):
    origin = repository(bench.write(FILES, under="a repo"))
    bench.write({"notes.txt": "x"}, under="a repo")
    commit(origin, date="2026-02-02")

    report = bench.ingest(origin.as_uri())

    (clone,) = clones(bench)
    (row,) = bench.store.sources.all()
    assert (report.components, row.info.kind, row.info.location) == (2, "git", str(origin))
    assert git(clone, "rev-list", "--count", "HEAD").strip() == "2"
    assert row.info.commit == git(origin, "rev-parse", "HEAD").strip()
    found = bench.all()["skills/one/SKILL.md"]
    assert (found.first_commit, found.last_commit) == ("2026-01-01", "2026-01-01")


def test_a_repository_whose_past_is_too_large_is_read_at_its_newest_commit_alone(bench):
    noise = random.Random(1).randbytes(3_000_000)  # which git cannot press together
    origin = repository(bench.write({**FILES, "big.bin": noise}))
    (origin / "big.bin").unlink()  # gone, and still in the past
    commit(origin, date="2026-02-02")

    report = bench.ingest(origin.as_uri(), settings=Settings(max_source_mb=1))

    (clone,) = clones(bench)
    assert report.components == 2
    assert git(clone, "rev-list", "--count", "HEAD").strip() == "1"
    found = bench.all()["skills/one/SKILL.md"]
    assert (found.first_commit, found.last_commit) == ("", "2026-02-02")
    bench.write({"skills/three/SKILL.md": skill("three")})
    commit(origin, date="2026-03-03")
    assert bench.ingest(origin.as_uri(), settings=Settings(max_source_mb=1)).components == 3


def test_fetching_again_touches_only_what_changed(bench):
    origin = repository(bench.write(FILES))
    bench.ingest(origin.as_uri())
    before = bench.all()
    bench.write({"skills/one/SKILL.md": skill("one", "Changed.")})
    commit(origin, date="2026-03-03")

    report = bench.ingest(origin.as_uri())

    after = bench.all()
    assert (report.changed, report.unchanged) == (1, 1)
    assert after["skills/one/SKILL.md"].last_commit == "2026-03-03"
    assert after["skills/two/SKILL.md"] == before["skills/two/SKILL.md"]
    assert len(clones(bench)) == 1


def test_a_commit_that_changes_no_component_keeps_the_revision(bench):
    origin = repository(bench.write(FILES))
    bench.ingest(origin.as_uri())
    revision = bench.revision()
    bench.write({"notes.txt": "x"})
    commit(origin, date="2026-03-03")

    report = bench.ingest(origin.as_uri())

    assert (report.changed, bench.revision()) == (0, revision)


def test_history_that_was_rewritten_is_followed(bench):
    origin = repository(bench.write(FILES))
    bench.ingest(origin.as_uri())
    bench.write({"skills/three/SKILL.md": skill("three")})
    git(origin, "add", "-A")
    git(origin, "commit", "-q", "--amend", "-m", "other", date="2026-04-04")

    assert bench.ingest(origin.as_uri()).components == 3


def test_the_dates_of_files_come_from_a_full_history(bench):
    origin = repository(bench.write(FILES), date="2025-01-01")
    bench.write({"skills/one/SKILL.md": skill("one", "Newer.")})
    commit(origin, date="2026-05-05")
    bench.write({"skills/new/SKILL.md": skill("new")})  # not committed yet

    bench.ingest(origin)

    dates = {key: (item.first_commit, item.last_commit) for key, item in bench.all().items()}
    assert dates == {
        "skills/one/SKILL.md": ("2025-01-01", "2026-05-05"),
        "skills/two/SKILL.md": ("2025-01-01", "2025-01-01"),
        "skills/new/SKILL.md": ("", ""),
    }


def test_a_checkout_is_known_by_its_remote_and_a_folder_in_it_by_its_path(bench):
    origin = repository(bench.write(FILES))
    git(origin, "remote", "add", "origin", "git@github.com:acme/skills.git")

    assert bench.ingest(origin).source == "github.com/acme/skills"
    assert bench.ingest(origin / "skills").source == f"folder:{origin / 'skills'}"
    summary = bench.store.graph.by_key("github.com/acme/skills:skills/one/SKILL.md")
    assert summary is not None
    assert summary.component.repository == "github.com/acme/skills"


def test_a_repository_runs_nothing_when_it_is_cloned_or_read(bench, tmp_path):
    proof = tmp_path / "ran"
    origin = repository(bench.write({**FILES, ".gitattributes": "*.md filter=evil diff=evil\n"}))
    program = tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    program.chmod(0o755)
    for hook in ("post-checkout", "post-merge", "reference-transaction", "fsmonitor-watchman"):
        (origin / ".git/hooks" / hook).write_text(program.read_text())
        (origin / ".git/hooks" / hook).chmod(0o755)
    for name, value in {
        "core.fsmonitor": str(program),
        "core.hooksPath": str(origin / ".git/hooks"),
        "core.sshCommand": str(program),
        "core.pager": str(program),
        "filter.evil.smudge": str(program),
        "diff.evil.textconv": str(program),
        "diff.external": str(program),
        "log.showSignature": "true",
        "gpg.program": str(program),
        "uploadpack.packObjectsHook": str(program),
    }.items():
        git(origin, "config", name, value)

    bench.ingest(origin)
    bench.ingest(origin.as_uri())

    assert not proof.exists()
    assert len(bench.store.sources.all()) == 1


def test_links_submodules_and_large_files_of_a_clone_stay_what_they_are(bench, tmp_path):
    other = repository(bench.write({"skills/sub/SKILL.md": skill("sub")}, under="other"))
    origin = repository(bench.write(FILES))
    (origin / "skills/passwd").symlink_to("/etc")
    git(origin, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    bench.write({"skills/lfs/SKILL.md": pointer, ".gitattributes": "*.bin filter=lfs\n"})
    commit(origin, date="2026-01-02")

    report = bench.ingest(origin.as_uri())

    assert not any("skills/sub" in key for key in bench.all())
    assert {skipped.path for skipped in report.skipped} == {"skills/passwd", "skills/lfs/SKILL.md"}


def test_a_repository_that_is_too_large_is_refused_and_leaves_nothing_behind(bench):
    origin = repository(bench.write({**FILES, "big.bin": bytes(range(256)) * 12_000}))

    with pytest.raises(SourceError, match="larger than 1 MB; raise REPERTOIRE_MAX_SOURCE_MB"):
        bench.ingest(origin.as_uri(), settings=Settings(max_source_mb=1))

    assert clones(bench) == []
    assert bench.store.sources.all() == []


def test_a_repository_that_is_not_there_or_damaged_is_told(bench):
    with pytest.raises(SourceError, match="is not a folder"):
        bench.ingest((bench.root / "nowhere").as_uri())
    with pytest.raises(SourceError, match="no commit that is checked out"):
        bench.ingest(bench.write({"HEAD": "x", "objects/x": "y"}, under="broken"))


def test_a_clone_that_is_damaged_is_made_again(bench):
    origin = repository(bench.write(FILES))
    bench.ingest(origin.as_uri())
    (clone,) = clones(bench)
    (clone / ".git/HEAD").write_text("nonsense")

    assert bench.ingest(origin.as_uri()).components == 2


def test_stopping_a_clone_leaves_nothing_behind(bench):
    origin = repository(bench.write(FILES))

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.ingest(origin.as_uri(), report=stop)

    assert all(folder.parent.name != PLACE for folder in clones(bench))


def test_a_model_cannot_clone_from_outside_the_project(bench):
    origin = repository(bench.write(FILES))

    with pytest.raises(SourceRefused):
        bench.ingest(origin.as_uri(), trusted=False)
    with pytest.raises(SourceRefused):
        bench.ingest(origin, trusted=False)
    inside = bench.write(FILES, under="project/plugins")
    assert bench.ingest(inside, trusted=False).components == 2


@pytest.mark.parametrize("tail", ["tree/v1", "tree/main/skills/one", "blob/main/README.md"])
def test_a_link_into_a_repository_is_told_to_read_the_whole_of_it(bench, monkeypatch, tail):
    origin = repository(bench.write(FILES))
    fetch = clones_of_sources.fetch
    monkeypatch.setattr(clones_of_sources, "fetch", lambda _, target, **more: fetch(str(origin), target, **more))
    report = bench.ingest(f"https://github.com/acme/skills/{tail}")
    assert report.components == 2
    assert report.warnings == (f"the whole repository is read, at its default branch, and not {tail} alone",)
    assert bench.ingest("https://github.com/acme/skills").warnings == ()

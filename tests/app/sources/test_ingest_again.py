"""A second ingest writes only changed components, writes nothing if nothing changed, and is all or nothing."""

from __future__ import annotations

import pytest

from ingestion.workbench import skill
from repertoire.app.sources.settle import remove_source
from repertoire.domain.component import TWIN_OF

FILES = {
    "skills/alpha/SKILL.md": skill("alpha", "Tests APIs."),
    "skills/beta/SKILL.md": skill("beta", "Deploys to Kubernetes.", "Needs the alpha-helper agent."),
    "agents/alpha-helper.md": "---\nname: alpha-helper\ndescription: Helps.\n---\nHelp.",
    "agents/broken.md": b"\xff\xfe\x00binary",
}


def test_a_second_run_changes_nothing_and_keeps_the_revision(bench):
    folder = bench.write(FILES)
    first = bench.ingest(folder)
    before, revision = bench.rows(), bench.revision()

    second = bench.ingest(folder)

    assert (second.components, second.changed, second.unchanged, second.removed) == (3, 0, 3, 0)
    assert second.skipped == first.skipped != ()
    assert (bench.rows(), bench.revision()) == (before, revision)


def test_a_changed_file_touches_only_its_own_nodes(bench):
    folder = bench.write(FILES)
    bench.ingest(folder)
    before = bench.rows()
    edges = bench.store._connection.rows("SELECT id, file FROM edge WHERE source_id > 0")

    bench.write({"skills/alpha/SKILL.md": skill("alpha", "Tests GraphQL APIs.")})
    report = bench.ingest(folder)

    changed = f"{report.source}:skills/alpha/SKILL.md"
    after = bench.rows()
    assert (report.changed, report.unchanged) == (1, 2)
    assert {key for key in before if before[key] != after.get(key)} <= {changed}
    assert {key for key in after if key not in before} == {"capability:graphql"}
    kept = dict(bench.store._connection.rows("SELECT id, file FROM edge WHERE source_id > 0"))
    assert all(edge in kept for edge, file in edges if file != "skills/alpha/SKILL.md")


def test_a_file_that_is_gone_takes_its_own_with_it(bench):
    folder = bench.write(FILES)
    bench.ingest(folder)

    (folder / "agents/alpha-helper.md").unlink()
    report = bench.ingest(folder)

    assert (report.components, report.removed) == (2, 1)
    assert set(bench.all()) == {"skills/alpha/SKILL.md", "skills/beta/SKILL.md"}


def test_a_file_that_is_moved_or_mended_leaves_no_old_row_behind(bench):
    folder = bench.write(FILES)
    bench.ingest(folder)

    (folder / "skills/alpha").rename(folder / "skills/gamma")
    bench.write({"agents/broken.md": "---\nname: mended\ndescription: Works.\n---\nx"})
    report = bench.ingest(folder)

    assert report.skipped == ()
    assert set(bench.all()) == {
        "skills/gamma/SKILL.md",
        "skills/beta/SKILL.md",
        "agents/alpha-helper.md",
        "agents/mended.md".replace("mended", "broken"),
    }


@pytest.mark.parametrize("stage", ["read", "extract", "write"])
def test_an_ingest_that_is_stopped_leaves_the_graph_as_it_was_and_the_next_one_finishes(bench, stage):
    folder = bench.write({"skills/old/SKILL.md": skill("old")})
    bench.ingest(folder)
    before = bench.rows()
    bench.write(FILES)

    def stop(step):
        if step.stage == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.ingest(folder, report=stop)
    assert bench.rows() == before

    assert bench.ingest(folder).changed == 3


def test_an_ingest_that_ended_before_it_compared_is_completed_by_the_next_one(bench):
    def ended(step):
        if step.stage == "relate":
            raise KeyboardInterrupt

    text = skill("alpha", "Tests APIs.", " ".join(f"word{number}" for number in range(60)))
    one, two = (bench.write({"skills/alpha/SKILL.md": text}, under=place) for place in ("one", "two"))
    bench.ingest(one)
    with pytest.raises(KeyboardInterrupt):
        bench.ingest(two, report=ended)
    assert not bench.store.graph.edges_of(TWIN_OF)

    assert bench.ingest(one).changed == 0
    assert len(bench.store.graph.edges_of(TWIN_OF)) == 1
    assert not bench.store.sources.unsettled()


def test_what_one_ingest_after_the_other_writes_is_kept_in_few_pieces(bench):
    for number in range(12):
        bench.ingest(bench.write({"skills/alpha/SKILL.md": skill("alpha", f"Tests revision {number}.")}))

    assert bench.store._connection.value("SELECT count(DISTINCT segid) FROM component_text_idx") <= 3
    weights = (2.0, 1.0, 1.0)
    assert bench.store.graph.match(["revision"], limit=9, weights=weights)
    assert bench.store.graph.match(["11"], limit=9, weights=weights)
    assert not bench.store.graph.match(["10"], limit=9, weights=weights)


def test_removing_a_source_removes_exactly_its_own(bench):
    one = bench.write(FILES, under="one")
    two = bench.write({"skills/delta/SKILL.md": skill("delta", "Tests APIs.")}, under="two")
    bench.ingest(one)
    alone = bench.rows()
    edges = bench.store._connection.rows("SELECT source, target, relation, weight FROM edge ORDER BY 1, 2, 3")
    other = bench.ingest(two).source

    assert remove_source(bench.store, other)
    assert not remove_source(bench.store, other)
    assert bench.rows() == alone
    assert bench.store._connection.rows("SELECT source, target, relation, weight FROM edge ORDER BY 1, 2, 3") == edges


def test_progress_is_told_step_by_step(bench):
    steps = []

    bench.ingest(bench.write(FILES), report=steps.append)

    assert list(dict.fromkeys(step.stage for step in steps)) == ["read", "extract", "write", "relate"]
    assert all(step.done <= step.total for step in steps if step.total)


def test_an_empty_folder_is_a_source_without_components(bench):
    report = bench.ingest(bench.write({"notes.txt": "x"}))

    assert (report.components, report.skipped) == (0, ())

"""The head of an answer to a task, a prompt or a brief question is graded by all evidence, for its encoder alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import Query
from repertoire.domain.component import SKILL, Component, FileRecord, SourceInfo
from repertoire.inference.weights import bundled
from repertoire.ports import Embedder
from repertoire.retrieval.confidence import chance, chance_share, interpolate
from repertoire.retrieval.grading import is_placeholder
from repertoire.retrieval.judging import rarities_of
from repertoire.retrieval.need import need_model_for
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import PROMPT, RECOMMEND, SEARCH
from repertoire.retrieval.relevance import RELEVANCE, RelevanceModel, relevance_model_for, score_of
from repertoire.retrieval.relevance_features import HEAD, REPLACED, relevance_features
from repertoire.store.database import Store
from sample_home import NOW, component, fill_skills

ROWS = (
    ("api-tests", "Writes tests for HTTP APIs.", "testing"),
    ("api-designer", "Designs HTTP APIs and their versions.", "api-design"),
    ("release-notes", "Writes release notes from commits.", "documentation"),
    ("query-tuner", "Makes slow SQL queries fast.", "databases"),
)
BRIEF = "write tests for our API"
LONG = (
    "after the last release the nightly import of invoices from the accounting system stops at a different record each "
    "time, the log names a timeout of the database, and nobody changed the import since March, so find the cause"
)


@pytest.fixture
def pipeline(tmp_path: Path, embedder: Embedder) -> Iterator[Pipeline]:
    with Store.open(tmp_path / "graded.db") as store:
        fill_skills(store, ROWS)
        embed_pending(store, embedder)
        yield Pipeline(store.graph, store.vectors, embedder=embedder)


def test_it_was_learned_for_the_shipped_reading_of_questions_and_speaks_for_no_other(tmp_path: Path):
    assert relevance_model_for(bundled().query_encoder) is not None
    assert relevance_model_for(bundled().model) is None
    assert relevance_model_for(bundled().query_encoder, tmp_path / "none.npz") is None


def test_grades_are_a_linear_function_beside_a_hidden_layer_of_standardised_features(tmp_path: Path):
    model = RelevanceModel(
        "r",
        means=np.array([1.0, 0.0]),
        deviations=np.array([2.0, 1.0]),
        direct=np.array([[1.0, 0.0], [0.0, 1.0]]),
        of_features=np.array([[1.0], [-1.0]]),
        hidden_offsets=np.array([0.5]),
        of_hidden=np.array([[2.0, -1.0]]),
        offsets=np.array([0.25, 0.0]),
    )
    model.save(tmp_path / "r.npz")
    kept = relevance_model_for("r", tmp_path / "r.npz")
    assert kept is not None

    for found in (model, kept):
        grades = found.grades(np.array([[3.0, 0.0], [1.0, 100.0]]))
        # (1, 0): hidden 1.5; (0, 100) is cut at five deviations: hidden 0
        assert grades.tolist() == [pytest.approx([1.0 + 3.0 + 0.25, -1.5]), pytest.approx([0.25, 5.0])]
    assert score_of(np.array([[1.0, 4.0]])).tolist() == [3.0]


def test_grades_replace_the_evidence_that_they_read(pipeline: Pipeline):
    ranking = pipeline.rank(Query(BRIEF), intent=RECOMMEND)
    assert ranking.grades is not None
    rows = ranking.rows
    replaced = sum(ranking.parts[part][rows] for part in (*REPLACED, RELEVANCE) if part in ranking.parts)

    assert ranking.snapshot.summaries[rows[0]].name == "api-tests"
    assert ranking.grades[rows[0], 0] == max(ranking.grades[rows, 0])
    # what is left of the evidence falls from the first to the last as the grades do
    assert np.all(np.diff(replaced) <= 1e-9)
    assert len(rows) <= HEAD


def test_what_is_switched_off_is_ranked_by_the_evidence_alone(pipeline: Pipeline):
    without = pipeline.rank(Query(BRIEF, without=frozenset({RELEVANCE})), intent=RECOMMEND)
    assert (RELEVANCE in without.parts, without.grades) == (False, None)
    assert without.chance == without.confidence, "of which the words tell"


@pytest.mark.parametrize("intent", [RECOMMEND, PROMPT])
def test_grades_have_a_share_in_the_order_for_a_long_task_too(pipeline: Pipeline, intent: str):
    by_parts = pipeline.rank(Query(LONG, without=frozenset({RELEVANCE})), intent=intent)
    ranking = pipeline.rank(Query(LONG), intent=intent)
    assert ranking.grades is not None
    assert ranking.chance is not None
    score = score_of(ranking.grades[ranking.rows])
    change = ranking.parts[RELEVANCE][ranking.rows]
    summed = sum(by_parts.parts[part][ranking.rows] for part in REPLACED if part in by_parts.parts)
    assert change == pytest.approx(0.4 * (3.0 * (score - score.max()) - (summed - summed.max())), abs=1e-6)


def test_what_is_lost_in_translation_lowers_a_chance_once(pipeline: Pipeline):
    text = (
        "schreibe Tests für unsere API und prüfe alle Fehler, Anfragen und Antworten, auch mit alten Daten, langsamen "
        "Abfragen, falschen Namen, vor der neuen Version am Montag: müßig schnörkelig Blümchen Gänseblümlein"
    )
    ranking = pipeline.rank(Query(text), intent=RECOMMEND)
    read, grades = ranking.plan.translation, ranking.grades
    assert read is not None
    assert grades is not None
    share, understood = chance_share(ranking.plan.brevity), read.known / (read.known + len(set(read.unknown)))
    assert share < 1.0
    assert understood < 1.0

    served = interpolate(ranking.confidence / understood, chance(float(grades[ranking.rows[0], 0])), share)
    assert ranking.chance == pytest.approx(understood * served)


def test_a_long_question_must_surely_need_a_component(pipeline: Pipeline):
    need = need_model_for(bundled().query_encoder)
    assert need is not None
    for text, least in ((BRIEF, 0.0), (LONG, 2.0)):
        ranking = pipeline.rank(Query(text), intent=PROMPT)
        assert ranking.question is not None
        assert ranking.need == pytest.approx(need.odds(text, ranking.question.adapted) - least)


def test_a_long_search_is_ranked_by_the_evidence_alone(pipeline: Pipeline):
    long = pipeline.rank(Query(LONG), intent=SEARCH)
    assert (RELEVANCE in long.parts, long.grades, long.chance) == (False, None, None)


def test_a_run_stops_before_a_stage_with_all_that_this_stage_reads(pipeline: Pipeline):
    model = relevance_model_for(bundled().query_encoder)
    assert model is not None
    run, fused = (pipeline.run_before(stage, Query(BRIEF)) for stage in (RELEVANCE, "capabilities"))
    rows = run.head(2)
    components = [entry.component for _, entry in run.reader.at(rows)]

    features = relevance_features(run, rows, components, rarities_of(run.reader.graph, run.plan, run.snapshot))

    assert features.shape == (2, len(model.means))
    assert (RELEVANCE in run.parts, run.grades) == (False, None)
    assert fused.implied is None
    assert fused.parts.keys() < run.parts.keys()


@pytest.mark.parametrize("silenced", [False, True])
def test_a_copy_that_is_muted_takes_nothing_from_the_one_that_is_not(
    tmp_path: Path, embedder: Embedder, silenced: bool
):
    with Store.open(tmp_path / "graded.db") as store:
        fill_skills(store, ROWS)
        told = component("skill", *ROWS[0][:2])
        away = replace(told, id="project:/elsewhere:skills/api-tests.md")
        source = SourceInfo("project:/elsewhere", "project", "/elsewhere", "")
        record = FileRecord(told.path, told.content_hash, (away,), (), ())
        store.sources.write(source, [record], [], derived=[], now=NOW)
        embed_pending(store, embedder)
        muted = frozenset({source.key}) if silenced else frozenset[str]()
        pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
        ranking = pipeline.rank(Query(BRIEF), intent=RECOMMEND, muted=muted)

    first, graded = ranking.rows[0], ranking.parts[RELEVANCE]
    assert (ranking.snapshot.summaries[first].name, graded[first]) == ("api-tests", graded.max())
    assert len(ranking.rows) == len(ROWS) + (not silenced)


def test_an_installed_copy_is_graded_by_all_that_is_known_of_the_one_in_a_repository(
    tmp_path: Path, embedder: Embedder
):
    """Only that one has a plugin, and the catalogue's words; the task is in these."""
    with Store.open(tmp_path / "graded.db") as store:
        fill_skills(store, ROWS[1:])
        told = replace(component("skill", *ROWS[0][:2], plugin="api-kit"), id="github.com/acme/kit:api-tests.md")
        kit = SourceInfo("github.com/acme/kit", "git", "https://github.com/acme/kit", "github.com/acme/kit")
        store.sources.write(kit, [FileRecord(told.path, "told", (told,), (), ())], [], derived=[], now=NOW)
        own = replace(told, id="user:~/.claude:api-tests.md", description="Checks calls.", body="Checks calls.")
        own = replace(own, repository="", plugin="", installed=True)
        user = SourceInfo("user:~/.claude", "user", "~/.claude", "")
        store.sources.write(user, [FileRecord(own.path, "own", (own,), (), ())], [], derived=[], now=NOW)
        embed_pending(store, embedder)
        ranking = Pipeline(store.graph, store.vectors, embedder=embedder).rank(Query(BRIEF), intent=RECOMMEND)

    rows = {ranking.snapshot.summaries[row].id: int(row) for row in ranking.rows}
    assert ranking.rows[0] == rows[own.id]
    assert ranking.chances(rows[own.id]) == ranking.chances(rows[told.id])
    assert ranking.likeness[rows[own.id]] == ranking.likeness[rows[told.id]] > 0.3


def test_a_placeholder_gives_way_to_what_serves(tmp_path: Path, embedder: Embedder):
    shows = (
        "Shows how a Claude Code skill is created: its front matter, its triggers, its files. Use it to create a skill."
    )
    rows = (
        ("example-skill", shows, "skill-authoring"),
        ("skill-creator", "Creates skills.", "skill-authoring"),
        ("example-based-tests", "Writes tests from examples.", "testing"),
    )
    with Store.open(tmp_path / "graded.db") as store:
        fill_skills(store, rows)
        embed_pending(store, embedder)
        pipeline = Pipeline(store.graph, store.vectors, embedder=embedder)
        ranking = pipeline.rank(Query("create a Claude Code skill"), intent=RECOMMEND)
        named = pipeline.rank(Query("example-skill"), intent=RECOMMEND)

    names = [ranking.snapshot.summaries[row].name for row in ranking.rows]
    assert names.index("skill-creator") < names.index("example-skill")
    assert named.snapshot.summaries[named.rows[0]].name == "example-skill"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("example-skill", True),
        ("template_skill", True),
        ("hello-world-command", True),
        ("example-mcp-server", True),
        ("plugin-template", False),
        ("example-based-tests", False),
        ("example", False),
        ("", False),
    ],
)
def test_a_placeholder_is_known_by_its_name_alone(name: str, expected: bool):
    assert is_placeholder(Component(name, SKILL, name)) is expected

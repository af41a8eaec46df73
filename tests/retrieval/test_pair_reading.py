"""The best graded components are read together with the question, by the right pair encoder alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.catalogue import products
from repertoire.domain.answer import FAST, Query
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.bundled import BundledSession
from repertoire.inference.weights import bundled
from repertoire.retrieval.binding import BINDING
from repertoire.retrieval.direction import DIRECTION
from repertoire.retrieval.need import NEED
from repertoire.retrieval.pair_reading import OF_HINT, OF_LIST, OF_SET, PAIRS, graded_again, pair_text
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import PROMPT, RECOMMEND, SEARCH
from repertoire.retrieval.products import Products
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.relevance import (
    PAIR_FILE,
    RELEVANCE,
    GradedHead,
    RelevanceModel,
    pair_reading,
    relevance_model_for,
)
from repertoire.retrieval.relevance_features import REPLACED
from repertoire.retrieval.resources import Options
from repertoire.store.database import Store
from sample_home import component, fill_skills

ROWS = (
    ("docker-hub", "Lists Docker images, tags and their size.", "containers"),
    ("slim-images", "Writes multi-stage Dockerfiles that keep only what a program needs at run time.", "containers"),
    ("image-resizer", "Reduces the size of PNG and JPEG images.", "images"),
    ("compose", "Runs several containers with Docker Compose.", "containers"),
    ("release-notes", "Writes release notes from commits.", "documentation"),
    ("query-tuner", "Makes slow SQL queries fast.", "databases"),
    ("api-tests", "Writes tests for HTTP APIs.", "testing"),
)
BRIEF = "reduce docker image size"


class Watched:
    """The real model, and what it was asked to read together."""

    def __init__(self, model: BundledSession) -> None:
        self._model, self.pair_encoder = model, model.pair_encoder
        self.read: list[tuple[str, str]] = []

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        self.read += pairs
        return self._model.read_pairs(pairs)


class Broken:
    """A model whose files are damaged."""

    pair_encoder = bundled().pair_encoder

    def read_pairs(self, _pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        message = "the model does not load"
        raise ModelUnavailable(message)


class Fixed:
    """Reads the same in every pair but one."""

    pair_encoder = "fixed"

    def __init__(self, favourite: str) -> None:
        self._favourite = favourite

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        return np.array([[9.0, 9.0] if text == self._favourite else [-9.0, -9.0] for _, text in pairs])


@pytest.fixture
def store(tmp_path: Path, embedder: BundledSession) -> Iterator[Store]:
    with Store.open(tmp_path / "pairs.db") as store:
        fill_skills(store, ROWS)
        embed_pending(store, embedder)
        yield store


def pipeline_of(store: Store, embedder: BundledSession, reader: Watched | Broken) -> Pipeline:
    return Pipeline(store.graph, store.vectors, embedder=embedder, options=Options(pair_reader=reader))


def test_it_was_learned_for_the_shipped_encoders_and_speaks_for_no_others():
    weights = bundled()

    assert relevance_model_for(pair_reading(weights.query_encoder, weights.pair_encoder), PAIR_FILE) is not None
    assert relevance_model_for(pair_reading(weights.query_encoder, ""), PAIR_FILE) is None
    assert relevance_model_for(weights.query_encoder, PAIR_FILE) is None


def test_the_best_few_are_read_with_the_question_and_the_others_keep_their_grades(
    store: Store, embedder: BundledSession
):
    watched = Watched(embedder)
    pipeline = pipeline_of(store, embedder, watched)

    before = pipeline.rank(Query(BRIEF, without=frozenset({PAIRS})), intent=RECOMMEND)
    assert watched.read == []
    after = pipeline.rank(Query(BRIEF), intent=RECOMMEND)

    assert before.grades is not None
    assert after.grades is not None
    assert {question for question, _ in watched.read} == {BRIEF}
    texts = [text for _, text in watched.read]
    assert OF_SET[0] <= len(texts) <= OF_SET[1]
    assert len(texts) == len(set(texts))
    assert (
        "skill. slim images. Writes multi-stage Dockerfiles that keep only what a program needs at run time." in texts
    )
    changed = np.any(before.grades != after.grades, axis=1)
    ungraded = len(ROWS) - len(after.rows)  # they share the lowest grade
    assert changed.sum() <= len(texts) + ungraded
    fits, shares_words = (
        after.snapshot.row_of(f"folder:/shelf:skills/{name}.md") for name in ("slim-images", "docker-hub")
    )
    leads = [grades[fits, 0] - grades[shares_words, 0] for grades in (before.grades, after.grades)]
    assert leads[1] > leads[0]
    assert f"{len(texts)} read" in [stage.detail for stage in after.report if stage.stage == PAIRS]


def test_new_grades_take_the_place_of_those_before_them(store: Store, embedder: BundledSession):
    ranking = pipeline_of(store, embedder, Watched(embedder)).rank(Query(BRIEF), intent=RECOMMEND)
    assert ranking.grades is not None
    rows = ranking.rows
    score = ranking.grades[rows, 0] + 0.5 * ranking.grades[rows, 1]
    replaced = sum(ranking.parts[part][rows] for part in (*REPLACED, RELEVANCE) if part in ranking.parts)

    # for a question of few words what is left of the evidence is as far apart as the grades, times their spread
    np.testing.assert_allclose(np.diff(replaced), 3.0 * np.diff(score), atol=1e-9)


def test_a_fast_answer_reads_no_pairs(store: Store, embedder: BundledSession):
    watched = Watched(embedder)

    pipeline_of(store, embedder, watched).rank(Query(BRIEF, mode=FAST), intent=RECOMMEND)

    assert watched.read == []


def test_nothing_is_graded_or_read_for_a_prompt_that_needs_no_component(store: Store, embedder: BundledSession):
    watched, idle = Watched(embedder), "rename the second parameter too"
    pipeline = pipeline_of(store, embedder, watched)

    hinted = pipeline.rank(Query(idle), intent=PROMPT)
    switched_off = pipeline.rank(Query(idle, without=frozenset({NEED})), intent=PROMPT)

    assert hinted.need < -3.0
    assert hinted.grades is None
    assert switched_off.need == 0.0
    assert switched_off.grades is not None
    assert {question for question, _ in watched.read} == {idle}
    assert pipeline.rank(Query(idle), intent=RECOMMEND).grades is not None


def test_a_model_that_fails_is_noted_in_an_answer_with_the_grades_before_it(store: Store, embedder: BundledSession):
    without = pipeline_of(store, embedder, Watched(embedder)).rank(
        Query(BRIEF, without=frozenset({PAIRS})), intent=RECOMMEND
    )
    ranking = pipeline_of(store, embedder, Broken()).rank(Query(BRIEF), intent=RECOMMEND)

    assert any("the model does not load" in note for note in ranking.degraded)
    assert ranking.rows.tolist() == without.rows.tolist()


# a model whose grades are what was read
READ_ALONE = RelevanceModel(
    "fixed",
    means=np.zeros(3),
    deviations=np.full(3, 10.0),
    direct=np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]]),
    of_features=np.zeros((3, 1)),
    hidden_offsets=np.zeros(1),
    of_hidden=np.zeros((1, 2)),
    offsets=np.zeros(2),
)


def head_of(scores: Sequence[float]) -> GradedHead:
    count = len(scores)
    grades = np.column_stack([scores, np.zeros(count)])
    pairs = [("q", f"text {place}") for place in range(count)]
    return GradedHead(np.arange(count), np.zeros((count, 1)), grades, pairs, np.zeros(count), np.zeros(count))


def test_what_was_read_decides_among_the_best_and_moves_nothing_else():
    head = head_of(np.arange(8.0).tolist())

    found, read = graded_again(head, Fixed("text 4"), READ_ALONE, (2, 4))

    assert read == 4
    assert found[:4].tolist() == head.grades[:4].tolist()
    assert found[4:].tolist() == [[9.0, 9.0], *[[-9.0, -9.0]] * 3]


def test_a_handicap_and_a_precedence_change_what_is_read_and_no_grade():
    head = head_of(np.arange(8.0).tolist())
    head.handicaps[7], head.precedence[0] = 9.0, 9.0

    found, _ = graded_again(head, Fixed("nothing"), READ_ALONE, (2, 2))

    assert np.flatnonzero(found[:, 1]).tolist() == [0, 6]
    assert found[7].tolist() == head.grades[7].tolist()


@pytest.mark.parametrize(
    ("favourite", "bounds", "read"),
    [
        ("text 0", (2, 8), 2),  # the next lie far behind what reads best
        ("text 0", (4, 8), 4),
        ("text 3", (2, 8), 4),  # nothing that was read before reads well
        ("nothing", (2, 6), 6),
        ("nothing", (2, 20), 8),
    ],
)
def test_reading_goes_on_until_the_next_lie_behind_what_reads_best(favourite: str, bounds: tuple[int, int], read: int):
    found, count = graded_again(head_of([7.0 - place for place in range(8)]), Fixed(favourite), READ_ALONE, bounds)

    assert count == read
    assert (found[:, 1] != 0.0).sum() == read


@pytest.mark.parametrize(("intent", "bounds"), [(PROMPT, OF_HINT), (SEARCH, OF_LIST), (RECOMMEND, OF_SET)])
def test_a_hint_reads_fewer_than_a_list_and_a_set_more(
    store: Store, embedder: BundledSession, intent: str, bounds: tuple[int, int]
):
    watched = Watched(embedder)

    pipeline_of(store, embedder, watched).rank(Query(BRIEF), intent=intent)

    assert bounds[0] <= len(watched.read) <= bounds[1]


def test_a_component_is_read_by_type_plugin_name_and_description_up_to_a_bound():
    asked = ("mcp_server", "slim-images", "Small images.")
    long = pair_text(component("skill", "long-one", "word " * 1000, plugin="p" * 1000))

    assert pair_text(component(*asked)) == "mcp server. slim images. Small images."
    assert pair_text(component(*asked, plugin="web-tools")) == "mcp server, web tools. slim images. Small images."
    assert "long one. word" in long
    assert len(long) == 440


def with_and_without(
    place: Path, embedder: BundledSession, rows: Sequence[tuple[str, str]], task: str, part: str
) -> list[Ranking]:
    """Rank some skills for a task with every part, and without one."""
    options = Options(pair_reader=embedder, products=Products(products.load()))
    with Store.open(place / "parts.db") as store:
        fill_skills(store, [(name, told, "any") for name, told in rows])
        embed_pending(store, embedder)
        pipeline = Pipeline(store.graph, store.vectors, embedder=embedder, options=options)
        return [
            pipeline.rank(Query(task, without=off), intent=RECOMMEND) for off in (frozenset[str](), frozenset({part}))
        ]


@pytest.mark.parametrize(
    ("task", "part", "rows"),
    [
        (
            "convert the PDF to Excel",
            DIRECTION,  # a converter into something else, however likely it reads
            (
                ("excel-to-markdown", "Converts Excel workbooks into Markdown."),
                ("sheets", "Reads Excel workbooks, PDF tables and CSV files, and writes Excel."),
                ("release-notes", "Writes release notes from commits."),
            ),
        ),
        (
            "add SSO with Okta",
            BINDING,  # another vendor's, where something of the named one is there
            (
                ("auth0", "Guides for adding a login, SSO and access rules with Auth0."),
                ("okta-directory", "Manages users, groups and SSO of an Okta organisation."),
                ("release-notes", "Writes release notes from commits."),
            ),
        ),
    ],
)
def test_what_leads_elsewhere_is_graded_lower_and_what_is_asked_for_leads(
    tmp_path: Path, embedder: BundledSession, task: str, part: str, rows: tuple[tuple[str, str], ...]
):
    held, free = with_and_without(tmp_path, embedder, rows, task, part)
    assert held.grades is not None
    assert free.grades is not None
    wrong = held.snapshot.row_of(f"folder:/shelf:skills/{rows[0][0]}.md")
    assert free.grades[wrong, 0] - held.grades[wrong, 0] > 1.0
    assert held.snapshot.summaries[held.rows[0]].name == rows[1][0]

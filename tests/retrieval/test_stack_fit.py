"""In a project, components for what it is built with are read as for it and come first; those for others go back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from repertoire.app.sources.embed import embed_pending
from repertoire.catalogue import products
from repertoire.domain.answer import Query
from repertoire.inference.bundled import BundledSession
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND, Stack
from repertoire.retrieval.priors import STACK
from repertoire.retrieval.products import Products
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.relevance import RELEVANCE
from repertoire.retrieval.resources import Options
from repertoire.store.database import Store
from sample_home import fill_skills

ROWS = (
    ("rust-testing", "Testing patterns for Rust: unit tests, async tests, mocks.", "rust"),
    ("python-testing", "Testing patterns for Python: pytest, fixtures, mocks.", "python"),
    ("react-testing", "Testing patterns for React components.", "react"),
    ("vue-testing", "Testing patterns for Vue components.", "vue"),
    ("rust-python-testing", "Testing patterns for bindings between Rust and Python.", "rust"),
    ("testing-strategy", "Plans which tests a project needs.", "unit-testing"),
    ("redis-testing", "Testing patterns for Redis.", "redis"),
    ("github-checks", "Tests on GitHub for each pull request.", "github"),
    ("release-notes", "Writes release notes from commits.", "documentation"),
)
STACKS = {
    "/rust": Stack(frozenset({"rust", "redis"})),
    "/next": Stack(frozenset({"react", "nextjs"})),
    "/ops": Stack(frozenset({"docker"})),  # no language is known
    "/android": Stack(frozenset({"kotlin", "android"})),
    "/fastapi": Stack(frozenset({"python", "fastapi"})),
    "/spring": Stack(frozenset({"java", "spring-boot"})),
    "/swift": Stack(frozenset({"swift"})),  # of a framework nothing is known
}


class Watched:
    """The real model, and the questions that were read, by the beginning of their text."""

    def __init__(self, model: BundledSession) -> None:
        self._model, self.pair_encoder = model, model.pair_encoder
        self.questions: dict[str, str] = {}

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        self.questions |= {text.split(". ")[1].replace(" ", "-"): question for question, text in pairs}
        return self._model.read_pairs(pairs)


@pytest.fixture
def store(tmp_path: Path, embedder: BundledSession) -> Iterator[Store]:
    with Store.open(tmp_path / "stack.db") as store:
        yield store


def ask(
    store: Store, embedder: BundledSession, text: str, project: str, *, without: Sequence[str] = ()
) -> tuple[Ranking, dict[str, str]]:
    embed_pending(store, embedder)
    reader = Watched(embedder)
    options = Options(pair_reader=reader, products=Products(products.load()), stack=lambda folder: STACKS[folder])
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder, options=options)
    ranking = pipeline.rank(Query(text, project=project, without=frozenset(without)), intent=RECOMMEND)
    assert ranking.grades is not None
    return ranking, reader.questions


def grade(ranking: Ranking, name: str) -> float:
    assert ranking.grades is not None
    return float(ranking.grades[ranking.snapshot.row_of(f"folder:/shelf:skills/{name}.md"), 0])


def first(ranking: Ranking) -> str:
    return ranking.snapshot.summaries[ranking.rows[0]].name


@pytest.mark.parametrize(
    ("project", "leads"), [("", "testing-strategy"), ("/ops", "testing-strategy"), ("/rust", "rust-testing")]
)
def test_what_is_for_the_projects_own_language_leads(store, embedder, project, leads):
    fill_skills(store, ROWS)

    assert first(ask(store, embedder, "write tests", project)[0]) == leads


def test_what_is_for_the_stack_is_read_as_for_it_and_all_else_as_it_was_asked(store, embedder):
    fill_skills(store, [row for row in ROWS if row[0] in ("rust-testing", "redis-testing", "testing-strategy")])

    questions = ask(store, embedder, "write tests", "/rust")[1]

    # a database is used by a project, no program is written in it
    assert questions == {
        "rust-testing": "write tests in rust", "redis-testing": "write tests", "testing-strategy": "write tests"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("project", "name", "told", "read"),
    [
        ("/fastapi", "python-checks", "Writes tests with pytest.", "write tests in python"),  # its name tells first
        ("/fastapi", "django-checks", "Writes tests in Python.", "write tests"),
        ("/fastapi", "pandas-checks", "Writes tests for data frames.", "write tests"),
        ("/swift", "swiftui-checks", "Writes tests of views.", "write tests in swift"),
        ("/android", "java-checks", "Writes tests.", "write tests in java"),  # which Kotlin implies
        ("/spring", "kotlin-checks", "Writes tests.", "write tests"),  # akin to Java, and not used
    ],
)
def test_what_a_component_is_for_is_told_by_its_name_before_its_text(store, embedder, project, name, told, read):
    fill_skills(store, [(name, told, "unit-testing")])

    assert ask(store, embedder, "write tests", project)[1] == {name: read}


@pytest.mark.parametrize(
    ("project", "elsewhere", "neither"),
    [
        ("/rust", ("python-testing", "react-testing", "vue-testing"), ("testing-strategy", "github-checks")),
        ("/next", ("python-testing", "vue-testing", "rust-python-testing"), ("testing-strategy", "redis-testing")),
        ("/ops", (), ("python-testing", "rust-testing", "testing-strategy")),
    ],
)
def test_what_is_only_for_another_language_or_framework_is_graded_lower(store, embedder, project, elsewhere, neither):
    fill_skills(store, ROWS)

    for name in (*elsewhere, *neither):
        # graded by features alone, as other components are read
        with_it, without_it = (
            grade(ask(store, embedder, "write tests", project, without=("pairs", *off))[0], name)
            for off in ((), (STACK,))
        )
        # the order before grading is a feature of the grade too
        assert with_it - without_it == pytest.approx(-1.6 if name in elsewhere else 0.0, abs=0.5), name


@pytest.mark.parametrize(
    ("name", "description", "lower"),
    [
        ("e2e-checks", "Browser suites with Playwright or Cypress.", False),
        ("e2e-checks", "Browser suites with Cypress.", True),
        ("typescript-checks", "Browser suites with Playwright.", True),
    ],
)
def test_what_is_for_a_framework_that_is_named_is_for_no_other_language(store, embedder, name, description, lower):
    fill_skills(store, [(name, description, "e2e-testing")])
    asked = "write tests with Playwright"

    with_it, without_it = (
        grade(ask(store, embedder, asked, "/fastapi", without=("pairs", *off))[0], name) for off in ((), (STACK,))
    )
    assert (with_it - without_it < -0.8) is lower


def test_a_question_that_names_another_language_is_about_that_one(store, embedder):
    fill_skills(store, ROWS)

    ranking, questions = ask(store, embedder, "write tests for the Python client", "/rust")

    assert first(ranking) == "python-testing"
    assert set(questions.values()) == {"write tests for the Python client"}


def test_a_specialist_of_the_stack_is_graded_though_it_bears_no_word_of_the_task(store, embedder):
    others = [(f"photo-feed-{n}", f"Scrolling of the photo feed, part {n}.", "performance") for n in range(60)]
    fill_skills(store, [*others, ("kotlin-specialist", "Expert Kotlin developer for Android apps.", "kotlin")])

    with_it, without_it = (
        ask(store, embedder, "scrolling the photo feed is janky", "/android", without=off)[0] for off in ((), (STACK,))
    )

    graded = [stage.detail for one in (with_it, without_it) for stage in one.report if stage.stage == RELEVANCE]
    assert graded == ["41 graded", "40 graded"]

"""Components whose action or conversion opposes the task's are ranked lower, if both are plain."""

import pytest

from repertoire.catalogue import products
from repertoire.domain.answer import Query
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH
from repertoire.retrieval.products import Products
from repertoire.retrieval.resources import Options
from repertoire.store.database import Store
from sample_home import component, fill


@pytest.fixture
def direction(tmp_path):
    """Return what tells the direction's part in the log-odds of one component for a task."""
    with Store.open(tmp_path / "direction.db") as store:

        def part(task, name, description):
            fill(store, component("skill", name, description))
            pipeline = Pipeline(
                store.graph, store.vectors, embedder=None, options=Options(products=Products(products.load()))
            )
            ranking = pipeline.rank(Query(task), intent=SEARCH)
            return float(ranking.parts["direction"][ranking.snapshot.column("name").tolist().index(name)])

        yield part


@pytest.mark.parametrize(
    ("task", "name", "description"),
    [
        ("write integration specs", "spec-reviewer", "Integration specs, looked over."),
        ("please review our specs", "spec-writer", "Specs for integration."),
        ("review our specs", "specs", "Generates specs for integration."),
        ("convert the PDF to Excel", "excel-to-markdown", "Excel sheets as text."),
        ("turn the PDF into Excel", "sheets", "Converts Excel into Markdown."),
        ("port the page from Vue to React", "react-to-vue", "Moves a page."),
        ("migrate our page to React", "page-to-vue", "Moves a page."),
        ("mock the payment service", "service-load-testing", "Puts a payment service under load."),
        ("load test the payment service", "service-mocking", "Stands in for a payment service."),
    ],
)
def test_what_goes_the_other_way_is_held_back(direction, task, name, description):
    assert direction(task, name, description) < 0.0


@pytest.mark.parametrize(
    ("task", "name", "description"),
    [
        ("review our specs", "spec-reviewer", "Specs, looked over."),
        ("fix the build", "build-fixer", "Builds that fail."),
        ("convert PDF to Excel", "pdf-to-excel-converter", "Sheets out of PDF."),
    ],
)
def test_what_does_just_this_is_preferred(direction, task, name, description):
    assert direction(task, name, description) > 0.0


@pytest.mark.parametrize(
    ("task", "name", "description"),
    [
        ("our specs are wrong", "spec-reviewer", "Specs, looked over."),  # asks for no action
        ("write a checklist for reviewing specs", "spec-reviewing", "Specs, looked over."),  # names it itself
        ("write specs", "specs", "All about specs."),  # offers none
        ("write a migration", "database-migration", "For a schema that changes."),  # a thing as often as an action
    ],
)
def test_what_is_not_plain_counts_nothing(direction, task, name, description):
    assert direction(task, name, description) == 0.0

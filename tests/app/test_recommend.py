"""The recommended set: small, closed under what it needs, within its budget, with reasons."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repertoire.app.pool import tokens_of
from repertoire.app.recommend import recommend
from repertoire.domain.answer import Task
from repertoire.domain.component import DEPENDS_ON, Edge
from repertoire.domain.errors import InvalidRequest
from repertoire.retrieval.pipeline import Pipeline
from repertoire.store.database import Store
from shelf import NOW, component, fill

KUBERNETES, POSTGRES = "folder:/shelf:skills/kubernetes-deploy.md", "folder:/shelf:mcp_servers/postgres.md"
WORDS = "fill pdf forms release notes changelog deploy kubernetes helm sql database audit ledger browser format".split()


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "repertoire.db") as opened:
        fill(
            opened,
            component("skill", "helm-lint", "Checks Helm charts before they are deployed."),
            installed=("changelog",),
        )
        needs = [Edge(KUBERNETES, "folder:/shelf:skills/helm-lint.md", DEPENDS_ON)]
        opened.sources.set_edges(needs, now=NOW, file="declared")
        yield opened


@pytest.fixture
def pipeline(store):
    known = ("helm", "kubernetes", "postgresql", "sql", "translation")
    return Pipeline(
        store.graph,
        store.vectors,
        embedder=None,
        capabilities=lambda text: [name for name in known if name in text.lower()],
    )


def names(recommendation):
    return [item.hit.component.name for item in recommendation.items]


def test_a_set_covers_the_task_and_each_member_has_its_part(pipeline):
    found = recommend(pipeline, Task("deploy with helm to kubernetes and explain slow sql in postgresql"))
    roles = {item.hit.component.name: item.role for item in found.items}
    assert roles["kubernetes-deploy"] == "helm, kubernetes"
    assert roles["postgres"] == "postgresql, sql"


def test_what_a_member_needs_comes_with_it_and_before_it(pipeline):
    found = recommend(pipeline, Task("roll back a deployment on kubernetes", limit=1))
    assert names(found) == ["helm-lint", "kubernetes-deploy"]
    assert found.items[0].role == "needed by kubernetes-deploy"


def test_a_set_without_what_it_needs_is_none(pipeline):
    muted = frozenset({"folder:/shelf:skills/helm-lint.md"})
    assert "kubernetes-deploy" not in names(recommend(pipeline, Task("deploy services to kubernetes"), muted=muted))


def test_what_nothing_covers_is_said(pipeline):
    found = recommend(pipeline, Task("deploy to kubernetes with helm after the translation"))
    assert found.gaps == ("translation",)


def test_install_lines_are_those_of_what_is_not_installed_each_once(pipeline):
    found = recommend(pipeline, Task("write release notes and a changelog from git commits"))
    assert "changelog" in names(found)
    assert "/plugin install changelog@acme" not in found.install
    assert len(found.install) == len(set(found.install))


def test_nothing_fits_and_the_nearest_misses_stand_beside(pipeline):
    found = recommend(pipeline, Task("book a flight to Rome and a hotel with a database of reviews"))
    assert found.items == ()
    assert [hit.component.name for hit in found.near] == ["postgres"]


def test_twins_are_one_and_the_installed_one_is_taken(store, pipeline):
    twin = component(
        "skill", "pdf-forms", "Fills the fields of PDF forms from a spreadsheet.", path="copy/pdf-forms.md"
    )
    fill(store, type(twin)(**{**vars(twin), "id": "folder:/shelf:copy/pdf-forms.md", "installed": True}))
    found = recommend(pipeline, Task("fill PDF forms"))
    assert [item.hit.component.id for item in found.items if item.hit.component.name == "pdf-forms"] == [
        "folder:/shelf:copy/pdf-forms.md"
    ]


@pytest.mark.parametrize("task", [Task(""), Task("x", limit=0), Task("x", budget=0)])
def test_a_task_that_leaves_no_room_is_told_so(pipeline, task):
    with pytest.raises(InvalidRequest):
        recommend(pipeline, task)


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8),
    budget=st.integers(1, 120),
    limit=st.integers(1, 4),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_set_exceeds_its_budget_or_lacks_what_it_needs(pipeline, words, budget, limit):
    task = Task(" ".join(words), budget=budget, limit=limit)
    found = recommend(pipeline, task)
    assert sum(item.tokens for item in found.items) <= budget
    assert all(item.tokens == tokens_of(item.hit.component) for item in found.items)
    if "kubernetes-deploy" in names(found):
        assert "helm-lint" in names(found)
    assert names(recommend(pipeline, task)) == names(found)

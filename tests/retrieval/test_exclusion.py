"""What a question rules out is taken from it, and what is for that is lowered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.catalogue import products
from repertoire.domain.answer import Query
from repertoire.retrieval.exclusion import EXCLUSION, exclusion_in
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND, Stack
from repertoire.retrieval.products import Products
from repertoire.retrieval.resources import Options
from repertoire.store.database import Store
from sample_home import component, fill

KNOWN = Products(products.load())


@pytest.mark.parametrize(
    ("text", "excluded", "rest"),
    [
        ("deploy without Docker", "docker", "deploy"),
        ("set up CI but not with GitHub Actions", "github-actions", "set up CI but"),
        ("deploy the api, but not on heroku or aws", "aws heroku", "deploy the api, but"),
        ("live search. No React, no Vue, please", "react vue", "live search. , please"),
        ("write e2e tests, don't use Selenium", "selenium", "write e2e tests,"),
        ("write e2e tests, don\u2019t use Selenium", "selenium", "write e2e tests,"),
        ("share state while avoiding Redux", "redux", "share state while"),
        ("Polars instead of pandas for this", "pandas", "Polars  for this"),
        ("set up ci, jenkins is not an option", "jenkins", "set up ci,"),
        ("a map on the page. Google Maps isn't allowed here", "google-maps", "a map on the page.  here"),
        ("without any Docker containers, put it on the server", "docker", ", put it on the server"),
    ],
)
def test_what_is_ruled_out_is_taken_from_the_question(text, excluded, rest):
    found = exclusion_in(text, KNOWN)
    assert " ".join(sorted(found.products)) == excluded
    assert found.text == rest


@pytest.mark.parametrize(
    "text",
    [
        "legacy PHP code without tests",  # no product
        "the app works in Chrome but not in Safari on Android",
        "the build fails for iOS but not for Android",
        "the cache is not Redis, find out what it is",
        "no docker images found",
        "the page went blank with vite 5, reverting is not an option",
        "docker pull is not allowed by the proxy",
        "AssertionError: module has no attribute python",
        "ALTER TABLE orders ADD total int NOT NULL postgres",
        "replace the text everywhere, not in node_modules",
        "Next.js without React",  # implied by what is asked for
        "docker is slow, can we build faster without docker cache",  # asked for, too
        "the report as it is, not in the old pdf",  # a format takes the place of none
        "without Docker",  # nothing else is asked for
        "no no Docker no Docker",  # the second is a name of its own
        "no",
        "",
    ],
)
def test_what_is_said_of_the_state_of_things_rules_nothing_out(text):
    assert exclusion_in(text, KNOWN) is None


@given(st.lists(st.sampled_from("no not without , and or / Docker AWS React a the is it . \n-".split(" "))))
def test_any_question_keeps_what_it_does_not_rule_out(words):
    text = " ".join(words)
    found = exclusion_in(text, KNOWN)
    if found is not None:
        assert found.products.isdisjoint(KNOWN.in_question(found.text))
        assert found.products <= KNOWN.in_question(text)
        assert {word for name in found.written for word in name.split()} <= {"Docker", "AWS", "React"}


@pytest.fixture
def rank(tmp_path):
    with Store.open(tmp_path / "excluded.db") as store:
        fill(
            store,
            component("skill", "docker-deployment", "Deploys an application to a server with Docker."),
            component("skill", "deployment", "Deploys an application to a server."),
            component("skill", "compose-deployment", "Deploys an application, with Docker Compose."),
        )

        def asked(text, **more):
            options = Options(products=KNOWN, stack=lambda _: Stack(frozenset(("docker", "python"))))
            pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=options)
            ranking = pipeline.rank(Query(text, **more), intent=RECOMMEND)
            return ranking, [hit.component.name for hit in pipeline.hits(ranking, ranking.rows)]

        yield asked


def test_a_component_for_what_is_ruled_out_comes_last(rank):
    wanted, names = rank("deploy the application to a server with Docker")
    assert names[0] == "docker-deployment"
    assert wanted.plan.exclusion is None
    excluding, names = rank("deploy the application to a server without Docker")
    assert names[0] == "deployment"
    assert names.index("compose-deployment") < names.index("docker-deployment")
    assert "left out, as the task rules it out: Docker" in excluding.degraded


def test_what_the_project_is_built_with_can_be_ruled_out_too(rank):
    ranking, _ = rank("deploy the application without Docker", project="/shop")
    assert ranking.plan.stack.uses == {"python"}


def test_reading_what_is_ruled_out_can_be_switched_off(rank):
    ranking, _ = rank("deploy the application without Docker", without=frozenset((EXCLUSION,)))
    assert ranking.plan.exclusion is None

"""What is read out of a question."""

import pytest

from repertoire.domain.answer import Query
from repertoire.retrieval.plan import MAX_CLAUSES, MAX_WORDS, SEARCH, clauses, make_plan, wanted_types


def plan(text, **more):
    return make_plan(Query(text, **more), SEARCH)


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("an agent that reviews SQL", ("agent",)),
        ("which hooks can format code?", ("hook",)),
        ("a good MCP server for Postgres, or a skill to query it", ("mcp_server", "skill")),
        ("find slash commands that release", ("command",)),
        ("some sub-agents for testing", ("agent",)),
        ("write an agenda for the meeting", ()),
        ("the agent crashed", ()),
    ],
)
def test_a_type_is_wanted_where_it_is_the_head_of_the_wish(text, types):
    assert wanted_types(text) == types


def test_a_question_of_several_wishes_comes_apart():
    assert clauses("Add OAuth login, then write tests for it and deploy to Kubernetes.") == [
        "Add OAuth login",
        "write tests for it",
        "deploy to Kubernetes",
    ]


def test_a_question_of_one_wish_stays_whole():
    assert clauses("convert a PDF to text") == []


def test_a_short_rest_is_no_wish_of_its_own():
    assert clauses("Deploy the service to Kubernetes, please.") == []


def test_a_list_without_end_is_read_up_to_a_bound():
    assert len(clauses(". ".join(f"rotate logfile{i} daily" for i in range(50)))) == MAX_CLAUSES


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/ship", "ship"),
        ("kubernetes-deploy", "kubernetes-deploy"),
        ("folder:/shelf:skills/changelog.md", "folder:/shelf:skills/changelog.md"),
        ("Git Commit Helper", "Git Commit Helper"),
        ("two\nlines", ""),
        ("no name is this long " * 20, ""),
        ("", ""),
    ],
)
def test_what_may_be_a_name_is_kept_as_one(text, name):
    assert plan(text).name == name


def test_capabilities_are_those_that_the_vocabulary_finds_unless_switched_off():
    def find(text):
        return ["kubernetes"] if "k8s" in text else []

    assert make_plan(Query("deploy to k8s"), SEARCH, find).capabilities == ("kubernetes",)
    without = Query("deploy to k8s", without=frozenset({"capabilities"}))
    assert make_plan(without, SEARCH, find).capabilities == ()


def test_a_pasted_log_is_read_up_to_a_bound():
    assert len(plan(" ".join(f"word{i}" for i in range(5000))).words) == MAX_WORDS

"""The plan of a question: intent, types, clauses, capabilities, complexity, names and topics."""

import pytest

from repertoire.domain.answer import Query
from repertoire.retrieval.plan import (
    COMPLEX,
    EXPLAIN,
    MAX_CLAUSES,
    MAX_WORDS,
    MODERATE,
    MOST_NEEDED,
    RECOMMEND,
    SEARCH,
    SIMPLE,
    clauses,
    explained_name,
    intent_of,
    make_plan,
    wanted_types,
)


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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("what does pdf-forms do?", "pdf-forms"),
        ("Explain the docker skill", "docker"),
        ("tell me about `acme:code-reviewer`", "acme:code-reviewer"),
        ("why was /ship-it suggested?", "ship-it"),
        ("what is docker", ""),
        ("explain the architecture of this service", ""),
        ("what does this stack trace mean", ""),
    ],
)
def test_a_question_about_one_component_is_told_from_one_about_its_subject(text, name):
    assert explained_name(text) == name
    assert (plan(text).intent == EXPLAIN) == bool(name)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("recommend something for code review", RECOMMEND),
        ("We need to migrate the billing service", RECOMMEND),
        ("what should I use for load tests", RECOMMEND),
        ("pdf form filler", SEARCH),
        ("describe the code-reviewer agent", EXPLAIN),
    ],
)
def test_the_wording_tells_what_is_wanted_where_the_door_does_not(text, intent):
    assert intent_of(text) == intent
    assert make_plan(Query(text), "").intent == intent


@pytest.mark.parametrize(
    ("text", "complexity"),
    [
        ("fill PDF forms", SIMPLE),
        ("write release notes and deploy to Kubernetes", MODERATE),
        ("Add OAuth login, write tests for it, build an image, deploy to Kubernetes and watch the logs", COMPLEX),
        ("word " + " ".join(f"w{i}rd" for i in range(80)), COMPLEX),
    ],
)
def test_a_question_is_as_complex_as_what_it_asks_for(text, complexity):
    assert plan(text).complexity == complexity


def test_more_is_needed_the_more_is_asked_for():
    one = plan("fill PDF forms").size
    many = make_plan(
        Query("Add OAuth login, write tests for it, build an image, deploy to Kubernetes and watch the logs"),
        SEARCH,
        lambda _: ("oauth", "testing", "docker", "kubernetes"),
    ).size
    assert 1 <= one < many <= MOST_NEEDED
    assert plan(". ".join(f"rotate logfile{i} daily" for i in range(50))).size <= MOST_NEEDED


@pytest.mark.parametrize(
    "text",
    [
        "def load(path): return json.load(open(path))",
        'client.search(collection_name="docs", limit=3)',
        "kubectl get pods --all-namespaces -o=json",
        "useDeferredValue",
        "std::vector<int> v; v.push_back(1);",
    ],
)
def test_code_is_told_from_words(text):
    assert plan(text).code


@pytest.mark.parametrize(
    "text",
    [
        "Please add authentication to the /api/users endpoint",
        "fix process_data() in src/app/main.py, it raises a KeyError for some of the customers",
        "Update README.md and CHANGELOG.md",
        "what does $25.50 (about 20%) buy?",
        "set up GitHub Actions for a TypeScript project",
        "see https://example.com/a_b?c=d please",
        ":-)",
        "",
    ],
)
def test_words_about_code_are_words(text):
    assert not plan(text).code


def test_capabilities_are_those_that_the_vocabulary_finds_unless_switched_off():
    def find(text):
        return ["kubernetes"] if "k8s" in text else []

    assert make_plan(Query("deploy to k8s"), SEARCH, find).capabilities == ("kubernetes",)
    without = Query("deploy to k8s", without=frozenset({"capabilities"}))
    assert make_plan(without, SEARCH, find).capabilities == ()


def test_a_pasted_log_is_read_up_to_a_bound():
    assert len(plan(" ".join(f"word{i}" for i in range(5000))).words) == MAX_WORDS

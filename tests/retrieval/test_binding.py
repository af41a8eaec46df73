"""Components bound to a product rank lower if the question does not name it, and first if it does."""

from datetime import date

import pytest

from repertoire.catalogue import products
from repertoire.domain.answer import Query
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import SEARCH, Stack
from repertoire.retrieval.priors import usual_priors
from repertoire.retrieval.products import Products
from repertoire.retrieval.resources import Options
from repertoire.store.database import Store
from sample_home import component, fill

NOTES = "Writes minutes of meetings."
KNOWN = Options(products=Products(products.load()), synonyms={"code-review": ("review code",)})


def ask(store, text, *, options=KNOWN, **more):
    pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=options)
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH)
    return ranking, [hit.component.name for hit in pipeline.hits(ranking, ranking.rows)]


def odds_of(ranking, name):
    names = ranking.snapshot.column("name").tolist()
    return float(ranking.parts["binding"][names.index(name)])


@pytest.fixture
def stored(tmp_path):
    """Return what puts components into a store of their own."""
    with Store.open(tmp_path / "bound.db") as store:

        def put(*components):
            fill(store, *components)
            return store

        yield put


def test_a_neutral_one_leads_where_nobody_named_a_vendor(stored):
    store = stored(
        component("skill", "asana-meeting-minutes", NOTES),
        component("skill", "team-notes", NOTES),
    )
    task = "write meeting minutes"
    assert ask(store, task, without=frozenset({"binding"}))[1][0] == "asana-meeting-minutes"
    assert ask(store, task)[1][0] == "team-notes"
    assert ask(store, f"{task} in Asana")[1][0] == "asana-meeting-minutes"


@pytest.mark.parametrize(
    ("name", "description", "named", "unnamed"),
    [
        (
            "containerize-aspnetcore",
            "Containerizes a project.",
            "containers for a .NET project",
            "containers for a project",
        ),
        ("go-services", "Builds services in Go.", "a service in go", "we go on with a service"),
        ("rails-models", "Reviews models of Ruby on Rails.", "models of our Rails app", "models of our app"),
        ("k8s-rollout", "Rolls out services.", "the pods are OOMKilled", "roll out services"),
        ("monday-boards", "Reports from monday.com boards.", "report from monday.com", "every Monday a report"),
        ("forms", "Fills in forms in Salesforce.", "a form in salesforce", "fill in a form"),
        ("auth0", "Guides for adding a login.", "a login with Auth0", "add a login"),
    ],
)
def test_aliases_and_what_implies_a_product_name_it(stored, name, description, named, unnamed):
    store = stored(component("skill", name, description))
    assert odds_of(ask(store, named)[0], name) >= 0.0
    assert odds_of(ask(store, unnamed)[0], name) < 0.0


def test_what_the_project_is_made_of_is_named(stored):
    store = stored(component("skill", "django-models", "Reviews models of Django."))

    def stack(project):
        return Stack(uses=frozenset({"django"})) if project == "/django" else Stack()

    options = Options(products=Products(products.load()), stack=stack)
    assert odds_of(ask(store, "review models", options=options, project="/other")[0], "django-models") < 0.0
    assert odds_of(ask(store, "review models", options=options, project="/django")[0], "django-models") >= 0.0


def test_what_is_for_a_framework_is_not_held_to_its_language_too(stored):
    store = stored(component("skill", "django-python-models", "Reviews models."))
    assert odds_of(ask(store, "review Django models")[0], "django-python-models") > 0.0
    assert odds_of(ask(store, "review Python models")[0], "django-python-models") < 0.0


def test_examples_and_what_it_is_not_for_bind_nothing(stored):
    store = stored(
        component("skill", "many-boards", "Reads boards, such as Trello and Asana."),
        component("skill", "any-board", "Reads boards of Jira, Trello and Asana."),
        component("skill", "own-board", "Reads boards, not for Trello."),
    )
    ranking, _ = ask(store, "read boards")
    assert [odds_of(ranking, name) for name in ("many-boards", "any-board", "own-board")] == [0.0, 0.0, 0.0]


def test_an_everyday_word_binds_only_where_the_text_writes_it_as_a_name(stored):
    store = stored(
        component("skill", "linear-layout", "Lays out forms in a linear way."),
        component("skill", "linear-tickets", "Creates tickets in Linear."),
    )
    ranking, _ = ask(store, "create tickets and forms")
    assert odds_of(ranking, "linear-layout") == 0.0
    assert odds_of(ranking, "linear-tickets") < 0.0


def test_a_brand_that_no_table_lists_shows_in_a_servers_name_and_in_capitals(stored):
    store = stored(
        component("mcp_server", "quorvex", "Reads invoices with Quorvex."),
        component("mcp_server", "invoices", "Reads invoices from a folder."),
        component("skill", "quorvex-export", "Exports invoices from Quorvex.", plugin="quorvex"),
        component("skill", "mail-export", "Exports invoices from mail.", plugin="quorvex"),
    )
    ranking, _ = ask(store, "read and export invoices")
    assert odds_of(ranking, "quorvex") < 0.0
    assert odds_of(ranking, "quorvex-export") < 0.0
    assert odds_of(ranking, "invoices") == odds_of(ranking, "mail-export") == 0.0
    assert odds_of(ask(store, "read invoices from quorvex")[0], "quorvex") > 0.0


def test_a_hooks_command_line_binds_it_to_nothing(stored):
    store = stored(component("hook", "block-force-push", "Runs on PreToolUse: node hooks/block-force-push.js"))
    assert odds_of(ask(store, "block force push")[0], "block-force-push") == 0.0


def test_of_equals_the_installed_one_comes_first(tmp_path):
    with Store.open(tmp_path / "installed.db") as store:
        fill(store, component("skill", "vault-first", NOTES), component("skill", "vault-other", NOTES, installed=True))
        options = Options(priors=usual_priors(lambda: date(2026, 11, 22)))
        assert ask(store, "vault", options=Options())[1][:2] == ["vault-first", "vault-other"]
        assert ask(store, "vault", options=options)[1][:2] == ["vault-other", "vault-first"]


@pytest.mark.parametrize(
    ("task", "rivals"),
    [
        ("add SSO with Okta", ["auth0"]),
        ("add SSO with Auth0", ["okta-directory"]),
        ("add SSO", []),
        ("add SSO with Keycloak", []),  # nothing here is of the vendor that is named
        ("move our SSO from Auth0 to Okta", []),
        ("SSO for our Django app with Okta", ["auth0"]),  # a framework takes no vendor's place
    ],
)
def test_rivals_are_of_another_vendor_where_something_of_the_named_one_is_there(stored, task, rivals):
    store = stored(
        component("plugin", "auth0", "Guides for adding a login and SSO."),
        component("mcp_server", "okta-directory", "Manages users and SSO of an organisation."),
        component("skill", "django-login", "Adds a login and SSO to Django."),
        component("skill", "team-login", "Adds a login and SSO."),
    )
    pipeline = Pipeline(store.graph, store.vectors, embedder=None, options=KNOWN)
    ranking = pipeline.rank(Query(task), intent=SEARCH)
    found = pipeline.bindings.rivals(ranking.snapshot, ranking.reader, ranking.rows, ranking.plan)
    assert [ranking.snapshot.summaries[row].name for row in ranking.rows if found[row]] == rivals

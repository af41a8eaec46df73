"""A recommended set is small, closed under dependencies, within its budget, and gives a reason for each member."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repertoire.app.ask.recommend import recommend, verdict
from repertoire.app.session.unmet_needs import gap_events, recurring
from repertoire.app.sources.patterns import renew_patterns
from repertoire.domain.answer import Other, Task
from repertoire.domain.component import CONFLICTS_WITH, DEPENDS_ON, PART_OF, Edge
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.event import GAP
from repertoire.domain.trust import HIGH, Flag
from repertoire.rendering.answers import recommendation_text
from repertoire.retrieval.installation_units import listing_tokens
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.resources import Options
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, fill, record_of

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


def test_what_a_member_needs_comes_with_it_and_is_installed_before_it(pipeline):
    found = recommend(pipeline, Task("roll back a deployment on kubernetes"))
    assert names(found) == ["kubernetes-deploy", "helm-lint"]
    assert found.items[1].role == "needed by kubernetes-deploy"
    assert "helm-lint" in found.install[0]


def test_a_size_counts_what_a_member_needs(pipeline):
    task = "roll back a deployment on kubernetes"
    assert {*names(recommend(pipeline, Task(task, limit=2)))} == {"helm-lint", "kubernetes-deploy"}
    found = recommend(pipeline, Task(task, limit=1))
    assert len(found.items) <= 1
    [left_out] = [other for other in found.why_not if other.component.name == "kubernetes-deploy"]
    assert (left_out.reason, left_out.remedy) == ("the set has its 1", "with size 2")


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


def test_what_an_installation_refuses_is_named_without_its_lines(store, pipeline):
    [old] = store.graph.by_name("pdf-forms")
    assert old.component.install
    fill(store, replace(old.component, flags=(Flag("pipe-to-shell", HIGH),)))
    found = recommend(pipeline, Task("fill PDF forms"))
    assert "pdf-forms" in names(found)
    assert not set(old.component.install) & set(found.install)
    assert "install: refused" in recommendation_text(found)


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


def needing(store, target, *requirements):
    edges = [Edge(target, f"requirement:{requirement}", DEPENDS_ON) for requirement in requirements]
    store.sources.set_edges(edges, now=NOW, file=f"required by {target}")


def test_what_a_member_requires_and_this_machine_has_not_is_said(store, pipeline, tmp_path):
    needing(store, POSTGRES, "binary:no-such-program", "env:PGPASSWORD", "binary:present")
    (tmp_path / "present").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "present").chmod(0o755)
    task = Task("run sql queries against a postgresql database", project=str(tmp_path))
    found = recommend(pipeline, task, environment={"PATH": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path)})
    [item] = [item for item in found.items if item.hit.component.name == "postgres"]
    assert item.lacking == ("no-such-program, not found here", "PGPASSWORD, not set here")
    assert "postgres needs no-such-program, not found here" in found.warnings


def test_of_equals_the_one_that_can_work_here_is_taken_and_the_other_is_told_what_it_lacks(store, pipeline):
    same = "Fills the fields of PDF forms from any spreadsheet."
    fill(store, component("skill", "pdf-filler", same), component("command", "pdf-stamper", same))
    needing(store, "folder:/shelf:skills/pdf-filler.md", "binary:no-such-program")
    needing(store, "folder:/shelf:skills/pdf-forms.md", "binary:no-such-program")
    found = recommend(pipeline, Task("fill PDF forms from any spreadsheet", limit=1), environment={"PATH": ""})
    assert names(found) == ["pdf-stamper"]
    told = {other.component.name: other.reason for other in found.why_not}
    assert told["pdf-filler"] == "needs no-such-program, not found here"


def test_one_that_does_the_same_and_is_stale_is_out_for_that(store):
    same = "Fills the fields of PDF forms from any spreadsheet."
    fill(store, component("skill", "pdf-old", same, last_commit="2023-01-02"), component("skill", "pdf-new", same))
    options = Options(aged=lambda _, changed: changed and "last changed 2023-01, 36 months ago")
    pipeline, task = (
        Pipeline(store.graph, store.vectors, embedder=None, options=options),
        Task("fill PDF forms", limit=2),
    )
    assert "pdf-old" not in names(recommend(pipeline, task))
    _, told = verdict(pipeline, task, component("skill", "pdf-old", same))
    assert isinstance(told, Other)
    assert told.reason == "the same as pdf-new, and stale: last changed 2023-01, 36 months ago"


def test_a_need_that_a_twin_meets_is_said_to_be_met_by_it(store, pipeline):
    said = "Checks Helm charts before they are deployed."
    own, copy = (component("skill", "helm-lint", said, path=f"{place}/helm-lint.md") for place in ("skills", "copy"))
    fill(store, own, replace(copy, content_hash="edited", installed=True))
    store.sources.set_edges([Edge(KUBERNETES, own.id, DEPENDS_ON)], now=NOW, file="declared")
    found = recommend(pipeline, Task("roll back services deployed on kubernetes with helm charts"))
    roles = {item.hit.component.id: item.role for item in found.items}
    assert roles[copy.id] == "needed by kubernetes-deploy, in place of its twin folder:/shelf:skills/helm-lint.md"


def test_what_a_known_combination_puts_beside_the_set_is_named_with_the_combination(store, pipeline):
    kit = "folder:/shelf:plugins/browser-kit.md"
    parts = [Edge(part, kit, PART_OF) for part in (KUBERNETES, "folder:/shelf:skills/changelog.md")]
    store.sources.set_edges(parts, now=NOW, file="plugin")
    renew_patterns(store)
    task = "deploy services to Kubernetes with Helm charts and rollbacks, then a changelog"
    found = recommend(pipeline, Task(task, limit=2))
    assert names(found)[0] == "kubernetes-deploy"
    told = [(other.component.name, other.reason) for other in found.companions]
    assert told == [("changelog", "part of browser-kit's set, with kubernetes-deploy")]
    assert "changelog (part of browser-kit's set, with kubernetes-deploy)" in recommendation_text(found)


def test_a_part_and_what_holds_it_are_no_alternatives_of_each_other(store, pipeline):
    kit = component("plugin", "kubernetes-kit", "Deploys services to Kubernetes with Helm charts and rollbacks.")
    fill(store, kit)
    store.sources.set_edges([Edge(KUBERNETES, kit.id, PART_OF)], now=NOW, file="plugin")
    found = recommend(pipeline, Task("deploy services to Kubernetes with Helm charts and rollbacks", limit=2))
    assert names(found)[0] == "kubernetes-deploy"
    reasons = {other.component.name: other.reason for other in found.why_not}
    assert reasons["kubernetes-kit"] == "holds kubernetes-deploy"
    assert "kubernetes-kit" not in {one.component.name for item in found.items for one in item.alternatives}


def test_what_holds_another_member_is_no_alternative_of_a_member(store, pipeline):
    kit = component("plugin", "helm-kit", "Deploys services to Kubernetes with Helm charts and rollbacks.")
    fill(store, kit)
    task = Task("deploy services to Kubernetes with Helm charts and rollbacks", limit=2)
    before = recommend(pipeline, task)
    store.sources.set_edges([Edge("folder:/shelf:skills/helm-lint.md", kit.id, PART_OF)], now=NOW, file="plugin")
    for found, told in ((before, True), (recommend(pipeline, task), False)):
        assert names(found) == ["helm-lint", "kubernetes-deploy"]
        assert told == ("helm-kit" in {one.component.name for one in found.items[1].alternatives})


def test_a_missing_mcp_server_comes_along_if_the_task_finds_it_too(store, pipeline):
    needing(store, "folder:/shelf:skills/pdf-forms.md", "mcp_server:postgres")
    found = recommend(pipeline, Task("fill PDF forms from a postgres database", limit=2), environment={"PATH": ""})
    assert names(found) == ["postgres", "pdf-forms"]
    assert "/plugin install postgres@acme" in found.install


def test_any_other_missing_mcp_server_is_a_warning(store, pipeline):
    needing(store, "folder:/shelf:skills/pdf-forms.md", "mcp_server:postgres")
    found = recommend(pipeline, Task("fill PDF forms", limit=1), environment={"PATH": ""})
    assert names(found) == ["pdf-forms"]
    assert found.warnings == ("pdf-forms needs the MCP server postgres, not configured here",)


def test_a_needed_mcp_server_that_settings_keep_from_the_model_is_not_counted_as_there(store, pipeline):
    needing(store, "folder:/shelf:skills/pdf-forms.md", "mcp_server:ledger")
    ledger = component("mcp_server", "ledger", "Counts shells.", installed=True)
    fill(store, ledger)
    task, here = Task("fill PDF forms", limit=1), {"PATH": ""}
    assert recommend(pipeline, task, environment=here).warnings == ()
    refused = recommend(pipeline, task, refused=frozenset((ledger.id,)), environment=here)
    assert refused.warnings == ("pdf-forms needs the MCP server ledger, which settings do not let the model use",)


def test_what_comes_along_when_a_member_is_installed_is_not_in_the_set_but_what_it_needs_from_elsewhere_is(tmp_path):
    copied = "mkdir -p ~/.claude/skills && cp -R {0} ~/.claude/skills/{1}"
    ops = component("agent", "ops-engineer", "Watches queues and drains stuck consumers.")
    ops = replace(ops, install=(copied.format("/src/plugins/ops", "ops"),))
    notes = component("skill", "ops-notes", "Remembers decisions.")
    notes = replace(notes, install=(copied.format("/src/plugins/ops/skills/ops-notes", "ops-notes"),))
    ledger = component("skill", "decision-ledger", "Keeps a ledger of decisions.")
    ledger = replace(ledger, install=(copied.format("/src/plugins/ops-ledger", "ledger"),))
    with Store.open(tmp_path / "ops.db") as store:
        fill(store, ops, notes, ledger)
        edges = [Edge(ops.id, notes.id, DEPENDS_ON), Edge(notes.id, ledger.id, DEPENDS_ON)]
        store.sources.set_edges(edges, now=NOW, file="declared")
        found = recommend(
            Pipeline(store.graph, store.vectors, embedder=None),
            Task("watch queues and drain stuck consumers", limit=2),
        )
    assert [member.hit.component.name for member in found.items][-2:] == ["decision-ledger", "ops-engineer"]
    assert "ops-notes" not in names(found)


def test_two_that_conflict_are_never_both_in_a_set(store, pipeline):
    fill(store, component("skill", "helm-deploy", "Deploys services to Kubernetes with Helm releases."))
    other = "folder:/shelf:skills/helm-deploy.md"
    store.sources.set_edges([Edge(KUBERNETES, other, CONFLICTS_WITH)], now=NOW, file="conflicts")
    found = recommend(pipeline, Task("deploy services to Kubernetes with Helm", limit=4))
    assert len({"kubernetes-deploy", "helm-deploy"} & set(names(found))) == 1
    assert any(other.reason.startswith("conflicts with") for other in found.why_not)


@pytest.fixture
def disputing(store, pipeline):
    """Two skills that a task needs, and what they want of the project's one `requests`."""

    def ranges(first, second):
        fetches = component("skill", "fetch-invoices", "Fetches invoices from a web shop.")
        mails = component("skill", "mail-reminders", "Mails payment reminders to customers.")
        wanted = ((fetches, first), (mails, second))
        records = [record_of(item, needs=[f"package:requests{wants}"]) for item, wants in wanted]
        store.sources.write(replace(SOURCE, key="folder:/other"), records, [], derived=[], now=NOW)
        return recommend(pipeline, Task("fetch invoices from the web shop and mail payment reminders to customers"))

    return ranges


def test_two_that_want_versions_with_none_in_common_are_never_both_in_a_set_and_it_is_said_why(disputing):
    found = disputing(">=3", "<3")
    [member] = {"fetch-invoices", "mail-reminders"} & set(names(found))
    [other] = {"fetch-invoices", "mail-reminders"} - {member}
    [refused] = [one for one in found.why_not if one.component.name == other]
    assert refused.reason.startswith(f"conflicts with {member}: requests ")
    assert refused.remedy == f"without {member}"


@pytest.mark.parametrize("used", ["folder:/shelf:skills/mail-reminders.md", "mail-reminders"])
def test_what_wants_another_version_than_a_component_in_use_is_told_so(pipeline, disputing, used):
    disputing(">=3", "<3")
    found = recommend(pipeline, Task("fetch invoices from the web shop", using=(used,)))
    [item] = [item for item in found.items if item.hit.component.name == "fetch-invoices"]
    assert item.lacking == ("mail-reminders out of use: requests >=3 against <3",)


def test_two_that_can_share_a_version_are_both_in(disputing):
    assert {"fetch-invoices", "mail-reminders"} <= set(names(disputing(">=2.28", "<3")))


def test_what_needs_another_that_wants_another_version_is_told_with_it(store, pipeline, disputing):
    disputing(">=3", "<3")
    needs = [Edge("folder:/shelf:skills/fetch-invoices.md", "folder:/shelf:skills/mail-reminders.md", DEPENDS_ON)]
    store.sources.set_edges(needs, now=NOW, file="declared by hand")
    found = recommend(pipeline, Task("fetch invoices from the web shop"))
    assert names(found) == ["fetch-invoices", "mail-reminders"]
    assert "fetch-invoices and mail-reminders cannot share one requests >=3 against <3" in found.warnings


def test_who_of_a_set_needs_whom_and_what_is_told(store, pipeline):
    store.sources.set_edges(
        [Edge(KUBERNETES, "requirement:binary:kubectl", DEPENDS_ON)], now=NOW, file="declared by hand"
    )
    found = recommend(pipeline, Task("roll back a deployment on kubernetes", limit=2))
    told = {(one.member, one.needs, one.kind) for one in found.dependencies}
    helm = "folder:/shelf:skills/helm-lint.md"
    assert told == {(KUBERNETES, helm, "component"), (KUBERNETES, "kubectl", "binary")}
    assert "   kubernetes-deploy needs helm-lint, kubectl (binary)" in recommendation_text(found).splitlines()


def test_one_that_conflicts_with_what_is_in_use_says_so(store, pipeline):
    edges = [Edge(KUBERNETES, "folder:/shelf:skills/changelog.md", CONFLICTS_WITH)]
    store.sources.set_edges(edges, now=NOW, file="conflicts")
    found = recommend(pipeline, Task("deploy services to Kubernetes"))
    assert "kubernetes-deploy needs changelog out of use: the two conflict" in found.warnings


def test_a_circle_of_needs_is_named(store, pipeline):
    back = [Edge("folder:/shelf:skills/helm-lint.md", KUBERNETES, DEPENDS_ON)]
    store.sources.set_edges(back, now=NOW, file="back")
    found = recommend(pipeline, Task("roll back a deployment on kubernetes", limit=2))
    assert sorted(names(found)) == ["helm-lint", "kubernetes-deploy"]
    assert any("need each other" in warning for warning in found.warnings)


def test_what_would_bring_a_runner_up_in_does_bring_it_in(pipeline):
    text = "deploy with helm to kubernetes, explain slow sql in postgresql, fill pdf forms and write a changelog"
    found = recommend(pipeline, Task(text, limit=2))
    sizes = [(o.component.name, int(o.remedy.split()[-1])) for o in found.why_not if o.remedy.startswith("with size")]
    assert sizes
    for name, size in sizes:
        assert name in names(recommend(pipeline, Task(text, limit=size)))


def test_needs_that_nothing_known_provides_are_remembered_one_by_one_and_counted(store, pipeline):
    revision = store.graph.revision()
    task = Task("deploy to kubernetes with helm after the translation")
    found = replace(recommend(pipeline, task), degraded=())  # this pipeline has no model, and says so
    for _ in range(2):
        store.events.append(gap_events(task, found, Settings()))
    assert [(gap.need, gap.times) for gap in recurring(store.events.recent(kinds=(GAP,)))] == [("translation", 2)]
    assert store.graph.revision() == revision


def test_nothing_is_remembered_of_an_answer_that_could_not_look_properly(pipeline):
    task = Task("book a flight to Rome and a hotel with a database of reviews")
    found = recommend(pipeline, task)
    assert gap_events(task, found, Settings()) == ()
    [event] = gap_events(task, replace(found, degraded=()), Settings())
    assert event.data["need"] == task.text
    assert gap_events(task, replace(found, degraded=()), Settings(store_prompts="off")) == ()


@pytest.mark.parametrize("task", [Task(""), Task(" \t"), Task("🔥🔥?!"), Task("x", limit=0), Task("x", budget=0)])
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
    assert all(item.tokens == listing_tokens(item.hit.component) for item in found.items)
    if "kubernetes-deploy" in names(found):
        assert "helm-lint" in names(found)
    assert names(recommend(pipeline, task)) == names(found)

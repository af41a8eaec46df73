"""A muted component, source or project stays out of every answer, everywhere or in one project, until it is unmuted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.clock import now
from repertoire.app.health.status import status
from repertoire.app.kernel import Repertoire
from repertoire.app.person.feedback import give_feedback
from repertoire.app.person.mute import mute, unmute
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.session.hook_events import Moment
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query, Task
from repertoire.domain.component import ALTERNATIVE_TO, CO_OCCURS_WITH, DEPENDS_ON, PART_OF, TWIN_OF, Edge
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.rendering.health import status_text
from repertoire.rendering.person import feedback_text, muted_text
from repertoire.store.light.start import StartReader
from repertoire.store.requests import Request, Selection
from sample_home import NOW, SOURCE, component, filled_home, record_of

PROMPT = "Fill in the fields of these PDF forms with the values from the spreadsheet"
HERE, THERE = "/here", "/there"
FORMS, OTHER = (f"{SOURCE.key}:skills/{name}.md" for name in ("pdf-forms", "form-filler"))
COPY = "folder:/copies:skills/pdf-forms.md"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repertoire]:
    """A shelf with a component, an exact copy of it, and one that goes with it, needs it and can stand for it."""
    other = component("skill", "form-filler", "Checks the fields of PDF forms against a spreadsheet.")
    with open_repertoire(filled_home(tmp_path_factory.mktemp("mute"), other), environment={}) as opened:
        store = opened.store
        original = store.graph.by_key(FORMS)
        assert original is not None
        assert opened.embedder is not None
        copy = replace(original.component, id=COPY, repository="")
        store.sources.write(
            SOURCE.__class__("folder:/copies", "folder", "/copies"), [record_of(copy)], [], derived=[], now=NOW
        )
        edges = [Edge(OTHER, FORMS, relation) for relation in (ALTERNATIVE_TO, CO_OCCURS_WITH, DEPENDS_ON)]
        store.sources.set_edges(edges, now=NOW, file="told")
        past = [Request(f"request:{n}", selected=(Selection(FORMS), Selection(OTHER))) for n in range(6)]
        store.requests.record_many(past, now=NOW)
        renew_patterns(store)
        embed_pending(store, opened.embedder)
        yield opened


@pytest.fixture
def repertoire(shelf: Repertoire) -> Iterator[Repertoire]:
    yield shelf
    for one in shelf.store.preferences.mutes():
        shelf.store.preferences.unmute(one.target, project=one.project)


def named(found: Repertoire, project: str) -> dict[str, set[str]]:
    """Return the ids that each door suggests in a project."""
    store, pipeline = found.store, found.pipeline
    muted, unfit = found.muted(project), found.unfit_for_sets(project)
    hits = offer(pipeline, PROMPT, HintLimits(muted=found.unfit_for_hints(project))).hits
    given = recommend(pipeline, Task(PROMPT, project=project), muted=unfit)
    told = explain(store, pipeline, ExplainRequest(OTHER, PROMPT), muted=muted, unfit=unfit)
    assert told.standing is not None
    others = [*given.why_not, *given.companions, *(one for item in given.items for one in item.alternatives)]
    return {
        "hint": {hit.component.id for hit in hits},
        "set": {item.hit.component.id for item in given.items},
        "beside the set": {other.component.id for other in others} | {hit.component.id for hit in given.near},
        "goes with": {link.other for link in told.goes_with} | {one.component.id for one in told.companions},
        "first": {one.id for one in told.standing.first},
    }


def everywhere(found: dict[str, set[str]]) -> set[str]:
    return set().union(*found.values())


def test_unmuted_it_is_suggested_through_these_doors(repertoire: Repertoire) -> None:
    found = named(repertoire, HERE)
    assert FORMS in found["goes with"] & found["first"]
    assert {FORMS, COPY} & found["hint"]
    assert {FORMS, COPY} & found["set"]


@pytest.mark.parametrize("target", ["pdf-forms", FORMS])
def test_what_is_muted_is_named_by_no_door_in_any_project(repertoire: Repertoire, target: str) -> None:
    mute(repertoire.store, target, project=HERE, now=NOW)
    for project in (HERE, THERE):
        found = named(repertoire, project)
        assert not {FORMS, COPY} & everywhere(found)
        assert OTHER not in found["set"]  # it would bring along what it needs
    unmute(repertoire.store, target, project=HERE)
    assert FORMS in everywhere(named(repertoire, HERE))


def test_an_exact_copy_is_muted_with_it_and_brings_it_back(repertoire: Repertoire) -> None:
    mute(repertoire.store, FORMS, project=HERE, now=NOW)
    marked = search(repertoire.pipeline, Query(PROMPT), muted=repertoire.muted(HERE)).hits
    assert {hit.component.id for hit in marked if hit.muted} == {FORMS, COPY}
    assert unmute(repertoire.store, COPY, project=HERE).targets == (FORMS,)
    assert {FORMS, COPY} & everywhere(named(repertoire, HERE))


@pytest.mark.parametrize("installed", [False, True])
def test_what_says_nearly_the_same_under_its_name_is_muted_with_it_unless_it_is_installed(
    repertoire: Repertoire, installed: bool
) -> None:
    store, twin = repertoire.store, "t:skills/pdf-forms.md"
    like = component("skill", "pdf-forms", "Fills the fields of PDF forms, from any spreadsheet.", installed=installed)
    record = replace(record_of(replace(like, id=twin)), edges=(Edge(twin, FORMS, TWIN_OF),))
    store.sources.write(SOURCE.__class__("t", "folder", "/t"), [record], [], derived=[], now=NOW)
    mute(store, FORMS, project=HERE, now=NOW)
    assert (twin in repertoire.muted(HERE)) is not installed
    assert (twin in StartReader(store.path).silent_in(HERE)) is not installed
    assert unmute(store, twin, project=HERE).targets == (FORMS,)
    store.sources.remove("t")


@pytest.mark.parametrize("task", [PROMPT, "What will the weather be like"])
def test_an_explanation_tells_the_confidence_of_a_set_also_of_what_is_muted(repertoire: Repertoire, task: str) -> None:
    sure = recommend(repertoire.pipeline, Task(task)).confidence
    told = explain(repertoire.store, repertoire.pipeline, ExplainRequest(FORMS, task), muted=frozenset({FORMS}))
    assert told.standing is not None
    assert told.standing.confidence == pytest.approx(sure)


def test_a_muted_plugin_is_brought_along_by_none_of_its_parts(repertoire: Repertoire) -> None:
    store, kit, part = repertoire.store, "k:kit", "k:skills/pdf-kit.md"
    plugin = replace(component("plugin", "kit", "Tools for documents."), id=kit)
    skill = replace(component("skill", "pdf-kit", PROMPT, plugin="kit"), id=part)
    records = [record_of(plugin), replace(record_of(skill), edges=(Edge(part, kit, PART_OF),))]
    store.sources.write(SOURCE.__class__("k", "folder", "/k"), records, [], derived=[], now=NOW)
    assert repertoire.embedder is not None
    embed_pending(store, repertoire.embedder)
    assert part in everywhere(named(repertoire, HERE))
    told = muted_text(mute(store, "kit", project=HERE, now=NOW))
    assert told.startswith("Muted: component k:kit. Neither it nor its parts will be suggested.")
    assert part in StartReader(store.path).silent_in(HERE)
    assert part not in everywhere(named(repertoire, HERE))
    with pytest.raises(InvalidRequest, match="'pdf-kit' is muted with what it is part of; undo that of k:kit"):
        unmute(store, "pdf-kit", project=HERE)
    unmute(store, "kit", project=HERE)
    assert part in everywhere(named(repertoire, HERE))
    store.sources.remove("k")


def test_a_muted_source_stays_out_also_where_something_else_needs_what_it_holds(repertoire: Repertoire) -> None:
    needing = replace(component("skill", "needing", "Fills PDF forms by way of another skill."), id="n:x", path="n")
    store = repertoire.store
    record = replace(record_of(needing), edges=(Edge("n:x", COPY, DEPENDS_ON),))
    store.sources.write(SOURCE.__class__("n", "folder", "/n"), [record], [], derived=[], now=NOW)
    assert repertoire.embedder is not None
    embed_pending(store, repertoire.embedder)
    mute(store, "folder:/copies", project=HERE, now=NOW)
    found = everywhere(named(repertoire, HERE))
    store.sources.remove("n")
    assert COPY not in found
    assert FORMS in found


def test_what_is_unmuted_stays_silent_with_its_source_and_the_answer_says_so(repertoire: Repertoire) -> None:
    store = repertoire.store
    other, source = "folder:/kiln:skills/kiln.md", SOURCE.__class__("folder:/kiln", "folder", "/kiln")
    kiln = replace(component("skill", "kiln", "Fires pots."), id=other, repository="")
    store.sources.write(source, [record_of(kiln)], [], derived=[], now=NOW)
    for target in ("folder:/kiln", "kiln"):
        mute(store, target, project=HERE, now=NOW)
    told = muted_text(unmute(store, "kiln", project=HERE))
    assert told.endswith("It is still silent: what it is part of is muted (folder:/kiln).")
    with pytest.raises(InvalidRequest, match="'kiln' is muted with what it is part of; undo that of folder:/kiln"):
        unmute(store, "kiln", project=HERE)
    assert muted_text(unmute(store, "folder:/kiln", project=HERE)).endswith("It can be suggested again.")
    store.sources.remove("folder:/kiln")


def test_what_is_muted_in_one_project_is_heard_in_another(repertoire: Repertoire) -> None:
    mute(repertoire.store, "pdf-forms", project=HERE, now=NOW, here=True)
    assert not {FORMS, COPY} & everywhere(named(repertoire, HERE))
    assert FORMS in everywhere(named(repertoire, THERE))
    assert f"{FORMS} (component, in {HERE} alone)" in status_text(status(repertoire))


@pytest.mark.parametrize("target", ["pdf-forms", "project"])
def test_a_mute_at_a_repository_s_root_holds_in_its_folders_and_is_undone_there(
    repertoire: Repertoire, tmp_path: Path, target: str
) -> None:
    (tmp_path / ".git").mkdir()
    store, root, inside = repertoire.store, str(tmp_path), str(tmp_path / "src" / "web")
    muted = root if target == "project" else FORMS
    mute(store, target, project=root, now=NOW, here=True)
    for silent in (repertoire.muted(inside), StartReader(store.path).silent_in(inside)):
        assert {muted, inside if target == "project" else COPY} <= silent
    assert str(tmp_path.parent) not in repertoire.muted(str(tmp_path.parent))
    assert muted in unmute(store, target, project=inside).targets
    assert not {muted, inside} & repertoire.muted(root)


def test_a_mute_in_a_repository_holds_in_its_linked_worktrees_and_not_the_other_way_round(
    repertoire: Repertoire, tmp_path: Path
) -> None:
    main, tree, kept = tmp_path / "main", tmp_path / "tree", tmp_path / "main" / ".git" / "worktrees" / "tree"
    for folder in (kept, tree):
        folder.mkdir(parents=True)
    (kept / "commondir").write_text("../..\n")
    (kept / "gitdir").write_text(f"{tree / '.git'}\n")
    (tree / ".git").write_text(f"gitdir: {kept}\n")
    store, inside = repertoire.store, str(tree / "src")
    mute(store, "project", project=str(tree), now=NOW)
    assert str(main) not in repertoire.muted(str(main))
    unmute(store, "project", project=str(tree))
    mute(store, "project", project=str(main), now=NOW)
    for silent in (repertoire.muted(inside), StartReader(store.path).silent_in(inside)):
        assert inside in silent
    assert unmute(store, "project", project=inside).targets == (str(main),)


def test_what_is_dismissed_stays_away_from_the_project_with_its_copies(repertoire: Repertoire) -> None:
    kept = give_feedback(repertoire.store, FORMS, "dismissed", moment=Moment(now(), "", HERE))
    assert kept.outcome == "dismissed"
    assert not {FORMS, COPY} & everywhere(named(repertoire, HERE))
    assert FORMS in everywhere(named(repertoire, THERE))
    marked = search(repertoire.pipeline, Query(PROMPT), muted=repertoire.muted(HERE)).hits
    assert {hit.component.id for hit in marked if hit.muted} == {FORMS, COPY}
    for project, silent in ((HERE, True), (THERE, False)):
        taken_back = give_feedback(repertoire.store, FORMS, "unknown", moment=Moment(now(), "", project))
        assert ("still muted or dismissed" in feedback_text(taken_back)) is silent
    unmute(repertoire.store, FORMS, project=HERE)
    assert FORMS in everywhere(named(repertoire, HERE))


@pytest.mark.parametrize("target", ["", " ", "https://"])
def test_what_names_nothing_mutes_no_source_though_many_have_no_repository(repertoire: Repertoire, target: str) -> None:
    with pytest.raises(UnknownComponent):
        mute(repertoire.store, target, project=HERE, now=NOW)
    assert not repertoire.store.preferences.mutes()


@pytest.mark.parametrize("target", ["acme/shelf", "git@github.com:acme/shelf.git", "https://github.com/acme/shelf/"])
def test_a_source_is_muted_by_whatever_address_an_ingest_takes(repertoire: Repertoire, target: str) -> None:
    assert mute(repertoire.store, target, project=HERE, now=NOW).targets == (SOURCE.key,)
    assert unmute(repertoire.store, target, project=HERE).targets == (SOURCE.key,)


def test_what_stands_for_all_suggestions_is_refused_with_the_switch_that_turns_them_off(repertoire: Repertoire) -> None:
    with pytest.raises(UnknownComponent, match="everywhere they are turned off by the switch in the plugin's settings"):
        mute(repertoire.store, "All", project=HERE, now=NOW)

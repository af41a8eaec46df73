"""Known combinations are found by topic or by components in use, with their frequency and where they were seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from repertoire import inference
from repertoire.app.ask.recommend import recommend
from repertoire.app.ask.search import search
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.patterns import renew_patterns
from repertoire.app.wiring import capabilities_in
from repertoire.domain.answer import Query, Task
from repertoire.domain.component import PART_OF, Edge
from repertoire.rendering.answers import answer_text, recommendation_text
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import combined_topic
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of

SKILLS = {
    "login-pages": ("Builds login pages with OAuth.", "authentication"),
    "vault-keys": ("Keeps keys in a vault.", "secrets"),
    "rate-limits": ("Limits how often a caller may call.", "api-design"),
    "soup": ("Cooks soup.", "cooking"),
    "authentication": ("Authentication, common in stacks.", "authentication"),
}
PLUGINS = {
    "kit-a": ("login-pages", "vault-keys", "soup"),
    "kit-b": ("login-pages", "vault-keys", "rate-limits"),
    "kit-c": ("login-pages", "vault-keys"),
    "kit-d": ("rate-limits", "soup"),
    "kit-e": ("rate-limits",),
    "kit-f": ("soup",),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield a store of four skills that six plugins carry, three of them two of these together."""
    skills = {name: component("skill", name, text) for name, (text, _) in SKILLS.items()}
    plugins = {name: component("plugin", name, name) for name in PLUGINS}
    edges = [Edge(skills[skill].id, plugins[name].id, PART_OF) for name, own in PLUGINS.items() for skill in own]
    records = [record_of(skill, provides=[SKILLS[name][1]]) for name, skill in skills.items()]
    records += [record_of(plugin) for plugin in plugins.values()]
    with Store.open(tmp_path / "repertoire.db") as store:
        store.sources.write(SOURCE, records, [], derived=edges, now=NOW)
        renew_patterns(store)
        yield store


@pytest.fixture
def pipeline(store: Store) -> Pipeline:
    return Pipeline(store.graph, store.vectors, embedder=None, capabilities=capabilities_in())


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("common auth stacks", "auth"),
        ("What goes well with the playwright skill?", "playwright skill"),
        ("what is commonly used with docker", "docker"),
        ("which skills are often used together for frontend testing", "frontend testing"),
        ("known combinations of plugins for data science", "data science"),
        ("companions of `tdd`", "tdd"),
        ("common design patterns for React", ""),
        ("typical stack traces of our service", ""),
        ("explain what goes wrong with the build", ""),
        ("build a stack of cards", ""),
    ],
)
def test_what_combinations_are_asked_for_is_read_from_the_wording_alone(text: str, topic: str) -> None:
    assert combined_topic(text) == topic


def test_a_topic_is_answered_with_what_recurs_how_often_where_and_by_whom(pipeline: Pipeline) -> None:
    found = search(pipeline, Query("common authentication stacks"))
    [recurring] = [one for one in found.combinations if one.kind == "capabilities"]
    assert (recurring.name, recurring.support) == ("authentication + secrets", 3)
    assert recurring.lift >= 1.5
    assert recurring.seen == ("kit-a", "kit-b", "kit-c")
    assert [one.name for one in recurring.members] == ["login-pages", "vault-keys"]
    assert found.fits
    assert "authentication + secrets (together 3 times, " in answer_text(found)
    assert "): in kit-a login-pages (skill), vault-keys (skill)" in answer_text(found)


def test_components_of_a_topic_are_named_as_they_are_together_somewhere_however_well_another_fits(
    pipeline: Pipeline,
) -> None:
    found = search(pipeline, Query("common authentication stacks"))
    [recurring] = [one for one in found.combinations if one.kind == "capabilities"]
    assert found.hits[0].component.name == "authentication"  # it fits best, and no kit carries it
    for where in recurring.seen[:1]:
        assert {one.name for one in recurring.members} <= set(PLUGINS[where])
    muted = frozenset((f"{SOURCE.key}:skills/vault-keys.md",))
    [recurring] = [
        one
        for one in search(pipeline, Query("common authentication stacks"), muted=muted).combinations
        if one.kind == "capabilities"
    ]
    assert recurring.members == ()  # what is left was seen with nothing of this


def test_what_goes_with_a_component_is_told_with_its_evidence(pipeline: Pipeline) -> None:
    found = search(pipeline, Query("what goes with the login-pages skill?"))
    first = found.companions[0]
    assert first.component.name == "vault-keys"
    assert "often together with login-pages (support 3, lift " in first.reason
    assert first.reason.endswith("seen in kit-a, kit-b, kit-c")
    assert "login-pages + vault-keys" in [one.name for one in found.combinations]
    assert found.hits[0].component.name == "login-pages"
    assert "   - vault-keys (skill): often together with login-pages" in answer_text(found)


@pytest.mark.parametrize("asked", ["what goes with kit-a", "what goes with the kit-a plugin?"])
def test_what_goes_with_a_plugin_is_what_it_holds(pipeline: Pipeline, asked: str) -> None:
    found = search(pipeline, Query(asked))
    own = found.combinations[0]
    assert (own.name, own.kind) == ("kit-a", "plugin")
    assert {one.name for one in own.members} == set(PLUGINS["kit-a"])
    assert not [note for note in found.degraded if "no combination is known" in note]


@pytest.mark.parametrize("asked", ["what goes with nosuchthing", "common zxqv stacks"])
def test_nothing_goes_with_a_name_that_nobody_knows(store: Store, embedder: inference.Embedder, asked: str) -> None:
    embed_pending(store, embedder)
    pipeline = Pipeline(store.graph, store.vectors, embedder=embedder, capabilities=capabilities_in())
    found = search(pipeline, Query(asked))
    assert (found.fits, found.combinations) == (False, ())
    assert [note for note in found.degraded if "no combination is known for" in note]
    assert recommend(pipeline, Task(asked)).combinations == ()


def test_what_goes_with_what_is_in_use_is_told_beside_any_answer_and_not_what_is_muted(pipeline: Pipeline) -> None:
    asked = Query("cook a soup", using=("login-pages",))
    assert "vault-keys" in [other.component.name for other in search(pipeline, asked).companions]
    muted = search(pipeline, asked, muted=frozenset((f"{SOURCE.key}:skills/vault-keys.md",)))
    assert "vault-keys" not in [other.component.name for other in muted.companions]
    assert search(pipeline, Query("cook a soup")).companions == ()
    task = recommend(pipeline, Task("cook a soup", using=("login-pages",)))
    assert "vault-keys" in [other.component.name for other in task.companions]


def test_combinations_are_told_beside_a_set_too(pipeline: Pipeline) -> None:
    found = recommend(pipeline, Task("common login-pages stacks"))
    assert [item.hit.component.name for item in found.items] == ["login-pages"]
    assert found.combinations
    assert "Known combinations:" in recommendation_text(found)


def test_what_is_in_use_and_known_to_nobody_is_told(pipeline: Pipeline) -> None:
    asked = ("login-pages", "logn-pages")
    for found in (
        search(pipeline, Query("cook a soup", using=asked)),
        recommend(pipeline, Task("cook a soup", using=asked)),
    ):
        [note] = [note for note in found.degraded if "is called" in note]
        assert "'logn-pages'" in note

"""A name means what is called so, of a plugin only that one's; to be installed, the one that was suggested last."""

from __future__ import annotations

from pathlib import Path

import pytest

from repertoire.app.ask.explain import ExplainRequest, explain
from repertoire.app.lookup import find_components, find_to_install
from repertoire.app.person.feedback import give_feedback
from repertoire.app.person.mute import mute, unmute
from repertoire.app.wiring import open_repertoire
from repertoire.domain.errors import InvalidRequest, UnknownComponent
from repertoire.domain.event import BAD, DISMISSED, OFFERED, OK, SELECTED, Event, Moment
from sample_home import NOW, component, filled_home


def test_of_exact_copies_the_one_that_was_suggested_is_meant_unless_one_is_installed(tmp_path: Path) -> None:
    items = [component("skill", "weaver", "Weaves.", path=f"{n}.md", content_hash="same") for n in range(3)]
    there = component("skill", "weaver", "Weaves.", path="there.md", content_hash="same", installed=True)
    other = component("skill", "weaver", "Weaves otherwise.", path="other.md", installed=True)
    for name, held, meant in (("a", [*items, other], items[2]), ("b", [*items, there], there)):
        with open_repertoire(filled_home(tmp_path / name, *held), environment={}) as opened:
            opened.store.events.append([Event("2026-11-29T10:00:00Z", OFFERED, "s", "/p", "", items[2].id)])
            assert find_to_install(opened.store, "weaver").component.id == meant.id


def test_of_several_components_of_a_name_the_one_that_was_suggested_last_is_meant(tmp_path: Path) -> None:
    items = [component(kind, "weaver", f"Weaves {kind}.", path=f"{kind}.md") for kind in ("skill", "agent", "command")]
    with open_repertoire(filled_home(tmp_path, *items), environment={}) as opened:
        with pytest.raises(InvalidRequest, match="several are called 'weaver'"):
            find_to_install(opened.store, "weaver")
        for minute, item in enumerate((items[0], items[1], items[0], items[1])):
            opened.store.events.append([Event(f"2026-11-29T10:{minute:02}:00Z", OFFERED, "s", "/p", "", item.id)])
            assert find_to_install(opened.store, "weaver").component.id == item.id
        assert find_to_install(opened.store, items[2].id).component.id == items[2].id


def test_what_is_for_another_client_is_meant_only_where_nothing_else_has_the_name(tmp_path: Path) -> None:
    copies = [component("skill", "weaver", "Weaves.", path=f"{n}.md", content_hash="same") for n in range(2)]
    foreign = [component("skill", name, "Weaves.", path=f".kiro/{name}.md", client="Kiro") for name in ("weaver", "k")]
    with open_repertoire(filled_home(tmp_path, *copies, *foreign), environment={}) as opened:
        assert find_to_install(opened.store, "weaver").component.id in {one.id for one in copies}
        assert find_to_install(opened.store, "k").component.id == foreign[1].id


def test_a_name_of_a_plugin_means_no_component_of_that_name_elsewhere(tmp_path: Path) -> None:
    loose = component("skill", "weaver", "Weaves.", path="textiles/weaver/SKILL.md")
    bundled = component("agent", "weaver", "Weaves, too.", plugin="looms")
    with open_repertoire(filled_home(tmp_path, loose, bundled), environment={}) as opened:
        for asked, meant in (("looms:weaver", [bundled]), ("textiles:weaver", [loose])):
            assert [found.component.id for found in find_components(opened.store, asked)] == [one.id for one in meant]
        assert len(find_components(opened.store, "acme/shelf:weaver")) == 2
        for asked in ("other:weaver", "other/shelf:weaver", "agents:weaver"):
            with pytest.raises(UnknownComponent, match=r"did you mean weaver\?"):
                find_components(opened.store, asked)


def test_what_is_said_of_a_name_is_said_of_what_a_hint_called_so_last(tmp_path: Path) -> None:
    whole = component("plugin", "weaver", "Weaves, too.", plugin="weaver")
    part = component("command", "weaver", "Weaves at once.", plugin="weaver")
    others = [component(kind, "weaver", f"Weaves {kind}.") for kind in ("skill", "agent", "hook", "mcp_server")]
    others += [component("skill", "weaver", f"Weaves {n} times.", path=f"{n}.md") for n in range(2)]
    with open_repertoire(filled_home(tmp_path, whole, part, *others), environment={}) as opened:
        store, moment = opened.store, Moment("2026-11-29T11:00:00Z", "s", "/p")

        def happened(minute: int, kind: str, node: str) -> None:
            store.events.append([Event(f"2026-11-29T10:{minute:02}:00Z", kind, "s", "/p", "", node)])

        with pytest.raises(InvalidRequest, match=r"several are called 'weaver': .*, and 2 more\)"):
            mute(store, "weaver", project="/p", now=NOW)
        happened(1, OFFERED, others[0].id)
        assert give_feedback(store, "weaver", BAD, moment=moment).component.id == others[0].id
        happened(2, SELECTED, others[1].id)
        happened(3, OFFERED, part.id)
        assert explain(store, opened.pipeline, ExplainRequest("weaver")).stored.component.id == part.id
        assert mute(store, "weaver", project="/p", now=NOW).targets == (whole.id, part.id)
        assert set(unmute(store, "weaver", project="/p").targets) == {whole.id, part.id}
        assert give_feedback(store, "weaver", DISMISSED, moment=moment).component.id == whole.id
        assert give_feedback(store, "weaver", OK, moment=moment).component.id == others[1].id


def test_how_a_use_went_is_said_of_the_one_of_a_name_that_is_installed(tmp_path: Path) -> None:
    here = component("agent", "weaver", "Weaves here.", installed=True)
    others = [component(kind, "weaver", f"Weaves {kind}.") for kind in ("skill", "command")]
    with open_repertoire(filled_home(tmp_path, here, *others), environment={}) as opened:
        store, moment = opened.store, Moment("2026-11-29T11:00:00Z", "s", "/p")
        store.events.append([Event("2026-11-29T10:00:00Z", OFFERED, "s", "/p", "", others[0].id)])
        for outcome, meant in ((BAD, here), (DISMISSED, others[0])):
            assert give_feedback(store, "weaver", outcome, moment=moment).component.id == meant.id

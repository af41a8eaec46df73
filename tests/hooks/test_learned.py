"""A session's start uses what was learned from use: hint rates and harmful components, even from a long log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hooks.starting import FASTAPI, Run, context, make_project, own_copy, store_with
from repertoire.app.clock import now
from repertoire.app.person.forget import REQUESTS, forget
from repertoire.app.session.spool import take_in
from repertoire.app.usage.compact_log import compact_when_due
from repertoire.app.usage.usage_cache import usage
from repertoire.domain.component import TWIN_OF, Edge
from repertoire.domain.event import ASKED, CHECKED, FAILED, OFFERED, SELECTED, Event
from repertoire.learning.hints import is_exploration
from repertoire.learning.usage import HALF_LIFE_DAYS
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of


def test_a_kind_that_is_rarely_followed_is_named_in_one_of_so_many_sessions(
    run: Run, project: Path, home: Path, tmp_path: Path
) -> None:
    store_with(home)
    first, last = (make_project(tmp_path / name, FASTAPI) for name in ("first", "last"))  # told nothing of it yet
    assert "fastapi-templates (skill" in context(run(first, session="asked first"))
    skill = {"type": "skill", "rank": 1, "where": "session_start"}
    ignored = [Event(now(), OFFERED, f"s{n}", str(project), node="x", data=skill) for n in range(200)]
    with Store.open(home / "repertoire.db") as store:
        store.events.append(ignored)
    held, heard = (next(s for s in map(str, range(99)) if is_exploration(s) is through) for through in (False, True))
    quiet, loud = (context(run(project, session=session)) for session in (held, heard))
    assert "fastapi-templates (skill" in loud
    assert "fastapi-templates (skill" not in quiet
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(now(), SELECTED, e.session, e.project, node="x") for e in ignored[:40]])
    assert "fastapi-templates (skill" in context(run(last, session=held + "again"))


def test_what_nobody_used_is_not_told_at_every_start_but_what_is_new_is_and_all_of_it_after_a_fortnight(
    run: Run, project: Path, home: Path
) -> None:
    store_with(home)
    worse = [component("agent", f"orm-{n}", "Looks at SQLAlchemy models, deployments and more.") for n in range(3)]
    with Store.open(home / "repertoire.db") as store:
        records = [record_of(one, provides=["orm", "deployment"]) for one in worse]
        store.sources.write(replace(SOURCE, key="folder:/worse"), records, [], derived=[], now=NOW)
    held = [session for session in map(str, range(99)) if not is_exploration(session)]
    assert "orm-reviewer" in context(run(project, session=held[0]))
    assert [context(run(project, session=session)) for session in held[1:6]] == [""] * 5
    node = f"{SOURCE.key}:skills/fastapi-templates.md"
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(now(), SELECTED, held[1], str(project), node=node)])
    used = context(run(project, session=held[2]))
    assert "fastapi-templates" in used
    assert "orm-reviewer" not in used
    make_project(project, {"Gemfile": "gem 'rails'\n"})
    assert "rails-models" in context(run(project, session=held[3]))
    assert "rails-models" not in context(run(project, session=held[4]))
    with Store.open(home / "repertoire.db") as store:
        take_in(store)
        old = [replace(event, at="2026-01-01T00:00:00Z") for event in store.events.recent(limit=50)]
        store.privacy.forget_requests()
        store.events.append(old[::-1])
    assert "rails-models" in context(run(project, session=held[6]))


def test_a_kind_that_is_ignored_gives_its_place_to_nothing_else(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    alike = [component(kind, f"fastapi-{kind}s", "Knows FastAPI.") for kind in ("command", "hook")]
    with Store.open(home / "repertoire.db") as store:
        records = [record_of(one, provides=["fastapi"]) for one in alike]
        store.sources.write(replace(SOURCE, key="folder:/others"), records, [], derived=[], now=NOW)
    held = [session for session in map(str, range(99)) if not is_exploration(session)]
    named = context(run(project, session=held[0]))
    assert "fastapi-hooks" in named
    assert "fastapi-commands" not in named
    hook = {"type": "hook", "rank": 1, "where": "session_start"}
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(now(), OFFERED, f"s{n}", "/other", node="x", data=hook) for n in range(9)])
    assert context(run(project, session=held[1])) == ""


def test_what_says_the_same_as_what_was_told_is_not_told_in_its_place(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    held = [session for session in map(str, range(99)) if not is_exploration(session)]
    assert "fastapi-templates" in context(run(project, session=held[0]))
    twin = component("skill", "fastapi-starters", "Starts new FastAPI services.", path="elsewhere/fastapi-starters.md")
    with Store.open(home / "repertoire.db") as store:
        elsewhere = replace(SOURCE, key="folder:/elsewhere")
        store.sources.write(elsewhere, [record_of(twin, provides=["fastapi"])], [], derived=[], now=NOW)
        store.sources.set_edges(
            [Edge(twin.id, f"{SOURCE.key}:skills/fastapi-templates.md", TWIN_OF)], now=NOW, file="twins"
        )
    assert context(run(project, session=held[1])) == ""


def test_a_long_log_speaks_at_a_sessions_start_as_at_a_prompt(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    held = [session for session in map(str, range(99)) if not is_exploration(session)]
    skill = {"type": "skill", "rank": 1, "where": "session_start"}
    ignored = [Event(now(), OFFERED, f"s{n}", str(project), node="x", data=skill) for n in range(200)]
    prompts = [Event(now(), ASKED, f"later {n}", str(project), f"r{n}") for n in range(2_500)]
    with Store.open(home / "repertoire.db") as store:
        store.events.append([*ignored, *prompts])
        compact_when_due(store)
        assert usage(store, half_life=HALF_LIFE_DAYS, project=str(project)).hints[0].demand > 1.0
    quiet = context(run(project, session=held[0]))
    assert "orm-reviewer" in quiet
    assert "fastapi-templates (skill" not in quiet
    # what fades otherwise is not told from what was summed up, but from what a session's start can fold itself
    assert "fastapi-templates (skill" in context(run(project, session=held[1], REPERTOIRE_MEMORY_DAYS="9"))
    with Store.open(home / "repertoire.db") as store:
        forget(store, REQUESTS)
    assert "fastapi-templates (skill" in context(run(project, session=held[2]))


def test_what_does_harm_is_not_named(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    node = f"{SOURCE.key}:skills/fastapi-templates.md"
    log = []
    for number in range(20):
        where = f"s{number}", str(project), f"r{number}"
        log += [Event(now(), ASKED, *where), Event(now(), OFFERED, *where, node, {"rank": 1})]
        log.append(Event(now(), FAILED, *where, node) if number < 10 else Event(now(), CHECKED, *where))
    with Store.open(home / "repertoire.db") as store:
        store.events.append(log)
    said = context(run(project, session="another"))
    assert "orm-reviewer" in said
    assert "fastapi-templates" not in said


def test_harm_of_exact_copies_adds_up_and_none_of_them_is_named(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    both = own_copy(home), f"{SOURCE.key}:skills/fastapi-templates.md"
    log = []
    for number in range(16):
        where = f"s{number}", str(project), f"r{number}"
        node = both[number // 2 % 2]
        log += [Event(now(), ASKED, *where), Event(now(), OFFERED, *where, node, {"rank": 1})]
        log.append(Event(now(), FAILED, *where, node) if number % 2 else Event(now(), CHECKED, *where))
    with Store.open(home / "repertoire.db") as store:
        store.events.append(log)
    said = context(run(project, session="another"))
    assert "orm-reviewer" in said
    assert "fastapi-templates" not in said


def test_what_was_told_and_then_installed_and_used_is_told_again_as_what_was_used(
    run: Run, project: Path, home: Path
) -> None:
    store_with(home)
    held = [session for session in map(str, range(99)) if not is_exploration(session)]
    assert "fastapi-templates" in context(run(project, session=held[0]))
    installed = own_copy(home)
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(now(), SELECTED, held[0], str(project), node=installed)])
    told = context(run(project, session=held[1]))
    assert "fastapi-templates" in told
    assert "orm-reviewer" not in told

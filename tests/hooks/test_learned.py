"""What was learned from use speaks at a session's start too: rare kinds of hints, what does harm, in a long log."""

from __future__ import annotations

from pathlib import Path

from hooks.starting import Run, context, own_copy, store_with
from repertoire.app.clock import now
from repertoire.app.condense import condense_when_due
from repertoire.app.memory import memory
from repertoire.learning.hints import let_through
from repertoire.learning.memory import HALF_LIFE
from repertoire.store.database import Store
from repertoire.store.events import ASKED, CHECKED, FAILED, OFFERED, SELECTED, Event
from shelf import SOURCE


def test_a_kind_that_is_rarely_followed_is_named_in_one_of_so_many_sessions(
    run: Run, project: Path, home: Path
) -> None:
    store_with(home)
    assert "fastapi-templates (skill" in context(run(project, session="asked first"))
    skill = {"type": "skill", "rank": 1, "where": "session_start"}
    ignored = [Event(now(), OFFERED, f"s{n}", str(project), node="x", data=skill) for n in range(200)]
    with Store.open(home / "repertoire.db") as store:
        store.events.append(ignored)
    held, heard = (next(s for s in map(str, range(99)) if let_through(s) is through) for through in (False, True))
    quiet, loud = (context(run(project, session=session)) for session in (held, heard))
    assert "fastapi-templates (skill" in loud
    assert "fastapi-templates (skill" not in quiet
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(now(), SELECTED, e.session, e.project, node="x") for e in ignored[:40]])
    assert "fastapi-templates (skill" in context(run(project, session=held + "again"))


def test_a_long_log_speaks_at_a_sessions_start_as_at_a_prompt(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    held = [session for session in map(str, range(99)) if not let_through(session)]
    skill = {"type": "skill", "rank": 1, "where": "session_start"}
    ignored = [Event(now(), OFFERED, f"s{n}", str(project), node="x", data=skill) for n in range(200)]
    prompts = [Event(now(), ASKED, f"later {n}", str(project), f"r{n}") for n in range(2_500)]
    with Store.open(home / "repertoire.db") as store:
        store.events.append([*ignored, *prompts])
        condense_when_due(store)
        assert memory(store, half_life=HALF_LIFE, project=str(project)).hints[0].demand > 1.0
    quiet = context(run(project, session=held[0]))
    assert "orm-reviewer" in quiet
    assert "fastapi-templates (skill" not in quiet
    # what fades otherwise is not told from what was summed up, but from what a session's start can fold itself
    assert "fastapi-templates (skill" in context(run(project, session=held[1], REPERTOIRE_MEMORY_DAYS="9"))
    with Store.open(home / "repertoire.db") as store:
        store.privacy.forget_requests()
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

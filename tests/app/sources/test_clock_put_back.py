"""After the clock jumps back, events keep their order by number, and no waiting time grows."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from repertoire.app.commons.membership import Membership
from repertoire.app.commons.shared_use import next_report
from repertoire.app.upkeep.background_refresh import one_refresh
from repertoire.app.usage import installs, stats
from repertoire.app.usage.usage_cache import known_trials, usage
from repertoire.app.wiring import open_repertoire
from repertoire.boot.serve import condemn
from repertoire.domain.event import ASKED, CLOSED, OFFERED, SELECTED, Event
from repertoire.domain.freshness import freshness
from repertoire.learning.session import replay
from repertoire.settings import Settings
from repertoire.store.database import Store
from sample_home import SOURCE, fill

PDF = f"{SOURCE.key}:skills/pdf-forms.md"


def at(**ahead: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(**ahead)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "repertoire.db") as store:
        fill(store)
    return tmp_path


def test_what_follows_an_offer_by_a_clock_that_was_put_back_still_follows_it(home: Path) -> None:
    with Store.open(home / "repertoire.db") as store:
        offered = {"rank": 1, "name": "pdf-forms", "type": "skill", "installed": False}
        store.events.append([Event(at(hours=2), OFFERED, "", "/project", "", PDF, offered)])
        store.events.append([Event(at(), SELECTED, "s1", "/project", "request:1", PDF, {"name": "pdf-forms"})])
        [trial] = known_trials(store)
        assert trial.rank == 1, "one offer, taken; not an offer in vain and a use out of nowhere"
        assert trial.selected_at
        [record] = usage(store, half_life=90.0).records.values()
        assert record.looks <= 1.0
        assert record.taken <= 1.0, "what the future holds counts in full, not for more"
        assert installs.note_installs(store, Settings()) == 0


def test_a_session_is_replayed_in_the_order_in_which_it_was_written(home: Path) -> None:
    with Store.open(home / "repertoire.db") as store:
        for ahead, kind, request in ((3, ASKED, "request:1"), (2, CLOSED, "request:1"), (1, ASKED, "request:2")):
            store.events.append([Event(at(hours=ahead), kind, "s1", "/project", request)])
        session = replay(store.events.recent(session="s1")[::-1])
        assert session.request == "request:2"


def test_every_view_of_a_home_from_the_future_can_be_had(home: Path) -> None:
    with Store.open(home / "repertoire.db") as store:
        store.events.append([Event(at(days=400), OFFERED, "s", "/project", "request:1", PDF, {"rank": 1})] * 3)
        store.sources.seen(SOURCE.key, now=at(days=400))
    with open_repertoire(home, environment={"REPERTOIRE_BACKGROUND": "no"}) as repertoire:
        assert repertoire.pipeline is not None
        assert stats.stats(repertoire.store, repertoire.settings, project="/project") is not None


def test_what_changes_tomorrow_is_as_fresh_as_can_be_and_no_fresher() -> None:
    today = datetime.now(timezone.utc).date()
    future = freshness("skill", at(days=30), today)
    fresh = freshness("skill", at(), today)
    assert future is not None
    assert fresh is not None
    assert future.score == fresh.score


@pytest.mark.parametrize(("sent", "reports"), [(0, False), (-6, False), (-8, True), (365, True)])
def test_what_is_used_is_reported_though_the_last_report_lies_in_the_future(
    home: Path, sent: int, reports: bool
) -> None:
    joined = Membership("https://a", "k", "pair", "ann", "", shares_use=True, use_sent=at(days=sent))
    with Store.open(home / "repertoire.db") as store:
        assert (next_report(store, home, joined) is not None) is reports


def test_a_lock_is_held_by_a_process_and_not_by_the_time(home: Path) -> None:
    with one_refresh(home):
        pass
    os.utime(home / "refresh.lock", (time.time() + 1e6, time.time() + 1e6))
    with one_refresh(home):
        pass


def test_an_environment_that_broke_is_condemned_though_the_last_time_lies_in_the_future(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPERTOIRE_PYTHON", raising=False)
    env = tmp_path / "env"
    env.mkdir()
    (env / ".ready").touch()
    (tmp_path / "healed").touch()
    os.utime(tmp_path / "healed", (time.time() + 1e6, time.time() + 1e6))
    assert condemn(env)
    assert not (env / ".ready").exists()
    (env / ".ready").touch()
    assert not condemn(env)
    assert (env / ".ready").exists(), "once in a while is enough"

"""What a set names first stays first once it is installed, and a set is as sure as what it holds, whatever was used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from repertoire.app.ask.recommend import recommend
from repertoire.app.clock import now
from repertoire.app.current_project import current_project
from repertoire.app.kernel import Repertoire
from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.embed import embed_pending
from repertoire.app.sources.ingest import ingest
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import REQUEST_SPACE, Recommendation, Task
from repertoire.domain.component import SKILL, Component
from repertoire.domain.event import FAILED, Event
from repertoire.store.requests import Request, Selection
from sample_home import NOW

REAL = Path(__file__).with_name("small_home") / "ecc-universal"
TASKS = (
    "write tests for our Go package",
    "end to end tests for the checkout",
    "design a REST API with pagination",
    "remove dead code",
    "errors get swallowed somewhere",
    "a Grafana dashboard for our service",
    "change a column type without downtime",
    "get our pages to rank on Google",
    "posts for our channels",
    "speed up the dashboard, it janks",
)
FALLS = 0.05  # by which the confidence in one of these may fall: an installed copy is another candidate beside the rest


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repertoire]:
    """A home that holds a plugin of a marketplace, and a person without any component."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    market = shutil.copytree(REAL, tmp_path / "market")
    (market / ".claude-plugin").mkdir()
    plugins = [{"name": "engineering-kit", "source": "./", "description": "Skills and agents for software teams."}]
    listed = {"name": "kits", "owner": {"name": "o"}, "plugins": plugins}
    (market / ".claude-plugin" / "marketplace.json").write_text(json.dumps(listed), encoding="utf-8")
    (tmp_path / "home").mkdir()
    with open_repertoire(tmp_path / "home", environment={"REPERTOIRE_QUERY_MS": "60000"}) as repertoire:
        read(repertoire, str(market))
        yield repertoire


def read(repertoire: Repertoire, source: str) -> None:
    ingest(repertoire.store, repertoire.home, source, settings=repertoire.settings)
    assert repertoire.embedder is not None
    embed_pending(repertoire.store, repertoire.embedder)


def asked(repertoire: Repertoire, task: str) -> Recommendation:
    return recommend(repertoire.pipeline, Task(task), muted=repertoire.unfit_for_sets())


def copy(component: Component, market: Path, own: Path) -> None:
    """Copy a component as its install line does: of a skill the whole folder."""
    if component.type == SKILL:
        folder = Path(component.path).parent
        shutil.copytree(market / folder, own / folder, dirs_exist_ok=True)
    else:
        (own / component.path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(market / component.path, own / component.path)


def test_what_leads_a_set_leads_it_once_it_is_installed_and_until_it_fails(opened: Repertoire, tmp_path: Path) -> None:
    before = {task: asked(opened, task) for task in TASKS}
    led = {task: found.items[0].hit.component for task, found in before.items() if found.items}
    assert len(led) > len(TASKS) // 2
    for one in led.values():
        copy(one, tmp_path / "market", tmp_path / ".claude")
    read(opened, "installed")

    for task, one in led.items():
        found = asked(opened, task)
        first = found.items[0].hit.component
        assert (first.name, first.installed) == (one.name, True)
        assert found.confidence > before[task].confidence - FALLS

    task = "remove dead code"
    remember(opened, task, led[task].id)  # chosen as the marketplace's, before it was installed
    own = f"user:{tmp_path / '.claude'}:{led[task].path}"
    here = current_project()
    opened.store.events.append([Event(now(), FAILED, str(day), here, "request:1", own) for day in range(6)])
    items = asked(opened, task).items
    assert items[0].hit.component.name != led[task].name
    hinted = offer(opened.pipeline, task, HintLimits(muted=opened.unfit_for_hints()))
    assert [hit.component.name for hit in hinted.hits] == ["code-simplifier"]
    assert not any(why.kind == "request" for item in items for why in item.hit.whys)


def remember(repertoire: Repertoire, text: str, component: str) -> None:
    assert repertoire.embedder is not None
    asked_before = Request("request:1", text, selected=(Selection(component),))
    (node,) = repertoire.store.requests.record_many([asked_before], now=NOW)
    vectors = repertoire.embedder.embed_queries([text])
    repertoire.store.vectors.put(REQUEST_SPACE, repertoire.embedder.query_encoder, [(node, "")], vectors)


def test_a_set_is_as_sure_as_before_where_another_component_than_it_holds_served_a_similar_request(
    opened: Repertoire,
) -> None:
    other = next(one.id for one in opened.store.graph.summaries() if one.name == "seo")
    for task, alike in (
        ("errors get swallowed somewhere", "errors get lost somewhere"),
        ("errors get swallowed somewhere", "where do errors get swallowed in our app"),
        ("end to end tests for the checkout", "end to end tests for the search"),
    ):
        before = asked(opened, task)
        remember(opened, alike, other)
        after = asked(opened, task)
        opened.store.requests.withdraw("request:1", other)
        assert [item.hit.component.id for item in after.items] == [item.hit.component.id for item in before.items]
        assert after.confidence == pytest.approx(before.confidence, abs=0.02)

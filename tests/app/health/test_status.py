"""`status` reports the graph, recent events, and each degraded part with its remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repertoire.app.clock import now
from repertoire.app.health.status import status
from repertoire.app.upkeep.refresh_due import is_refresh_due
from repertoire.app.wiring import open_repertoire
from repertoire.domain.event import FAILED, GAP, OFFERED, SELECTED, Event
from repertoire.rendering.health import status_text
from sample_home import NOW, SOURCE, component, filled_home

NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}


def told(home: Path, **environment: str) -> str:
    with open_repertoire(home, environment=environment) as repertoire:
        return status_text(status(repertoire))


def test_a_new_home_says_what_to_do(tmp_path: Path) -> None:
    text = told(tmp_path)
    assert text.startswith("Note: no component is known yet")
    assert "`repertoire refresh`" in text
    assert str(tmp_path) in text


def test_what_is_known_and_what_happened_is_shown(tmp_path: Path) -> None:
    home = filled_home(tmp_path / "data")
    with open_repertoire(home, environment={}) as repertoire:
        repertoire.store.events.append(
            [
                Event(NOW, OFFERED, "s", node="a", data={"name": "pdf-forms", "why": "words: pdf", "where": "prompt"}),
                Event(NOW, OFFERED, "s", node="a", data={"name": "pdf-forms", "why": "words: form", "where": "prompt"}),
                Event(NOW, OFFERED, "", node="d", data={"name": "loom", "why": "words: weave", "where": "set"}),
                Event(NOW, SELECTED, "s", node="b", data={"name": "ship", "type": "command", "offered": True}),
                Event(NOW, FAILED, "s", node="c", data={"name": "postgres", "error": "no route"}),
                Event(NOW, GAP, data={"need": "violin tuning"}),
            ]
        )
        repertoire.store.preferences.mute("folder:/x", "source", now=NOW)
    lines = told(home).splitlines()
    assert any(line.startswith("known: 8 components (3 skills") for line in lines)
    assert f"  - {SOURCE.key} (folder): 8 components, read {NOW}" in lines
    assert [line for line in lines if "pdf-forms" in line] == [
        "  - 2026-01-02 03:04 pdf-forms for a prompt: words: form"
    ]
    assert "  - 2026-01-02 03:04 loom for a task: words: weave" in lines
    assert "  - 2026-01-02 03:04 ship (command, after it was suggested)" in lines
    assert "  - 2026-01-02 03:04 postgres: no route" in lines
    assert "  - violin tuning" in lines
    assert "  - folder:/x (source)" in lines
    assert any(line.startswith("vectors: 0/8 by sentence-transformers/all-MiniLM-L6-v2") for line in lines)


def test_what_has_no_known_capability_is_counted_beyond_those_that_are_named(tmp_path: Path) -> None:
    plain = [component("skill", f"plain-{number}", "Does it.") for number in range(12)]
    lines = told(filled_home(tmp_path, *plain)).splitlines()
    start = next(n for n, line in enumerate(lines, 1) if line.startswith("components without a known capability"))
    assert len([line for line in lines[start : start + 8] if line.startswith(f"  - {SOURCE.key}:")]) == 8
    assert lines[start + 8 :] == ["  - and 4 more"]


def test_what_was_suggested_together_stands_in_the_order_of_its_ranks(tmp_path: Path) -> None:
    home = filled_home(tmp_path / "data")
    with open_repertoire(home, environment={}) as repertoire:
        for request in ("earlier", "later"):
            repertoire.store.events.append(
                [
                    Event(NOW, OFFERED, "s", request=request, node=name, data={"name": name, "rank": rank})
                    for rank, name in enumerate((f"{request}-best", f"{request}-next"), 1)
                ]
            )
    names = [line.split()[3] for line in told(home).splitlines() if "-best" in line or "-next" in line]
    assert names == ["later-best", "later-next", "earlier-best", "earlier-next"]


def test_settings_are_shown(tmp_path: Path) -> None:
    text = told(tmp_path, REPERTOIRE_HINTS="false", REPERTOIRE_STORE_PROMPTS="off")
    assert "hints: off; stored of each prompt: nothing" in text
    with open_repertoire(tmp_path, environment={}) as repertoire:
        text = status_text(status(repertoire, environment={"REPERTOIRE_OFF": "1", "HOME": str(tmp_path)}))
    assert "hints: off" in text


@pytest.mark.skipif(os.geteuid() == 0, reason="NOT TESTED AS ROOT: root may write anywhere")
def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    home = filled_home(tmp_path / "data")
    (home / "repertoire.db").chmod(0o400)
    home.chmod(0o500)
    try:
        assert "nothing is recorded" in told(home)
    finally:
        home.chmod(0o700)


def test_a_missing_model_is_told_with_the_way_out(tmp_path: Path) -> None:
    text = told(tmp_path, REPERTOIRE_MODEL="BAAI/bge-small-en-v1.5")
    assert "Note: no vectors: " in text
    assert "vectors: none" in text


def test_what_is_known_goes_stale(tmp_path: Path) -> None:
    config = tmp_path / "claude"
    environment = {"CLAUDE_CONFIG_DIR": str(config)}
    home = filled_home(tmp_path / "data")
    (tmp_path / "empty").mkdir()
    with open_repertoire(tmp_path / "empty", environment=NO_MODEL) as repertoire:
        assert is_refresh_due(repertoire, environment), "nothing was read yet"
    with open_repertoire(home, environment=NO_MODEL) as repertoire:
        assert is_refresh_due(repertoire, environment), "it was read long ago"
        repertoire.store.sources.seen(SOURCE.key, now=now())
        assert not is_refresh_due(repertoire, environment)
        (config / "skills").mkdir(parents=True)
        os.utime(config / "skills", (2e9, 2e9))
        assert is_refresh_due(repertoire, environment), "a skill was added since"
    with open_repertoire(home, environment={}) as repertoire:
        assert is_refresh_due(repertoire, {"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}), "vectors are still to come"

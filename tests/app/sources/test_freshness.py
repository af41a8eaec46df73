"""Answers date stale components by the settings' half-life, and say nothing of fresh ones."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from repertoire.app.ask.search import search
from repertoire.app.clock import today
from repertoire.app.wiring import open_repertoire
from repertoire.domain.answer import Query
from repertoire.rendering.answers import answer_text
from sample_home import component, filled_home

NO_MODEL = {"REPERTOIRE_MODEL": "none/at-all"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    aged = (("vault-new", 20), ("vault-old", 800), ("vault-unknown", 0))
    days = {name: (today() - timedelta(days=age)).isoformat() if age else "" for name, age in aged}
    text = "Rotates the keys of a vault"
    return filled_home(
        tmp_path / "data", *(component("skill", name, f"{text}, {name}.", last_commit=days[name]) for name in days)
    )


def lines(home: Path, **settings: str) -> list[str]:
    with open_repertoire(home, environment={**NO_MODEL, **settings}) as repertoire:
        answer = search(repertoire.pipeline, Query("rotate vault keys", limit=3))
    return [line.strip() for line in answer_text(answer).splitlines() if "vault-" in line or "last changed" in line]


def test_only_what_is_stale_is_labelled(home: Path) -> None:
    said = lines(home)
    (place,) = [number for number, line in enumerate(said) if line.startswith("last changed ")]
    assert said[place].endswith(", 26 months ago")
    assert "vault-old" in said[place - 1]


def test_settings_say_what_is_stale(home: Path) -> None:
    assert not any("last changed" in line for line in lines(home, REPERTOIRE_HALF_LIFE_DAYS="3650"))
    assert sum("last changed" in line for line in lines(home, REPERTOIRE_STALE_PERCENT="100")) == 2

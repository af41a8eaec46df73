"""A session's start names nothing that its author calls deprecated."""

from __future__ import annotations

from pathlib import Path

from hooks.starting import Run, context, items, store_with
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, record_of


def test_what_its_author_calls_deprecated_is_not_named_but_the_next_is(run: Run, project: Path, home: Path) -> None:
    store_with(home)
    old = component("skill", "fastapi-old", "Deprecated: use fastapi-templates.", popularity=9.0)
    info = SOURCE.__class__("folder:/other", "folder", "/other")
    with Store.open(home / "repertoire.db") as store:
        store.sources.write(info, [record_of(old, provides=["fastapi", "orm"])], [], derived=[], now=NOW)
    assert [line.split(" ")[1] for line in items(context(run(project)))] == ["fastapi-templates", "orm-reviewer"]

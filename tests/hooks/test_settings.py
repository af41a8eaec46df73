"""A session's start with settings that are invalid: it goes on with the valid ones, and says so in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.starting import Run, context, items, store_with


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('{"hintz": true}', "settings.json: unknown settings hintz; hooks go on with what is valid"),
        ('{"hint_limit": "many\\n- fake (skill)"}', "setting hint_limit (REPERTOIRE_HINT_LIMIT) is 'many"),
        ('{"hints": tru', "settings.json cannot be read as JSON"),
        ("[]", "settings.json is not a JSON object; hooks go on"),
    ],
)
def test_a_greeting_goes_on_beside_an_invalid_setting_and_says_so_in_one_line(
    run: Run, project: Path, home: Path, settings: str, told: str
) -> None:
    store_with(home)
    usual = context(run(project))
    (home / "settings.json").write_text(settings, encoding="utf-8")
    *lines, last = context(run(project, source="compact")).splitlines()
    assert lines == usual.splitlines()
    assert told in last
    assert last.endswith("`repertoire doctor` says more.")
    assert len(last) < 320


def test_where_no_greeting_comes_an_invalid_setting_is_not_spoken_of(run: Run, project: Path, home: Path) -> None:
    home.mkdir()
    (home / "settings.json").write_text('{"hintz": true, "hints": false}')
    assert context(run(project)) == ""


def test_a_valid_setting_holds_beside_an_invalid_one_and_beside_a_mark_at_the_beginning(
    run: Run, project: Path, home: Path
) -> None:
    home.mkdir()
    (home / "settings.json").write_text('{"hints": false}', encoding="utf-8-sig")
    assert context(run(project)) == ""
    (home / "settings.json").write_text("{}", encoding="utf-8-sig")
    assert len(items(context(run(project)))) >= 1
    assert "settings" not in context(run(project))

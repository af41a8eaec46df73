"""A hint names what can be got and is not there yet: nothing without a way to install it, nothing that comes along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from repertoire.app.session.hint import HintLimits, offer
from repertoire.app.sources.embed import embed_pending
from repertoire.app.wiring import open_repertoire
from repertoire.domain.component import Component, SourceInfo
from sample_home import NOW, SOURCE, component, filled_home, record_of

PROMPT = "Fill in the fields of these PDF forms with the values from the spreadsheet"
TEXT = "Fills the fields of PDF forms from a spreadsheet."
FORMS = component("skill", "pdf-forms", TEXT)
USER, THERE = SourceInfo("user:~/.claude", "user", "~/.claude"), SourceInfo("project:/there", "project", "/there")


def named(
    home: Path,
    *records: tuple[SourceInfo, Component],
    muted: frozenset[str] = frozenset(),
    seen: frozenset[str] = frozenset(),
    prompt: str = PROMPT,
) -> list[str]:
    """Return the ids that a prompt's hint names, from a home that holds these components besides others."""
    with open_repertoire(filled_home(home), environment={}) as opened:
        for info in dict.fromkeys(info for info, _ in records):
            own = [record_of(one) for at, one in records if at == info]
            opened.store.sources.write(info, own, [], derived=[], now=NOW)
        assert opened.embedder is not None
        embed_pending(opened.store, opened.embedder)
        limits = HintLimits(muted=muted, seen=seen)
        return [hit.component.id for hit in offer(opened.pipeline, prompt, limits).hits]


def test_what_cannot_be_installed_is_not_named(tmp_path: Path) -> None:
    assert named(tmp_path / "with", (SOURCE, FORMS)) == [FORMS.id]
    assert named(tmp_path / "without", (SOURCE, replace(FORMS, install=()))) == []


@pytest.mark.parametrize("source", [USER, THERE])
def test_what_is_installed_under_the_name_is_named_alone_unless_it_is_silent_or_elsewhere(
    tmp_path: Path, source: SourceInfo
) -> None:
    words = "Fills in PDF forms with values, also those of a spreadsheet, and flattens their fields."
    own = replace(FORMS, id=f"{source.key}:forms", description=words, installed=True, content_hash="own", install=())
    both = (SOURCE, FORMS), (source, own)
    assert named(tmp_path / "both", *both) == [own.id]
    muted = frozenset((own.id if source is USER else source.key,))
    assert named(tmp_path / "muted", *both, muted=muted) == ([] if source is USER else [FORMS.id])


def test_beside_what_is_installed_and_was_named_or_used_nothing_to_install_is_named(tmp_path: Path) -> None:
    words = "Fills in PDF forms with values, also those of a spreadsheet, and flattens their fields."
    own = replace(FORMS, id=f"{USER.key}:forms", name="form-filling", description=words, installed=True)
    both = (SOURCE, FORMS), (USER, replace(own, content_hash="own", install=()))
    assert set(named(tmp_path / "first", *both)) == {own.id, FORMS.id}
    assert named(tmp_path / "later", *both, seen=frozenset((own.id,))) == []


def test_a_plugin_and_what_it_brings_are_not_named_side_by_side(tmp_path: Path) -> None:
    kit = component("plugin", "forms", "Fills the fields of PDF forms from a spreadsheet, and signs them.")
    assert len(named(tmp_path / "apart", (SOURCE, kit), (SOURCE, FORMS))) == 2
    assert len(named(tmp_path / "together", (SOURCE, kit), (SOURCE, replace(FORMS, plugin="forms")))) == 1


def test_a_prompt_that_names_what_is_there_draws_no_hint_and_one_that_names_what_is_not_draws_that(
    tmp_path: Path,
) -> None:
    told = f"{PROMPT}, use the pdf-forms skill"
    assert named(tmp_path / "available", (SOURCE, FORMS), prompt=told) == [FORMS.id]
    assert named(tmp_path / "installed", (SOURCE, replace(FORMS, installed=True)), prompt=told) == []


def test_pasted_lines_take_no_hint_away(tmp_path: Path) -> None:
    stack = "TypeError: a is undefined\n    at open (/app/src/a.ts:42:13)\n    at load (/app/src/b.ts:1:2)"
    for number, prompt in enumerate((f"{PROMPT}\n\n{stack}", f"{stack}\n{PROMPT}")):
        assert named(tmp_path / f"{number}", (SOURCE, FORMS), prompt=prompt) == [FORMS.id]


@pytest.mark.parametrize(
    ("name", "kind", "again"), [("pdf-forms", "skill", False), ("Pdf-Forms", "agent", False), ("blanks", "skill", True)]
)
def test_what_bears_the_name_of_what_the_session_was_told_of_is_not_named_again(
    tmp_path: Path, name: str, kind: str, again: bool
) -> None:
    words = "Form filling for PDF forms: the form's blanks get the values of Excel sheets."
    other = replace(
        FORMS, id=f"{SOURCE.key}:other", name=name, path="other.md", description=words, content_hash="other"
    )
    told = named(tmp_path, (SOURCE, FORMS), (SOURCE, other), seen=frozenset((FORMS.id,)))
    assert told == ([other.id] if again else [])


def test_in_place_of_what_would_be_installed_the_installed_one_of_its_name_is_named_however_far_behind(
    tmp_path: Path,
) -> None:
    own = replace(
        FORMS,
        id=f"{USER.key}:forms",
        description="Expert in paper: prints, binds, archives.",
        installed=True,
        install=(),
    )
    both = (SOURCE, FORMS), (USER, replace(own, content_hash="own", body="Papers."))
    assert named(tmp_path, *both) == [own.id]

"""A hint states facts: what an author writes to urge a model is not repeated as if it were ours."""

from __future__ import annotations

import pytest

from repertoire.domain.hint import HintItem, hint_text


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("You MUST use this before any work - e.g. a page. Explores what is meant.", "Explores what is meant"),
        ("Expert in review. Use PROACTIVELY after every change.", "Expert in review"),
        ("Use proactively to review code", "Use to review code"),
        ("IMPORTANT: NEVER skip it.", "skip it"),
        ("Formats code. Never mind the rest.", "Formats code. Never mind the rest"),
    ],
)
def test_sentences_that_urge_are_left_out(description: str, shown: str) -> None:
    item = HintItem("a", "kit", "skill", description, "words: kit", installed=True)
    assert f"- kit (skill, installed): {shown}. Why: words: kit." in hint_text("Repertoire", [item])


def test_what_is_cut_gets_no_further_full_stop() -> None:
    item = HintItem("a", "kit", "skill", "Formats " + "code " * 60, "words: kit", installed=True)
    told = hint_text("Repertoire", [item])
    assert "… Why: words: kit." in told


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        (f"Formats Python and TypeScript code as it is written. For {'old files, ' * 20}and more.", "written. Why:"),
        (f"Formats. For {'old files, ' * 20}and more.", "old… Why:"),
    ],
    ids=["a whole sentence", "a sentence that says too little"],
)
def test_a_description_ends_with_the_last_sentence_that_fits_whole(description: str, shown: str) -> None:
    item = HintItem("a", "kit", "skill", description, "words: kit", installed=True)
    assert shown in hint_text("Repertoire", [item])


def test_no_reason_is_told_where_there_is_none() -> None:
    line = hint_text("Repertoire", [HintItem("a", "kit", "skill", "Formats code", "", installed=True)]).splitlines()[1]
    assert line == "- kit (skill, installed): Formats code."

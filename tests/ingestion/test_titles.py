"""Texts that name each other by title."""

import pytest

from repertoire.domain.component import MENTIONS
from repertoire.ingestion.titles import Titled, title_mentions

SELIG = Titled("selig", "Bud Selig", "Commissioner of the sport for years.")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was led by Bud Selig, of Milwaukee.", True),
        ("bud  SELIG", True),
        ("Bud and Selig disagreed.", False),
        ("Budselig is no name.", False),
        ("", False),
    ],
)
def test_a_title_is_found_whole_however_it_is_written(text, found):
    edges = title_mentions([SELIG, Titled("league", "Major League", text)])
    assert [(edge.source, edge.target, edge.relation) for edge in edges] == [("league", "selig", MENTIONS)] * found


def test_what_stands_in_parentheses_is_no_part_of_a_title():
    texts = [Titled("film", "Night Train (1998 film)", ""), Titled("actor", "An Actor", "He starred in Night Train.")]
    assert [edge.target for edge in title_mentions(texts)] == ["film"]


def test_a_short_word_is_no_title_and_a_long_one_is():
    texts = [Titled("it", "It", ""), Titled("gotham", "Timbuktu", ""), Titled("x", "A Text", "It lies in Timbuktu.")]
    assert [edge.target for edge in title_mentions(texts)] == ["gotham"]


def test_no_text_mentions_itself_and_each_other_one_once():
    text = Titled("one", "The Long Road", "The Long Road is long. The Short Road, the short road, is not.")
    edges = title_mentions([text, Titled("two", "The Short Road", "")])
    assert [(edge.source, edge.target) for edge in edges] == [("one", "two")]

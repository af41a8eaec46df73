"""A passage shows the chunk that was found, and as much around it as there is room for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.pack import PackPassage


@given(
    st.text(alphabet="ab \n", min_size=1, max_size=400), st.integers(0, 399), st.integers(1, 80), st.integers(1, 120)
)
def test_what_is_shown_holds_the_beginning_of_the_chunk_and_fills_the_room(text: str, at: int, size: int, limit: int):
    begin = min(at, len(text) - 1)
    end = min(begin + size, len(text))
    place, shown = PackPassage("a.md", "", "A", (), text, begin, end).shown(limit)
    assert shown == text[place : place + limit]
    assert place <= begin < place + len(shown) or end <= limit
    assert place in {0, begin} or text[place - 1] == "\n" or place + limit >= len(text)


def test_a_chunk_near_the_end_is_shown_with_the_lines_before_it() -> None:
    text = "\n".join(f"Line {number} of the section." for number in range(100))
    begin = text.index("Line 98")
    place, shown = PackPassage("a.md", "", "A", (), text, begin, len(text)).shown(500)
    assert shown.startswith("Line 80")
    assert shown.endswith("Line 99 of the section.")
    assert text[place - 1] == "\n"

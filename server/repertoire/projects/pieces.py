"""Cuts stretches of lines into pieces that the model reads whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from repertoire.domain.project import Chunk

PIECE_CHARACTERS = 900  # as much as the bundled model reads
SMALL_CHARACTERS = 300
_MOST, _MOST_SMALL = 16, 96  # pieces of one stretch; the end of a longer one is found by its words alone
_LONGEST_LINE = 2_000


def pieces(lines: Sequence[str], start: int, end: int, header: str) -> tuple[Chunk, ...]:
    """Return the pieces of the lines from `start` to `end` (from 1, both included), each under a header."""
    found: list[Chunk] = []
    for first, last in _spans(lines, start, end):
        text = "\n".join(line[:_LONGEST_LINE] for line in lines[first - 1 : last]).strip("\n")
        if any(character.isalnum() for character in text):
            found.append(Chunk(first, last, f"{header}\n{text}"))
        if len(found) == _MOST:
            break
    return tuple(found)


def small_pieces(lines: Sequence[str], header: str) -> tuple[Chunk, ...]:
    """Return the pieces of a long text that is about many things: a few lines each, beginning with the last before."""
    found: list[Chunk] = []
    for first, last in _short_spans(lines):
        found.append(
            Chunk(first, last, "\n".join([header, *(line[:_LONGEST_LINE] for line in lines[first - 1 : last])]))
        )
        if len(found) == _MOST_SMALL:
            break
    return tuple(found)


def _short_spans(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield spans of lines up to the small size, each from the last line of the one before; empty lines are no ends."""
    told = [number for number, line in enumerate(lines, 1) if any(map(str.isalnum, line))]
    begin = 0
    while begin < len(told):
        end, size = begin + 1, len(lines[told[begin] - 1])
        while end < len(told) and size + len(lines[told[end] - 1]) < SMALL_CHARACTERS:
            size += len(lines[told[end] - 1]) + 1
            end += 1
        yield told[begin], told[end - 1]
        begin = len(told) if end == len(told) else max(end - 1, begin + 1)


def _spans(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield spans of whole lines up to the size; a blank line near the end of a span ends it."""
    begin, size, gap = start, 0, 0
    for number in range(start, end + 1):
        line = lines[number - 1]
        if size and size + len(line) > PIECE_CHARACTERS:
            cut = gap if gap > begin + (number - begin) // 2 else number - 1
            yield begin, cut
            begin, gap = cut + 1, 0
            size = sum(len(one) + 1 for one in lines[begin - 1 : number - 1])
        size += len(line) + 1
        if not line.strip():
            gap = number
    if begin <= end:
        yield begin, end


def stretches(total: int, covered: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans of lines from 1 to `total` that none of the given spans covers."""
    free, at = [], 1
    for start, end in sorted(covered):
        if start > at:
            free.append((at, start - 1))
        at = max(at, end + 1)
    return [*free, (at, total)] if at <= total else free

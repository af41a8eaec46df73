"""Reads rows out of the pages of a SQLite file without SQLite: what a damaged file still holds, wherever it lies.

The format is SQLite's own (sqlite.org/fileformat2.html). Nothing that is read here is trusted: a page or a row that
makes no sense is passed over. What was deleted is not found again: the store has SQLite overwrite it with zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

Value = None | int | float | str | bytes
_MAGIC = b"SQLite format 3\x00"
USUAL_PAGE = 4096  # what the store's files have; believed where the header is gone
_HEADER = 100  # bytes before the first page's own
_LOG_MAGIC, _LOG_HEADER, _FRAME_HEADER = (0x377F0682, 0x377F0683), 32, 24
_INDEX, _TABLE_LEAF, _INDEX_LEAF = 0x02, 0x0D, 0x0A  # kinds of pages that hold rows
_MASK = 0xFFFFFFFF
_MOST = 64 << 20  # bytes of one row
_FLOAT = 7
_WIDTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # by serial type


@dataclass(frozen=True)
class Row:
    """One row as it lies in a page; `number` is its rowid, None in a table without."""

    number: int | None
    values: tuple[Value, ...]


@dataclass
class Pages:
    """The pages of a database: those in its log first, else those in the file."""

    file: apsw.VFSFile | None
    size: int  # of a page
    unused: int  # bytes at its end
    count: int  # in the file
    logged: dict[int, bytes] = field(default_factory=dict)

    def read(self, number: int) -> bytes:
        """Return one page, the first being 1; empty where there is none."""
        if number in self.logged:
            return self.logged[number]
        if self.file is None or not 1 <= number <= self.count:
            return b""
        return bytes(self.file.xRead(self.size, (number - 1) * self.size))

    def rows(self, columns: frozenset[int]) -> Iterator[Row]:
        """Yield the rows of so many columns from every page that can hold rows."""
        for number in sorted({*range(1, self.count + 1), *self.logged}):
            page = self.read(number)
            start = _HEADER if number == 1 else 0
            if len(page) == self.size and page[start] in (_INDEX, _TABLE_LEAF, _INDEX_LEAF):
                yield from self._rows_of(page, start, columns)

    def _rows_of(self, page: bytes, start: int, columns: frozenset[int]) -> Iterator[Row]:
        kind = page[start]
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        pointers = start + (12 if kind == _INDEX else 8)
        for at in range(pointers, min(pointers + 2 * cells, len(page) - 1), 2):
            try:
                row = self._row(page, int.from_bytes(page[at : at + 2], "big"), kind, columns)
            except (IndexError, ValueError, struct.error, apsw.Error):  # damaged: the next may be whole
                continue
            if row is not None:
                yield row

    def _row(self, page: bytes, at: int, kind: int, columns: frozenset[int]) -> Row | None:
        at += 4 if kind == _INDEX else 0
        length, at = _varint(page, at)
        number = None
        if kind == _TABLE_LEAF:
            number, at = _varint(page, at)
        if not 0 < length <= _MOST:
            return None
        here = self._local(length, table=kind == _TABLE_LEAF)
        header, after = _varint(page, at)
        if header <= here and _count(page, after, at + header) not in columns:
            return None  # most rows: not worth reading their overflow
        payload = page[at : at + here]
        if here < length:
            payload += self._overflow(page[at + here : at + here + 4], length - here)
        return Row(number, _record(payload)) if len(payload) == length else None

    def _local(self, length: int, *, table: bool) -> int:
        """Return how many bytes of a row lie in its own page."""
        usable = self.size - self.unused
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (usable - 12) * 32 // 255 - 23
        rest = least + (length - least) % (usable - 4)
        return rest if rest <= most else least

    def _overflow(self, pointer: bytes, wanted: int) -> bytes:
        parts, number = [], int.from_bytes(pointer, "big")
        while wanted > 0 and number:
            page = self.read(number)[: self.size - self.unused]
            parts.append(page[4 : 4 + wanted])
            wanted -= len(parts[-1])
            if not parts[-1]:
                break
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def open_pages(path: Path, log: Path | None, *, size: int = 0) -> Pages:
    """Read what there is of a database file, and of its log where one is given; either may be missing.

    `size` is that of a page, 0 for what the header says.

    Through SQLite's own file layer: a plain open() and close() would drop the locks of this process's connections.
    """
    file, length, header, asked = None, 0, b"", size
    if path.is_file() and path.stat().st_size:
        file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0])
        length, header = file.xFileSize(), bytes(file.xRead(_HEADER, 0))
    logged, log_page = _logged(log.read_bytes()) if log is not None and log.is_file() else ({}, 0)
    size, unused = size or log_page or USUAL_PAGE, 0
    if not asked and header.startswith(_MAGIC):
        told = int.from_bytes(header[16:18], "big")
        told = 65536 if told == 1 else told
        if told >= 512 and not told & (told - 1) and header[20] < 64:
            size, unused = told, header[20]
    return Pages(file, size, unused, -(-length // size), logged if log_page == size else {})


def _logged(data: bytes) -> tuple[dict[int, bytes], int]:
    """Return the pages that a write-ahead log committed last, and their size; it counts up to its first bad frame."""
    if len(data) < _LOG_HEADER:
        return {}, 0
    magic, _, size, _, *salts = struct.unpack(">6I", data[:24])
    order = ">" if magic & 1 else "<"
    sums = _checksum(data[:24], (0, 0), order)
    if magic not in _LOG_MAGIC or sums != struct.unpack(">2I", data[24:32]) or not 512 <= size <= 65536:
        return {}, 0
    found: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    for at in range(_LOG_HEADER, len(data) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, committed, *of_frame = struct.unpack(">6I", data[at : at + _FRAME_HEADER])
        page = data[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        sums = _checksum(page, _checksum(data[at : at + 8], sums, order), order)
        if of_frame != [*salts, *sums]:
            break
        waiting[number] = page
        if committed:
            found.update(waiting)
            waiting.clear()
    return found, size


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & _MASK
        second = (second + odd + first) & _MASK
    return first, second


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


def _count(data: bytes, at: int, end: int) -> int:
    """Count the columns of a record's header."""
    found = 0
    while at < end:
        _, at = _varint(data, at)
        found += 1
    return found


def _record(payload: bytes) -> tuple[Value, ...]:
    end, at = _varint(payload, 0)
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values = []
    for kind in kinds:
        width = _WIDTHS[kind] if kind < len(_WIDTHS) else (kind - 12) // 2
        values.append(_value(kind, payload[at : at + width]))
        at += width
    if at > len(payload):
        message = "a record ends before its values do"
        raise ValueError(message)
    return tuple(values)


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == _FLOAT:
        return float(struct.unpack(">d", data)[0])
    if kind < _FLOAT:
        return int.from_bytes(data, "big", signed=True)
    return data.decode() if kind % 2 else data

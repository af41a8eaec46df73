"""Makes the texts of a saved entry that are embedded: its title with what describes it, and the pieces of its body."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.domain.project import ENTRY_CHUNK, Chunk, Entry
from repertoire.projects.pieces import pieces, small_pieces


def texts_of_entry(entry: Entry) -> dict[str, str]:
    """Map the key of an entry, and those of its pieces, to the texts that their vectors are made from."""
    said = [str(entry.data[name]) for name in ("category",) if entry.data.get(name)]
    steps = [f"{number}. {step}" for number, step in enumerate(entry.data.get("steps", ()), 1)]
    triggers = [str(one) for one in entry.data.get("triggers", ())]
    texts = {entry.key: " ".join([entry.title, *said, *entry.tags, *triggers])}
    lines = "\n".join([entry.body, *steps]).strip().split("\n")
    # an entry without a body is compared by its title, as others are by their pieces
    told = [piece.text for piece in _cut(lines, entry.title)] or [entry.title]
    return {**texts, **{f"{ENTRY_CHUNK}:{number}:{entry.key}": text for number, text in enumerate(told)}}


def _cut(lines: Sequence[str], title: str) -> tuple[Chunk, ...]:
    """Return the pieces of a body: what is short says one thing and stays whole, what is long says many."""
    whole = pieces(lines, 1, len(lines), title)
    return whole if len(whole) <= 1 else small_pieces(lines, title)

"""The Python API of knowledge packs, whose names stay: list packs, ask them, open what an answer cites."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from repertoire.app.kernel import Repertoire
from repertoire.app.packs.asking import means_of
from repertoire.app.packs.describe import PackDescription, PackDescriptionRequest, describe_pack
from repertoire.app.packs.query import PackAnswer, PackHit, PackQuestion, query_packs
from repertoire.app.packs.shelf import PackListing
from repertoire.app.wiring import open_repertoire
from repertoire.domain.pack import PackPassage
from repertoire.domain.pack_stages import PROFILES, STAGES

__all__ = [
    "PROFILES",
    "STAGES",
    "PackAnswer",
    "PackDescription",
    "PackHit",
    "PackListing",
    "PackPassage",
    "Packs",
    "open_packs",
]


class Packs:
    """The packs of an opened home; one thread at a time may use it."""

    def __init__(self, repertoire: Repertoire) -> None:
        self._repertoire = repertoire

    def listing(self) -> PackListing:
        """Return the packs by their manifests, and why others cannot be read."""
        return self._repertoire.packs.listing()

    def ask(
        self,
        question: str,
        *,
        packs: Collection[str] = (),
        limit: int = 5,
        profile: str = "",
        on: Collection[str] = (),
        off: Collection[str] = (),
    ) -> PackAnswer:
        """Return the sections that answer a question, with citations; `covered` tells whether any pack covers it.

        `profile` is one of PROFILES, by default the setting; `on` and `off` switch single STAGES. Nothing is recorded.

        Raises:
            InvalidRequest: nothing is asked, or a profile or stage is unknown.
            PackRefused: a named pack does not exist or cannot be read.
        """
        means = means_of(self._repertoire, profile, on=on, off=off)
        return query_packs(self._repertoire.packs, PackQuestion(question, tuple(packs), limit), means)

    def show(self, pack: str, citation: str = "", *, offset: int = 0) -> PackDescription:
        """Return the manifest of a pack, and the section that a citation (`article#anchor`) names, from `offset` on.

        Of a very long section it is a part; its `after` counts the characters that follow.

        Raises:
            PackRefused: there is no such pack or section.
        """
        return describe_pack(self._repertoire.packs, PackDescriptionRequest(pack, citation=citation, offset=offset))


@contextmanager
def open_packs(home: Path | None = None) -> Iterator[Packs]:
    """Open the packs of a home, by default the person's own, and close them at the end of the block.

    Raises:
        RepertoireError: the settings or the database cannot be used.
    """
    with open_repertoire(home) as repertoire:
        yield Packs(repertoire)

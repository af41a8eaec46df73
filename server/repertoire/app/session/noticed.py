"""Follows what is said in sessions of projects with a memory, and tells at a turn's end what may be worth a note."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from repertoire.app.kernel import Repertoire
from repertoire.domain.errors import RepertoireError
from repertoire.domain.event import Moment
from repertoire.settings import REDACTED

if TYPE_CHECKING:
    from repertoire.app.projects.review import Sighting
    from repertoire.projects.noticing import Noticed

_SESSIONS, _SENTENCES = 50, 20  # that are held in memory


class NoticingSessions:
    """Holds what was noticed in each session since its last turn."""

    def __init__(self, repertoire: Repertoire) -> None:
        self._repertoire = repertoire
        self._said: dict[str, tuple[int, list[Noticed]]] = {}  # with how often all was forgotten before
        self._told: dict[str, None] = {}  # sessions whose person was told once

    def hear(self, prompt: str, moment: Moment) -> None:
        """Notice what a prompt says; nothing in a project without a memory, or if no prompt may be kept."""
        if not self._wanted(moment):
            return
        from repertoire.projects.noticing import in_prompt  # noqa: PLC0415 - most projects have no memory

        found = in_prompt(prompt)
        if not found:
            return
        with suppress(RepertoireError):  # as in `sighting`
            cleared = self._repertoire.projects.open(moment.project).store.candidates.times_cleared()
            said = self._heard(moment.session, cleared)
            self._said[moment.session] = cleared, [*said, *found[: _SENTENCES - len(said)]]
        while len(self._said) > _SESSIONS:
            self._said.pop(next(iter(self._said)))

    def sighting(self, message: str, moment: Moment) -> Sighting | None:
        """Return what is new of this turn, its last message included; None if there is nothing."""
        if not self._wanted(moment):
            return None
        from repertoire.app.projects.review import sighted  # noqa: PLC0415 - as above
        from repertoire.projects.noticing import in_message  # noqa: PLC0415

        last = in_message(message)
        if not last and moment.session not in self._said:
            return None
        with suppress(RepertoireError):  # a memory that cannot be read now has no candidates
            project = self._repertoire.projects.open(moment.project)
            heard = self._heard(moment.session, project.store.candidates.times_cleared())
            found = sighted(project, [*heard, *last])
            if found.candidates:
                first = moment.session not in self._told
                self._told[moment.session] = None
                while len(self._told) > _SESSIONS:
                    self._told.pop(next(iter(self._told)))
                return replace(found, first=first)
        return None

    def _heard(self, session: str, cleared: int) -> list[Noticed]:
        """Take what was heard in a session since all was forgotten last."""
        before, said = self._said.pop(session, (cleared, []))
        return said if before == cleared else []

    def _wanted(self, moment: Moment) -> bool:
        repertoire = self._repertoire
        settings = repertoire.settings
        kept = settings.note_candidates and settings.store_prompts == REDACTED and not repertoire.store.read_only
        return kept and repertoire.projects.has(moment.project)


def keep_sighting(repertoire: Repertoire, sighting: Sighting) -> None:
    """Keep what a session showed until its person decides on it."""
    from repertoire.app.projects.review import keep_candidates  # noqa: PLC0415 - most projects have no memory

    with suppress(RepertoireError):  # the memory was forgotten meanwhile, or cannot be written
        keep_candidates(repertoire.projects.open(sighting.project), sighting)

"""Looks after a change at what it touched: which links wait, what stands alone now, what is there twice."""

from __future__ import annotations

from collections.abc import Iterable

from repertoire.app.projects.shelf import OpenProject
from repertoire.domain.project import Entry


def remarks_on(project: OpenProject, entries: Iterable[Entry]) -> list[str]:
    """Say what is not whole around entries that were saved or linked: both ends of a link, and no twin."""
    said, store = list[str](), project.store.entries
    for entry in entries:
        said += [f"{key} is not in the project now; the link waits for it" for key in store.missing_ends(entry.key)]
        said += [f"{key} has the same words; one of both may go" for key in store.twins(entry)]
    return said


def left_alone(project: OpenProject, keys: Iterable[str]) -> list[str]:
    """Name the entries that lost their last link because what they were linked with was deleted."""
    store = project.store.entries
    return [f"{key} is linked with nothing any more" for key in keys if store.get(key) and not store.links(key)]

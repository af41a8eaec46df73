"""Defines the verbs of what was saved in a project's memory: save, list, move, link, delete, review, import, mirror."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from repertoire.app.projects.entries import delete_entries, link_entries, list_entries, move_entries, save_entry
from repertoire.app.projects.entry_requests import (
    DeleteRequest,
    EntryListing,
    LinkRequest,
    ListQuery,
    MoveRequest,
    Saved,
    SaveRequest,
)
from repertoire.app.projects.import_entries import ImportReport, ImportRequest, import_entries
from repertoire.app.projects.mirror import MirrorReport, begin_mirror, compare_mirror, end_mirror
from repertoire.app.projects.places import MIRROR_FOLDER
from repertoire.app.projects.review import Review, ReviewRequest, review
from repertoire.app.projects.shelf import OpenProject
from repertoire.rendering.entries import listing_data, listing_text, saved_data, saved_text
from repertoire.rendering.project_exchange import import_data, import_text, mirror_data, mirror_text
from repertoire.rendering.project_review import review_data, review_text
from repertoire.verbs.mirrored import at_hand, elsewhere, write_out
from repertoire.verbs.verb import Context, Verb


def _changed(context: Context, change: Callable[[OpenProject], Saved]) -> Saved:
    """Change the memory; before and after, it is compared with its mirror."""
    project, said = at_hand(context)
    saved = change(project)
    return replace(saved, remarks=(*saved.remarks, *write_out(context, project, said)))


def _save(context: Context, asked: SaveRequest) -> Saved:
    return _changed(context, lambda project: save_entry(project, asked, embedder=context.repertoire.embedder))


def _list(context: Context, wanted: ListQuery) -> EntryListing:
    project, remarks = at_hand(context)
    found = list_entries(project, wanted)
    return replace(found, remarks=(*remarks, *found.remarks))


def _move(context: Context, asked: MoveRequest) -> Saved:
    return _changed(context, lambda project: move_entries(project, asked))


def _link(context: Context, asked: LinkRequest) -> Saved:
    return _changed(context, lambda project: link_entries(project, asked))


def _delete(context: Context, asked: DeleteRequest) -> Saved:
    return _changed(context, lambda project: delete_entries(project, asked))


def _import(context: Context, asked: ImportRequest) -> ImportReport:
    project, said = at_hand(context)
    report = import_entries(project, asked.paths, form=asked.form, embedder=context.repertoire.embedder)
    if remarks := write_out(context, project, said):
        report.skipped[MIRROR_FOLDER] = "; ".join(remarks)
    return report


def _review(context: Context, asked: ReviewRequest) -> Review:
    project, said = at_hand(context)
    done = review(project, asked, embedder=context.repertoire.embedder)
    remarks = write_out(context, project, said)
    if not (remarks and done.saved):
        return done
    *saved, last = done.saved
    return replace(done, saved=(*saved, replace(last, remarks=(*last.remarks, *remarks))))


def _mirror(context: Context, wanted: bool) -> MirrorReport:  # noqa: FBT001 - what is asked
    project = context.repertoire.projects.open(context.project)
    if not wanted:
        was = end_mirror(project)
        return MirrorReport(str(Path(project.root) / MIRROR_FOLDER), on=False, was_on=was)
    begin_mirror(project)
    report = compare_mirror(project, embedder=context.repertoire.embedder)
    if remark := elsewhere(context, project):
        report.skipped[MIRROR_FOLDER] = remark
    return report


SAVE_MEMORY = Verb(_save, saved_text, saved_data)
LIST_MEMORY = Verb(_list, listing_text, listing_data)
MOVE_MEMORY = Verb(_move, saved_text, saved_data)
LINK_MEMORY = Verb(_link, saved_text, saved_data)
DELETE_MEMORY = Verb(_delete, saved_text, saved_data)
IMPORT_MEMORY = Verb(_import, import_text, import_data)
REVIEW_MEMORY = Verb(_review, review_text, review_data)
MIRROR_MEMORY = Verb(_mirror, mirror_text, mirror_data)

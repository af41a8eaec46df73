"""Defines the verbs that change what was saved in a project's memory: save, list, move, link, delete."""

from __future__ import annotations

from repertoire.app.projects.entries import (
    DeleteRequest,
    EntryListing,
    LinkRequest,
    ListQuery,
    MoveRequest,
    Saved,
    SaveRequest,
    delete_entries,
    link_entries,
    list_entries,
    move_entries,
    save_entry,
)
from repertoire.rendering.entries import listing_data, listing_text, saved_data, saved_text
from repertoire.verbs.verb import Context, Verb


def _save(context: Context, asked: SaveRequest) -> Saved:
    repertoire = context.repertoire
    return save_entry(repertoire.projects.open(context.project), asked, embedder=repertoire.embedder)


def _list(context: Context, wanted: ListQuery) -> EntryListing:
    return list_entries(context.repertoire.projects.open(context.project), wanted)


def _move(context: Context, asked: MoveRequest) -> Saved:
    return move_entries(context.repertoire.projects.open(context.project), asked)


def _link(context: Context, asked: LinkRequest) -> Saved:
    return link_entries(context.repertoire.projects.open(context.project), asked)


def _delete(context: Context, asked: DeleteRequest) -> Saved:
    return delete_entries(context.repertoire.projects.open(context.project), asked)


SAVE_MEMORY = Verb(_save, saved_text, saved_data)
LIST_MEMORY = Verb(_list, listing_text, listing_data)
MOVE_MEMORY = Verb(_move, saved_text, saved_data)
LINK_MEMORY = Verb(_link, saved_text, saved_data)
DELETE_MEMORY = Verb(_delete, saved_text, saved_data)

"""Defines the verbs that read a project's memory: search, get, symbols, outline, files, status."""

from __future__ import annotations

from dataclasses import replace

from repertoire.app.projects.index import unread_files
from repertoire.app.projects.joined import joined
from repertoire.app.projects.places import worked_in
from repertoire.app.projects.search import MemoryAnswer, MemoryQuery, search_memory
from repertoire.app.projects.shelf import OpenProject
from repertoire.app.projects.show import (
    FileListing,
    FileQuery,
    Outline,
    ShownItem,
    files_in,
    outline_of,
    show_item,
)
from repertoire.app.projects.status import ProjectStatus, project_status
from repertoire.app.projects.symbols import SymbolAnswer, SymbolQuery, code_symbols
from repertoire.domain.text import counted
from repertoire.rendering.projects import (
    files_data,
    files_text,
    memory_answer_data,
    memory_answer_text,
    outline_data,
    outline_text,
    project_status_data,
    project_status_text,
    shown_item_data,
    shown_item_text,
    symbols_data,
    symbols_text,
)
from repertoire.verbs.mirrored import at_hand
from repertoire.verbs.verb import Context, Verb


def _at_hand(context: Context) -> OpenProject:
    return at_hand(context)[0]


def _search(context: Context, wanted: MemoryQuery) -> MemoryAnswer:
    project, remarks = at_hand(context)
    found = search_memory(project, wanted, embedder=context.repertoire.embedder)
    return replace(found, degraded=(*found.degraded, *remarks))


def _get(context: Context, key: str) -> ShownItem:
    project, remarks = at_hand(context)
    traces = context.repertoire.store.traces
    packs = ((one.name, word) for one in context.repertoire.packs.listing().packs for word in (one.name, *one.topics))
    item = show_item(project, key, worktree=worked_in(context.repertoire.home, context.project))
    if item.entry is not None and remarks:
        item = replace(item, related={**item.related, "mirror": remarks})
    return joined(project, item, is_trace=lambda name: traces.get(name) is not None, packs=packs)


def _symbols(context: Context, wanted: SymbolQuery) -> SymbolAnswer:
    return code_symbols(_at_hand(context), wanted)


def _outline(context: Context, path: str) -> Outline:
    return outline_of(_at_hand(context), path)


def _files(context: Context, wanted: FileQuery) -> FileListing:
    return files_in(_at_hand(context), wanted)


def _status(context: Context, _question: None) -> ProjectStatus:
    repertoire = context.repertoire
    model = repertoire.embedder.model if repertoire.embedder is not None else ""
    found = project_status(repertoire.home, repertoire.projects, context.project, model=model)
    if found.counts is None:
        return found
    project, remarks = at_hand(context)
    changed = unread_files(project.store, most_files=repertoire.settings.max_files) if found.indexed_at else 0
    told = f"{counted(changed, 'file')} changed since it was read; `repertoire project index` reads what changed"
    rest = project.store.unread_rest()
    return replace(found, remarks=(*([told] if changed else []), *([rest] if rest else []), *remarks))


SEARCH_MEMORY = Verb(_search, memory_answer_text, memory_answer_data)
GET_MEMORY = Verb(_get, shown_item_text, shown_item_data)
CODE_SYMBOLS = Verb(_symbols, symbols_text, symbols_data)
OUTLINE = Verb(_outline, outline_text, outline_data)
FILE_INFO = Verb(_files, files_text, files_data)
PROJECT_STATUS: Verb[None, ProjectStatus] = Verb(_status, project_status_text, project_status_data)

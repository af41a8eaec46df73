"""Defines the verbs of knowledge packs: ask, list, info."""

from __future__ import annotations

from repertoire.app.packs.asking import means_of
from repertoire.app.packs.query import PackAnswer, PackQuestion, query_packs
from repertoire.app.packs.shelf import PackListing
from repertoire.packs.manifest import PackManifest
from repertoire.rendering.packs import (
    pack_answer_data,
    pack_answer_text,
    pack_data,
    pack_text,
    packs_data,
    packs_text,
)
from repertoire.verbs.verb import Context, Verb


def _query(context: Context, wanted: PackQuestion) -> PackAnswer:
    means = means_of(context.repertoire, wanted.profile, on=wanted.on, off=wanted.off)
    return query_packs(context.repertoire.packs, wanted, means)


def _list(context: Context, _question: None) -> PackListing:
    return context.repertoire.packs.listing()


def _info(context: Context, name: str) -> PackManifest:
    return context.repertoire.packs.manifest(name)


QUERY_PACK = Verb(_query, pack_answer_text, pack_answer_data)
LIST_PACKS: Verb[None, PackListing] = Verb(_list, packs_text, packs_data)
PACK_INFO = Verb(_info, pack_text, pack_data)

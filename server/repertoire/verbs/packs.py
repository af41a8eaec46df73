"""Defines the verbs of knowledge packs: ask, list, info."""

from __future__ import annotations

from repertoire.app.packs.facts import PackDescription, PackDescriptionRequest, describe_pack
from repertoire.app.packs.query import PackAnswer, PackQuestion, query_packs
from repertoire.app.packs.shelf import PackListing
from repertoire.rendering.pack_facts import description_data, description_text
from repertoire.rendering.packs import (
    pack_answer_data,
    pack_answer_text,
    packs_data,
    packs_text,
)
from repertoire.verbs.verb import Context, Verb


def _query(context: Context, wanted: PackQuestion) -> PackAnswer:
    repertoire = context.repertoire
    gate = repertoire.settings.pack_gate_percent / 100
    return query_packs(repertoire.packs, wanted, embedder=repertoire.embedder, gate=gate)


def _list(context: Context, _question: None) -> PackListing:
    return context.repertoire.packs.listing()


def _info(context: Context, wanted: PackDescriptionRequest) -> PackDescription:
    return describe_pack(context.repertoire.packs, wanted)


QUERY_PACK = Verb(_query, pack_answer_text, pack_answer_data)
LIST_PACKS: Verb[None, PackListing] = Verb(_list, packs_text, packs_data)
PACK_INFO = Verb(_info, description_text, description_data)

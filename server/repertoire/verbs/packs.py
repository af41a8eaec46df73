"""Defines the verbs of knowledge packs: ask, list, info."""

from __future__ import annotations

from collections.abc import Sequence

from repertoire.app.packs.asking import means_of
from repertoire.app.packs.describe import PackDescription, PackDescriptionRequest, describe_pack
from repertoire.app.packs.query import PackAnswer, PackQuestion, query_packs
from repertoire.app.packs.shelf import PackListing
from repertoire.app.packs.stand_ins import uses
from repertoire.domain.event import Event
from repertoire.rendering.pack_facts import description_data, description_text
from repertoire.rendering.packs import (
    pack_answer_data,
    pack_answer_text,
    packs_data,
    packs_text,
)
from repertoire.verbs.verb import Context, Verb


def _query(context: Context, wanted: PackQuestion) -> PackAnswer:
    means = means_of(context.repertoire, wanted.profile, on=wanted.on, off=wanted.off)
    return query_packs(context.repertoire.packs, wanted, means)


def _used(context: Context, _wanted: PackQuestion, answer: PackAnswer) -> Sequence[Event]:
    """Return the use of each pack that answered."""
    answered = dict.fromkeys(hit.pack for hit in answer.hits) if answer.covered else ()
    moment = context.moment
    return uses(context.repertoire.store, [*answered], now=moment.at, project=moment.project)


def _list(context: Context, _question: None) -> PackListing:
    return context.repertoire.packs.listing()


def _info(context: Context, wanted: PackDescriptionRequest) -> PackDescription:
    return describe_pack(context.repertoire.packs, wanted)


QUERY_PACK = Verb(_query, pack_answer_text, pack_answer_data, _used)
LIST_PACKS: Verb[None, PackListing] = Verb(_list, packs_text, packs_data)
PACK_INFO = Verb(_info, description_text, description_data)

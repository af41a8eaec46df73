"""Asks apart for each clause of a task that names a gap of its set, and tells which components help with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace

from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.domain.text import split_words
from repertoire.retrieval.arrays import Rows
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND, clauses
from repertoire.retrieval.ranking import Ranking
from repertoire.retrieval.stage_reports import StageLog

# How a clause begins that asks for something; others tell what is there ("a websocket pushes updates", "if Cloudflare
# blocks us"): of ten members for clauses of short stories that were read by eye, three were for such.
_ASKS = re.compile(
    r"""(?:(?:please|can|could|you|help|i|we|us|me|want|need|would|like|to|let'?s|also|now|first|lastly|just)\ )*
    (?:add|analy[sz]e|audit|automate|build|check|clean|collect|compare|compress|configure|connect|containeri[sz]e
    |convert|cover|create|debug|define|deploy|describe|design|develop|diagnose|dockeri[sz]e|document|draw|evaluate
    |explain|export|extract|fetch|find|fix|format|generate|give|harden|host|implement|import|improve|include|install
    |instrument|integrate|investigate|launch|load|look|make|map|measure|merge|migrate|mock|model|monitor|move
    |optimi[sz]e|package|plan|plot|port|prepare|profile|protect|prototype|publish|put|reduce|refactor|release|render
    |replace|report|review|rewrite|roll|run|scaffold|scan|schedule|scrape|secure|send|set|setup|ship|show|speed|split
    |start|store|stream|style|summari[sz]e|sync|test|track|train|translate|tune|turn|update|upgrade|use|validate
    |verify|visuali[sz]e|wire|wrap|write)\b""",
    re.VERBOSE | re.IGNORECASE,
)
# An item of a list of tools need not ask ("auth0 login, stripe billing, deploy on cloudflare"); it has so many words.
_ITEM_WORDS = 4
PARTS = "parts"
_CLAUSES = 4  # clauses that are asked apart: each costs as much as the task itself
_FIRST = 5  # components of a clause's ranking that are looked at
_HELPS = 0.75  # chance of helping with a clause from which on a component serves it


def open_parts(
    pipeline: Pipeline, ranking: Ranking, gaps: Collection[str], *, members: Rows, muted: frozenset[str], log: StageLog
) -> tuple[Mapping[int, float], ...]:
    """Return for each clause that asks for a gap what likely helps with it, by row, with the chance of that.

    It provides a gap that the clause names, and helps with the clause more likely than any member of the set. A clause
    that does not ask is one of a list of tools, where it names its component and the task names a member of the set.
    Clauses for which no time is left are not asked; the log tells.
    """
    found, vocabulary, text = [], shipped_vocabulary(), ranking.plan.query.text
    lists_tools = any(_is_named(text, ranking, row) for row in members.tolist())
    said = clauses(text, least=1)  # "plot them" asks for something, too
    asking = [one for one in said if _ASKS.match(one) or (lists_tools and len(one.split()) <= _ITEM_WORDS)]
    named = {clause: sorted(set(gaps).intersection(vocabulary.count(clause))) for clause in asking}
    for clause in [clause for clause, terms in named.items() if terms][:_CLAUSES]:
        if not log.in_time(PARTS):
            break
        part = pipeline.rank(replace(ranking.plan.query, text=clause), intent=RECOMMEND, muted=muted)
        if part.snapshot is not ranking.snapshot:
            continue  # the store changed meanwhile: rows of the two are not the same
        provides = part.snapshot.provided(named[clause])
        rows = [row for row in part.answering[:_FIRST].tolist() if provides[row]]
        meant = [row for row in rows if _ASKS.match(clause) or _is_named(clause, part, row)]
        chances = {row: part.chances(row)[1] for row in meant}
        least = max([_HELPS, *(part.chances(row)[1] for row in members.tolist())])
        found.append({row: helps for row, helps in chances.items() if helps >= least and row not in members})
    return tuple(filter(None, found))


def _is_named(text: str, ranking: Ranking, row: int) -> bool:
    """Tell whether a text holds all words of the name of the component in a row."""
    return {*split_words(ranking.snapshot.summaries[row].name)} <= {*split_words(text)}

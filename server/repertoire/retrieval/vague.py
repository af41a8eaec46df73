"""Estimates whether a task is too vague for any set, as "make it better" is.

A perceptron like that of `need`, learned on vague tasks against requests, everyday prompts and tasks that no
component serves (bench/quality/vague.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from repertoire.retrieval.need import NeedModel, need_model_for

FILE = Path(__file__).with_name("vague.npz")
BAR = 1.0  # threshold in log-odds; 3 in 1,000 held-out requests exceed it, and most of those are vague too
OF_AN_AREA = 3.0  # threshold for a task that names an area of work: "set up monitoring" is short and clear
# Chance of a set from which on it is given whatever the wording; higher where an area is all that is said and a project
# is known, whose specialist for this area seems to serve anything ("the frontend needs work").
SERVED, SERVED_IN_PROJECT = 0.5, 0.9


def vagueness_model_for(query_encoder: str) -> NeedModel | None:
    """Return the model that was learned for exactly this query encoder; None where there is none."""
    return need_model_for(query_encoder, FILE)


def too_vague(
    odds: float, chance: float | None, named: Iterable[str], areas: frozenset[str], *, in_project: bool
) -> bool:
    """Tell whether to ask back about a task: vague, naming one area of work at most, and with an unlikely set.

    `named` are the capabilities that the task names, `areas` the capabilities that have narrower ones.
    """
    few = tuple(named)
    bar, served = OF_AN_AREA if few else BAR, SERVED_IN_PROJECT if few and in_project else SERVED
    return odds > bar and (chance or 0.0) < served and len(few) <= 1 and areas.issuperset(few)

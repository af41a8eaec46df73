"""A tuple of stages over a run of its own: each stage runs, is skipped, or lacks its model."""

from __future__ import annotations

from dataclasses import dataclass, field

from repertoire.domain.answer import PARTS
from repertoire.domain.errors import ModelUnavailable
from repertoire.retrieval import pipeline
from repertoire.retrieval.stage import Stage, take_all
from repertoire.retrieval.stage_reports import StageLog


@dataclass
class Note:
    """A question of a system that only notes what was done."""

    stage_log: StageLog = field(default_factory=StageLog)
    without: frozenset[str] = frozenset()
    effort: str = "fast, simple"
    done: list[str] = field(default_factory=list)


def does(name):
    def work(run):
        run.done.append(name)
        return f"did {name}"

    return work


def lacks(_run):
    message = "not there"
    raise ModelUnavailable(message)


STAGES = (
    Stage("words", "text", does("words"), cheap=True),
    Stage("model", "vectors", lacks, cheap=True),
    Stage("deep", "", does("deep"), worth=lambda run: "thorough" in run.effort),
    Stage("past", "learning", does("past"), on=lambda run: "words" in run.done),
    Stage("walk", "graph", does("walk")),
)


def told(run):
    take_all(STAGES, run)
    return {report.stage: report.detail for report in run.stage_log.reports}


def test_stages_are_done_in_their_order_and_each_says_what_it_did():
    run = Note(effort="thorough")
    assert told(run) == {name: f"did {name}" for name in ("words", "deep", "past", "walk")}
    assert run.done == ["words", "deep", "past", "walk"]
    assert run.stage_log.degraded == ("no model: not there",)


def test_what_is_switched_off_or_not_worth_it_says_so_and_what_has_nothing_to_do_is_silent():
    run = Note(without=frozenset({"text", "graph"}))
    assert told(run) == {
        "words": "skipped: switched off",
        "deep": "skipped: fast, simple",
        "walk": "skipped: switched off",
    }


def test_what_is_cheap_is_done_when_the_time_is_spent():
    run = Note(StageLog(budget_ms=0.0))
    assert told(run)["words"] == "did words"
    assert run.done == ["words"]


def test_every_stage_of_components_has_a_name_of_its_own_and_a_part_that_can_be_switched_off():
    names = [stage.name for stage in pipeline.STAGES]
    assert len(set(names)) == len(names)
    assert {stage.part for stage in pipeline.STAGES if stage.part} <= set(PARTS)
    always = {stage.name for stage in pipeline.STAGES if not stage.part}
    assert always == {"fuse", "name"}

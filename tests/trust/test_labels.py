"""The checks are right about labelled cases, and about real components where these are available."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repertoire.app.measure.trust_eval import case_files, evaluate_trust
from repertoire.app.sources.ingest import ingest
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.trust import Flag
from repertoire.settings import Settings
from repertoire.store.database import Store
from repertoire.trust.measure import JudgedCase, by_rule
from repertoire.trust.scan import RULES

LABELS = Path(__file__).parents[2] / "bench" / "trust"
LEAST = 0.9


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("labels") / "repertoire.db") as store:
        return evaluate_trust(store, LABELS / "cases.jsonl")[0]


@pytest.mark.parametrize("severity", ["critical", "high"])
def test_grave_flags_are_right_and_complete_on_the_labelled_cases(scores, severity):
    (score,) = [row for row in scores.severities if row.name == severity]

    assert score.precision >= LEAST, score.wrong
    assert score.recall >= LEAST, score.missed


@pytest.mark.parametrize(("file", "least"), [("wild.jsonl", 0.9), ("wild_kept.jsonl", 0.55)])
def test_other_forms_are_flagged_rightly_and_no_fewer_are_found_than_before(tmp_path, file, least):
    with Store.open(tmp_path / "repertoire.db") as store:
        (scores,) = evaluate_trust(store, LABELS / file)

    for score in scores.severities[:2]:
        assert score.precision >= LEAST, score.wrong
        assert score.recall >= least, score.missed


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "unchecked-file"])
def test_every_rule_has_eight_cases_of_each_kind(rule):
    ids = [line.partition('"id": "')[2].partition('"')[0] for line in (LABELS / "cases.jsonl").read_text().splitlines()]

    assert sum(case.startswith(f"{rule}-yes-") for case in ids) >= 8
    assert sum(case.startswith(f"{rule}-no-") for case in ids) >= 8
    assert len(set(ids)) == len(ids)


def test_a_file_that_holds_no_labels_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.jsonl").write_text('{"id": "a"}\n')

    with Store.open(tmp_path / "repertoire.db") as store:
        with pytest.raises(InvalidRequest, match="is no label"):
            evaluate_trust(store, tmp_path)
        with pytest.raises(InvalidRequest, match="no labels"):
            evaluate_trust(store, tmp_path / "empty")


@pytest.mark.parametrize("kind", ['"kind": "poem", ', ""])
def test_a_case_of_an_unknown_kind_is_refused(tmp_path, kind):
    (tmp_path / "x.jsonl").write_text(f'{{"id": "a", {kind}"text": "Do.", "expected": {{}}}}\n')

    with (
        Store.open(tmp_path / "repertoire.db") as store,
        pytest.raises(InvalidRequest, match="which is none of skill, front"),
    ):
        evaluate_trust(store, tmp_path)


def test_made_up_secrets_are_the_same_each_time():
    case = {"id": "x", "kind": "skill", "text": "ghp_{random:36}"}

    assert case_files(case) == case_files(case)
    assert "{random" not in case_files(case)["x/SKILL.md"]


@pytest.mark.skipif(not os.environ.get("REPERTOIRE_COMPONENTS_DATA"), reason="needs REPERTOIRE_COMPONENTS_DATA")
def test_real_components_are_seldom_flagged_and_never_wrongly_as_grave(tmp_path):
    folder = Path(os.environ["REPERTOIRE_COMPONENTS_DATA"])
    with Store.open(tmp_path / "repertoire.db") as store:
        for name in ("getsentry+skills", "karanb192+claude-code-hooks", "obra+superpowers"):
            ingest(store, tmp_path, str(folder / name), settings=Settings())
        (scores,) = evaluate_trust(store, LABELS / "verdicts.jsonl")
        counts = store.flags.counts()

    assert scores.cases
    assert not {"critical", "high"} & set(counts)


def test_what_would_be_right_too_is_neither_wrong_nor_asked_for():
    flag = Flag("obfuscation", "high")
    judged = [JudgedCase("a", {}, (flag,), {"obfuscation": "high"}), JudgedCase("b", {}, (), {"obfuscation": "high"})]

    (score,) = by_rule(judged, ["obfuscation"])

    assert (score.flagged, score.right, score.expected, score.wrong) == (1, 1, 0, ())

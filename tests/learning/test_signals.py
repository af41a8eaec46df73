"""Signals in commands, edits and prompts that earlier work succeeded or failed, and their accuracy on labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertoire.domain.event import CHECKED, UNDONE
from repertoire.learning.edits import Edits
from repertoire.learning.shell import commands, is_outside
from repertoire.learning.signals import asks, corrects, signal_of_call, signal_of_command

LABELLED = Path(__file__).parents[2] / "bench/learning/signals.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]


def unseen(kind: str) -> list[dict[str, Any]]:
    """Return the labelled rows from which no rule was made."""
    return [row for row in ROWS if kind in row and row["use"] == "report"]


def rates(rows: list[dict[str, Any]], told: Callable[[dict[str, Any]], bool], label: str, value: Any) -> Any:
    """Return precision and recall of what is told for one value of a label."""
    found = [row for row in rows if told(row)]
    right = sum(row[label] == value for row in found)
    return right / max(len(found), 1), right / sum(row[label] == value for row in rows)


@pytest.mark.parametrize(
    ("number", "signal", "least"),
    [(1, CHECKED, (0.99, 0.97)), (1, UNDONE, (0.99, 0.97)), (4, CHECKED, (0.96, 0.82)), (4, UNDONE, (0.99, 0.99))],
)
def test_what_labelled_commands_tell_is_told(number: int, signal: str, least: tuple[float, float]) -> None:
    rows = [row for row in unseen("command") if row["list"] == number]
    precision, recall = rates(rows, lambda row: signal_of_command(row["command"]) == signal, "tells", signal)
    assert precision >= least[0]
    assert recall >= least[1]


@pytest.mark.parametrize(
    ("command", "printed", "signal"),
    [
        ("pytest 2>&1 | tail -5", "....\n12 passed in 0.31s", CHECKED),
        ("pytest 2>&1 | tail -5", "FAILED tests/test_a.py::test_b\n1 failed, 11 passed in 0.31s", ""),
        ("pytest | head -20", "collected 12 items", ""),
        ("pytest; git status", "12 passed in 0.31s\nOn branch main", CHECKED),
        ("npm test > /tmp/log 2>&1; echo exit: $?", "exit: 0", CHECKED),
        ("npm test > /tmp/log 2>&1; echo exit: $?", "exit: 1", ""),
        ("npm test | tail -1; echo exit: $?", "exit: 0", ""),
        ("mypy src | tail -1", "Success: no issues found in 12 source files", CHECKED),
        ("mypy src | tail -1", "Found 3 errors in 1 file (checked 12 source files)", ""),
        ("npx tsc --noEmit | head; npx eslint .", "src/a.ts(1,1): error TS2304: Cannot find name", ""),
        ("cargo test 2>&1 | grep 'test result'", "test result: ok. 4 passed; 0 failed; 0 ignored", CHECKED),
        ("cargo test 2>&1 | grep 'test result'", "test result: FAILED. 3 passed; 1 failed; 0 ignored", ""),
        ("go test ./... | tail", "ok  \texample.com/a\t0.01s", CHECKED),
        ("pytest || true", "bash: pytest: command not found", ""),
        ("(pytest && mypy src) | tail -1", "", ""),
        ("set -e; pytest && echo fine; echo done", "", ""),
        ("pytest &&\n  mypy src", "", CHECKED),
        ("cat > a.sh <<'EOF'\npytest\nEOF\nbash -n a.sh", "", ""),
        ("cat > a.txt <<EOF\nit's\nEOF\npytest -q", "", CHECKED),
    ],
)
def test_where_the_status_is_hidden_what_was_printed_decides(command: str, printed: str, signal: str) -> None:
    assert signal_of_command(command, printed) == signal


@pytest.mark.parametrize(("number", "precision", "recall"), [(1, 0.98, 0.97), (4, 0.95, 0.42)])
def test_labelled_corrections_are_told_from_what_is_none(number: int, precision: float, recall: float) -> None:
    rows = [row for row in unseen("prompt") if row["list"] == number]
    found = rates(rows, lambda row: corrects(row["prompt"], answers=row.get("answers", False)), "corrects", True)
    assert found[0] >= precision
    assert found[1] >= recall


def test_no_rule_was_made_from_what_is_counted_and_both_kinds_are_many() -> None:
    prompts = [row for row in ROWS if "prompt" in row]
    assert min(sum(row["corrects"] is told for row in prompts) for told in (True, False)) >= 120
    assert len({row.get("prompt", row.get("command")) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("No, the second option", False),
        ("no", False),
        ("Nope!", False),
        ("No, that's wrong", True),
        ("revert that", True),
        ("it still fails", True),
    ],
)
def test_an_answer_to_a_question_turns_down_nothing_unless_it_says_what_is_wrong(prompt: str, told: bool) -> None:
    assert corrects(prompt, answers=True) is told
    assert corrects(prompt)


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("undo the last alembic migration on staging", False),
        ("roll back the last deployment", False),
        ("revert the last 3 commits and push", False),
        ("undo the previous step, please", True),
        ("undo the last two edits", True),
        ("revert the changes to utils.py", True),
        ("discard all local branches", False),
        ("discard all of that", True),
        ("annule la dernière migration", False),
        ("annule la dernière modification", True),
        ("deshaz el último commit", False),
        ("mach die letzte Migration rückgängig", False),
        ("mach die letzte Änderung rückgängig", True),
        ("撤回上一个提交", False),
        ("撤销上次的修改", True),
    ],
)
def test_only_what_was_just_done_is_a_correction_to_undo(prompt: str, told: bool) -> None:
    assert corrects(prompt) is told


@pytest.mark.parametrize(
    "prompt",
    [
        "这样不对",
        "我说的不是这个",
        "构建又失败了",
        "把刚才的改动撤销",
        "falsch",
        "stimmt so nicht",
        "そうじゃない",
        "やり直してください",
        "нет, это неправильно",
        "верни как было",
        "по-прежнему не работает",
        "ты забыл тесты",
        "das hat leider nicht geholfen",
        "der Skill hat nichts gebracht",
        "ça n'a servi à rien",
        "toujours pas",
        "eso no ayudó en nada",
        "non ha aiutato",
        "isso não adiantou nada",
        "не сработало",
        "толку никакого",
        "这没有帮助",
        "没帮上什么忙",
        "あまり役に立ちませんでした",
        "うまくいかなかった",
        "도움이 되지 않았어요",
        "안 돼요",
        "¡No funciona!",
        "te equivocaste de archivo",
        "mas ainda não funciona",
        "tu t'es trompé de fichier",
        "das ist nicht, was ich wollte",
        "但是还是不行",
        "你把登录搞坏了",
        "ファイルが違います",
        "그런데 여전히 안 돼요",
        "но всё равно не работает",
        "마지막 변경 되돌려줘",
        "さっきの変更を取り消して",
        "desfaz a última alteração",
        "把剛才的改動撤銷",
        "還是不行",
        normalize("NFD", "그게 아니야"),
    ],
)
def test_a_correction_is_read_in_the_language_of_the_person(prompt: str) -> None:
    assert corrects(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "撤销功能怎么实现",
        "这个函数不对称，请重构",  # noqa: RUF001
        "nein, das reicht",
        "違うブランチに切り替えて",
        "нет, всё хорошо",
        "верни 404, если нет пользователя",
        "没有帮助文档的命令有哪些",
        "删掉没用的代码",
        "役に立たないコードを削除して",
        "lösche, was nicht geholfen hat",
        "hat das nicht geholfen?",
        "elimina lo que no sirve",
        "удали то, что не подошло под шаблон",
        "도움이 안 되는 코드를 지워줘",
        "設定を元に戻す機能を追加して",
        "das ist nicht dokumentiert, schreib die Doku",
        "ファイルが違う場所に保存されるバグを直して",
        "把登录改成微信登录",
        "다시 시도 버튼을 추가해줘",
        "되돌리기 버튼을 추가해줘",
    ],
)
def test_a_task_or_thanks_in_another_language_corrects_nothing(prompt: str) -> None:
    assert not corrects(prompt)


@pytest.mark.parametrize(
    ("message", "told"),
    [("Shall I go on?", True), ("**Which one?**\n", True), ("Why? " + "Because it fits. " * 40, False), ("", False)],
)
def test_a_message_asks_where_it_ends_with_a_question(message: str, told: bool) -> None:
    assert asks(message) is told


@pytest.mark.parametrize(
    "command",
    ["command -v pytest", "command -V mypy && echo yes", "tox -l", "tox --listenvs", "tox -a", "nox -l"],
)
def test_a_command_that_only_tells_has_checked_nothing(command: str) -> None:
    assert signal_of_command(command) == ""


@pytest.mark.parametrize("command", ["command pytest -v", "tox -e py312", "nox -s tests"])
def test_a_command_that_runs_a_check_has_checked(command: str) -> None:
    assert signal_of_command(command) == CHECKED


def test_what_still_runs_or_was_stopped_has_passed_nothing() -> None:
    command = {"command": "pytest -q"}
    assert signal_of_call(command, {"stdout": "3 passed"}) == CHECKED
    assert signal_of_call({**command, "run_in_background": True}, {}) == ""
    assert signal_of_call(command, {"backgroundTaskId": "b1"}) == ""
    assert signal_of_call(command, {"stdout": "3 passed", "interrupted": True}) == ""


def edit(old: str, new: str, file: str = "a.py") -> dict[str, str]:
    return {"file_path": file, "old_string": old, "new_string": new}


def test_an_edit_is_undone_where_a_later_turn_puts_back_the_old_text() -> None:
    edits = Edits()
    assert not edits.add(edit("one", "two"))
    assert not edits.add(edit("two", "one"))  # tried out
    edits.add(edit("one", "three"))
    edits.end_turn()
    assert not edits.add(edit("three", "one", file="b.py"))
    assert not edits.add(edit("three", "four"))
    assert edits.add(edit("three", "one"))


def test_what_was_edited_before_a_selection_or_two_turns_ago_is_none_of_its_doing() -> None:
    edits = Edits()
    edits.add(edit("one", "two"))
    edits.end_turn()
    edits.forget()
    assert not edits.add(edit("two", "one"))
    edits.add(edit("five", "six"))
    edits.end_turn()
    edits.end_turn()
    assert not edits.add(edit("six", "five"))
    assert not edits.add({"file_path": 1, "old_string": "a"})


@given(st.text(max_size=400))
def test_any_prompt_is_read(text: str) -> None:
    assert isinstance(corrects(text), bool)


@pytest.mark.parametrize(
    "part", ["npm ", "npm a;", "a && b; (c) | ", "cat <<A\n", "if ", "sh -c '", "env timeout ", "( "]
)
def test_a_long_command_is_read_as_some_commands(part: str) -> None:
    assert signal_of_command(part * (20_000 // len(part))) == ""


@given(st.text(alphabet="ab'\"\\$(){}<>|&;#! \n=-/", max_size=60))
def test_any_text_is_read_as_some_commands(text: str) -> None:
    assert all(ran.words and (ran.begun or not ran.sure) for ran in commands(text))
    assert isinstance(signal_of_command(text, text), str)


def test_a_home_directory_that_is_a_repository_makes_no_one_project_of_all_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    for name in ("kiln", "shop"):
        (tmp_path / name).mkdir()
    assert is_outside(str(tmp_path / "shop"), str(tmp_path / "kiln"))
    assert not is_outside(str(tmp_path / "shop"), str(tmp_path))
    assert is_outside("/\0", str(tmp_path / "kiln"))

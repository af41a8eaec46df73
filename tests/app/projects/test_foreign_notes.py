"""Notes in other languages are named, merged and asked of by time as English ones are."""

from __future__ import annotations

import unicodedata

import pytest

from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import save_request
from repertoire.app.projects.mirror import begin_mirror, compare_mirror


@pytest.fixture
def project(shelf, tmp_path):
    return shelf.open(str(tmp_path / "kiln-project"))


def saved(project, title, **more):
    return save_entry(project, save_request({"kind": "note", "title": title, **more}), embedder=None)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("窑炉：先预热，再点火", "窑炉-先预热-再点火"),  # noqa: RUF001
        ("Öfen prüfen", "öfen-prüfen"),
        (unicodedata.normalize("NFD", "Öfen prüfen"), "öfen-prüfen"),
        ("Печь / обжиг: C:\\*?", "печь-обжиг-c"),
        ("窑" * 60, "窑" * 40),
        ("\u202e???", "untitled"),
    ],
)
def test_the_file_of_a_note_is_named_in_its_own_letters(project, tmp_path, title, name):
    note = saved(project, title).entries[0]
    begin_mirror(project)
    compare_mirror(project)
    (file,) = (tmp_path / "kiln-project/.repertoire/notes").iterdir()
    assert file.name == f"{name}-{note.key[5:11]}.md"
    assert len(file.name.encode()) < 140
    file.write_text(f"{file.read_text(encoding='utf-8')}\nSlowly.\n", encoding="utf-8")
    assert compare_mirror(project).read == [f"notes/{file.name}"]


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (
            "我们决定用 PostgreSQL 而不是 MySQL 保存订单",
            "我们决定用 PostgreSQL 而不是 MySQL 保存所有订单。",
            "merged",
        ),
        (
            "注文の保存には PostgreSQL を使うことに決めました",
            "注文の保存には必ず PostgreSQL を使うことに決めました。",
            "merged",
        ),
        (
            "주문은 PostgreSQL 에 저장하기로 결정했습니다",
            "모든 주문은 PostgreSQL 에 저장하기로 결정했습니다.",
            "merged",
        ),
        ("订单数据每天晚上从上海机房迁移到北京机房", "订单数据每天晚上从北京机房迁移到上海机房", "saved"),
        ("我们决定在订单服务里使用 Redis 缓存会话", "我们决定在订单服务里不使用 Redis 缓存会话", "saved"),
        (
            "注文の保存には PostgreSQL を使うことに決めました",
            "注文の保存には PostgreSQL を使わないことに決めました",
            "saved",
        ),
        ("我们决定在订单服务里使用 Redis 缓存会话", "我们决定在订单服务里使用内存缓存会话", "saved"),
    ],
)
def test_a_note_that_says_the_same_becomes_one_with_it(project, first, second, what):
    assert saved(project, first).what == "saved"
    assert saved(project, second).what == what

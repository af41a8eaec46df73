"""Notes in other languages are named, merged and asked of by time as English ones are."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from repertoire.app.clock import local_today
from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import save_request
from repertoire.app.projects.knowledge import hints_in
from repertoire.app.projects.mirror import begin_mirror, compare_mirror
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.projects.times import span_of


@pytest.fixture
def project(shelf, tmp_path):
    return shelf.open(str(tmp_path / "kiln-project"))


@pytest.fixture
def decisions(project):
    """Return the keys of three decisions: of now, of ten days ago and of two years ago."""
    keys = []
    for days, title in enumerate(("Clay from the new pit", "Two firings a week", "No lead in glazes")):
        entry = saved(project, title, category="decision").entries[0]
        at = datetime.now(timezone.utc) - timedelta((0, 10, 730)[days])
        aged = replace(entry, changed=at.isoformat(timespec="seconds"))
        project.store.entries.put(aged, [entry.title], now=aged.changed)
        keys.append(entry.key)
    return keys


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


@pytest.mark.parametrize(
    "question",
    [
        "was haben wir seit gestern beschlossen?",
        "我们昨天以来决定了什么？",  # noqa: RUF001
        "昨日から何を決めましたか",
        "¿qué decidimos desde ayer?",
        "что мы решили со вчера",  # noqa: RUF001
        "qu'avons-nous décidé depuis hier ?",
        "cosa abbiamo deciso da ieri?",
        "o que decidimos desde ontem?",
        "어제부터 무엇을 결정했나요",
    ],
)
def test_a_bare_time_asks_for_all_that_was_saved_then(project, decisions, question):
    assert [hit.item.key for hit in search_memory(project, MemoryQuery(question), embedder=None).hits] == decisions[:1]


@pytest.mark.parametrize(
    ("question", "time"),
    [
        ("was wurde in der letzten Woche notiert", "last week"),
        ("was wurde vor zwei Wochen geändert", "2 weeks ago"),
        ("was wurde vor Montag gemacht", "before Monday"),
        ("Änderungen der letzten 3 Tage", "last 3 days"),
        ("上个月改了什么", "last month"),
        ("十天前改了什么", "10 days ago"),
        ("2025年11月决定了什么", "in November 2025"),
        ("周一之前做了什么", "before Monday"),
        ("3日前に変更したこと", "3 days ago"),
        ("先週の月曜日からの変更", "since Monday"),
        ("la semana pasada", "last week"),
        ("cambios en los últimos tres días", "last 3 days"),
        ("что изменилось неделю назад", "one week ago"),
        ("изменения на прошлой неделе", "last week"),
        ("il y a deux mois", "2 months ago"),
        ("cosa è cambiato l'anno scorso", "last year"),
        ("o que mudou há 3 dias", "3 days ago"),
        ("지난주에 바뀐 것", "last week"),
    ],
)
def test_a_time_is_read_as_its_english_is(question, time):
    hints, english = hints_in(question), span_of(time, local_today())
    assert hints.span[:2] == english[:2]
    assert hints.all_of_it


@pytest.mark.parametrize(
    "question",
    ["wie warte ich den Ofen", "十五天前", "窑炉的温度", "Ofen vor dem Brand prüfen", "hier is the oven", "最近邻搜索"],
)
def test_what_is_no_time_is_read_as_none(question):
    assert hints_in(question).span is None


@pytest.mark.parametrize(
    "question", ["昨日の窯の温度", "上周窑炉的温度", "der Ofen letzte Woche", "печь на прошлой неделе"]
)
def test_a_time_with_another_word_does_not_ask_for_all_of_it(question):
    assert hints_in(question).span is not None
    assert not hints_in(question).all_of_it

"""A project whose documents, comments and notes are in another language is found by questions in it, and in English."""

import unicodedata
from contextlib import closing

import pytest

from app.projects.small_project import begin, read, write
from repertoire.app.projects.entries import save_entry
from repertoire.app.projects.entry_requests import SaveRequest
from repertoire.app.projects.search import MemoryQuery, search_memory
from repertoire.app.projects.shelf import ProjectShelf
from repertoire.app.projects.show import show_item
from repertoire.app.wiring import open_project

FILES = {
    "docs/订单.md": "# 订单\n\n## 取消订单\n\n款项会在三天内退回。\n\n## 预留库存\n\n30 分钟内未付款则释放库存。\n",
    "docs/datenbank.md": "# Datenbank\n\n## Sicherungen\n\nJede Nacht wird die Datenbank gesichert.\n\n"
    "## Langsame Abfragen\n\nZuerst einen Index anlegen.\n",
    "app/work.py": 'def f1(x):\n    """计算某个金额应缴的税款。"""\n    return run(1, x)\n\n\n'
    'def f2(x):\n    """从数据库中删除过期的会话。"""\n    return run(2, x)\n\n\n'
    'def f3(x):\n    """Verschickt eine Mahnung für eine unbezahlte Rechnung."""\n    return run(3, x)\n',
}
NOTES = {
    "我们决定用 PostgreSQL 保存订单": "因为需要事务。",
    "邮件重复发送": "任务十分钟后才确认。",
    "Preise werden in ganzen Cent gespeichert": "Gleitkommazahlen runden falsch.",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory, embedder):
    folder = tmp_path_factory.mktemp("foreign")
    root = write(folder / "shop", FILES)
    with begin(folder / "home", root) as memory:
        read(memory, embedder=embedder)
    with closing(ProjectShelf(folder / "home", open_project)) as shelf:
        opened = shelf.open(str(root))
        for title, body in NOTES.items():
            save_entry(opened, SaveRequest("note", title=title, body=body), embedder=embedder)
        yield opened


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("怎么取消订单", "取消订单"),
        ("预留的库存什么时候释放", "预留库存"),
        ("cancel an order", "取消订单"),
        ("wann wird die Datenbank gesichert", "Sicherungen"),
        ("what to do with a slow query", "Langsame Abfragen"),
        ("计算税款", "f1"),
        ("delete expired sessions", "f2"),
        ("Mahnung für Rechnung", "f3"),
        ("send a reminder for an invoice", "f3"),
        ("客户收到重复的邮件", "邮件重复发送"),
        ("prices in cents", "Preise werden in ganzen Cent gespeichert"),
    ],
)
def test_what_is_written_in_another_language_is_found(project, embedder, question, title, vectors):
    found = search_memory(project, MemoryQuery(question), embedder=embedder if vectors else None)
    assert title in [hit.item.title for hit in found.hits[:2]]


def test_a_file_is_found_by_a_part_of_its_name(project):
    for question in ("订单", "orders"):
        found = search_memory(project, MemoryQuery(question, ("file",)), embedder=None)
        assert [hit.item.path for hit in found.hits] == ["docs/订单.md"]


def test_a_question_for_a_decision_finds_it_before_what_repeats_its_words(project, embedder):
    save_entry(project, SaveRequest("task", title="我们用 PostgreSQL 保存什么订单"), embedder=embedder)
    save_entry(
        project,
        SaveRequest("note", title="PostgreSQL 保存订单的决定", body="需要事务。", data={"category": "decision"}),
        embedder=embedder,
    )
    found = search_memory(project, MemoryQuery("我们决定用什么保存订单", ("note", "task")), embedder=embedder)
    assert found.hits[0].item.title == "PostgreSQL 保存订单的决定"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_file_is_shown_however_the_accents_of_its_name_are_written(tmp_path, form):
    path = unicodedata.normalize("NFD", "docs/Überblick.md")
    with begin(tmp_path / "home", write(tmp_path / "shop", {path: "# Überblick\n\nAlles.\n"})) as memory:
        read(memory)
    with closing(ProjectShelf(tmp_path / "home", open_project)) as shelf:
        opened = shelf.open(str(tmp_path / "shop"))
        assert show_item(opened, unicodedata.normalize(form, "docs/Überblick.md")).item.path == path

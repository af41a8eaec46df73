"""A pack of documents in another language is found by questions in it, in English, and says what it does not cover."""

import unicodedata

import pytest

from app.packs.documentation import build, write
from repertoire.app.packs.describe import PackDescriptionRequest, describe_pack
from repertoire.app.packs.places import packs_folder
from repertoire.app.packs.query import PackMeans, PackQuestion, query_packs
from repertoire.app.packs.shelf import PackShelf
from repertoire.app.packs.updating import UpdateRequest, update_pack
from repertoire.app.wiring import open_new_pack
from repertoire.settings import Settings
from repertoire.store.pack_file import PackStore

CHINESE = {
    "订单.md": "# 订单\n\n## 创建订单\n\n库存会立即预留，未付款则释放。\n\n## 取消订单\n\n款项会在三天内退回。\n",  # noqa: RUF001
    "设置.md": "# 设置\n\n- `timeout` (number): 连接超时的秒数 (default: 30)\n- `retries`: 重试 (default: 3)\n",
    "数据库.md": "# 数据库\n\n## 备份\n\n每天凌晨导出，备份保留 14 天。\n\n## 慢查询\n\n慢查询会写入日志。\n",  # noqa: RUF001
    "日志.md": "# 日志\n\n## 告警\n\n失败请求太多时，会通知值班人员。\n\n## 个人信息\n\n姓名不得出现在日志中。\n",  # noqa: RUF001
}
GERMAN = {
    "bestellung.md": "# Bestellungen\n\n## Anlegen\n\nDer Bestand wird reserviert und ohne Zahlung freigegeben.\n\n"
    "## Stornieren\n\nZahlungen werden nach einer Stornierung innerhalb von drei Tagen erstattet.\n",
    "datenbank.md": "# Datenbank\n\n## Sicherungen\n\nJede Nacht wird die Datenbank gesichert; Sicherungen bleiben "
    "14 Tage.\n\n## Langsame Abfragen\n\nZuerst einen Index anlegen.\n",
}
ENGLISH = {
    "orders.md": "# Orders\n\n## Create\n\nStock is reserved, and released without payment.\n",
    "database.md": "# Database\n\n## Backups\n\nThe database is dumped every night; backups are kept for 14 days.\n",
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory, embedder):
    home = tmp_path_factory.mktemp("home")
    for name, files in {"zh": CHINESE, "de": GERMAN, "en": ENGLISH}.items():
        build(home, name, write(home / "docs" / name, files), embedder)
    opened = PackShelf(packs_folder(home), PackStore.open)
    yield opened
    opened.close()


def ask(shelf, pack, question, embedder):
    return query_packs(shelf, PackQuestion(question, (pack,)), PackMeans(embedder, Settings().pack_gate_percent / 100))


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize(
    ("pack", "question", "title"),
    [
        ("zh", "备份保留多久", "备份"),
        ("zh", "什么时候会通知值班人员", "告警"),
        ("zh", "how long are backups kept", "备份"),
        ("zh", "a slow query", "慢查询"),
        ("de", "wie lange wird eine Sicherung aufbewahrt", "Sicherungen"),
        ("de", "how long are backups kept", "Sicherungen"),
        ("de", "备份保留多久", "Sicherungen"),
        ("en", "wie lange werden Sicherungen aufbewahrt", "Backups"),
        ("en", "备份保留多久", "Backups"),
    ],
)
def test_a_question_finds_its_section_in_any_pair_of_languages(shelf, embedder, pack, question, title, vectors):
    found = ask(shelf, pack, question, embedder if vectors else None)
    assert found.hits[0].passage.title == title


@pytest.mark.parametrize("question", ["香蕉煎饼的做法", "里斯本明天的天气", "怎么训练神经网络"])
def test_a_pack_covers_no_question_for_being_in_the_same_script(shelf, embedder, question):
    assert not ask(shelf, "zh", question, embedder).covered


@pytest.mark.parametrize("question", ["备份保留多久", "订单什么时候可以取消", "查询很慢怎么办"])
def test_a_question_in_its_own_language_is_covered(shelf, embedder, question):
    assert ask(shelf, "zh", question, embedder).covered


def test_a_passage_is_quoted_as_it_was_written(shelf, embedder):
    text = ask(shelf, "zh", "备份保留多久", embedder).hits[0].passage.text
    assert "备份保留 14 天" in text
    assert "backup" not in text


def test_facts_are_found_by_a_part_of_an_unparted_run(shelf):
    found = describe_pack(shelf, PackDescriptionRequest("zh", about="超时"))
    assert [fact.subject for fact in found.facts] == ["timeout"]


class Older:
    """A model that made other vectors of the same texts."""

    def __init__(self, embedder):
        self.model, self.dimensions, self._embedder = embedder.model, embedder.dimensions, embedder

    def embed_passages(self, texts):
        return self._embedder.embed_passages([f"something else {len(text)}" for text in texts])


def test_an_update_makes_vectors_anew_that_an_earlier_version_made_of_the_original_text(tmp_path, embedder):
    shelf = PackShelf(packs_folder(tmp_path), PackStore.open)
    quiet = {"settings": Settings(), "report": lambda *_: None}
    for name, files, made_by, made in (
        ("old", CHINESE, Older(embedder), True),
        ("new", CHINESE, embedder, False),
        ("english", ENGLISH, Older(embedder), False),
    ):
        origin = write(tmp_path / name, files)
        build(tmp_path, name, origin, made_by)
        done = update_pack(shelf, UpdateRequest(name, str(origin)), open_new_pack, embedder=embedder, **quiet)
        assert bool(done.built.embedded) is made, name
    shelf.close()


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_section_is_shown_however_the_accents_of_its_citation_are_written(tmp_path, form):
    path = unicodedata.normalize("NFD", "größe.md")
    build(tmp_path, "de", write(tmp_path / "docs", {path: "# Größe\n\n## Überlauf\n\nNie.\n"}))
    shelf = PackShelf(packs_folder(tmp_path), PackStore.open)
    cited = unicodedata.normalize(form, "größe.md#überlauf")
    section = describe_pack(shelf, PackDescriptionRequest("de", citation=cited)).section
    assert section is not None
    assert section.article == path
    shelf.close()

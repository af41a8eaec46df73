"""A component that describes itself in another language is found by its own words, and by English ones."""

import unicodedata

import pytest

from ingestion.workbench import skill
from repertoire.app.ask.search import search
from repertoire.app.lookup import find_one_component
from repertoire.app.sources import ingest
from repertoire.app.sources.embed import embed_pending
from repertoire.domain.answer import Query
from repertoire.retrieval.pipeline import Pipeline

ENGLISH = {
    "skills/changelog/SKILL.md": skill("changelog", "Writes release notes from the commits.", "# Notes\nRead the log."),
    "skills/review/SKILL.md": skill("review", "Reviews a pull request before it is merged.", "# Review\nRead it."),
    "skills/migrate/SKILL.md": skill("migrate", "Writes database migrations.", "# Migrations\nWrite both ways."),
}
OWN = {
    "angebote": ("Schreibt Angebote für Kunden nach unserer Vorlage.", "Vorlage nehmen, Preise aus der Preisliste."),
    "facture": ("Génère les factures mensuelles des clients.", "Lire les heures du mois, appliquer le tarif."),
    "limpieza": ("Limpia archivos CSV: duplicados y valores vacíos.", "Guardar siempre el archivo original."),
    "小程序": ("微信小程序开发：页面、组件、支付和登录。", "使用原生框架。"),  # noqa: RUF001
    "テスト作成": ("サービス層の単体テストを作成します。", "Jestを使う。"),
    "отчет": ("Анализирует ошибки и составляет отчет с причинами.", "Собрать ошибки за неделю."),  # noqa: RUF001
}


@pytest.fixture
def home(bench):
    own = {f"skills/{name}/SKILL.md": skill(name, said, f"# {name}\n{body}") for name, (said, body) in OWN.items()}
    bench.ingest(bench.write({**ENGLISH, **own}))
    return bench


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("mach ein Angebot für den Kunden", "angebote"),
        ("write a quote for the customer", "angebote"),
        ("génère les factures des clients", "facture"),
        ("limpia este csv, tiene duplicados", "limpieza"),
        ("给小程序加登录页面", "小程序"),
        ("単体テストを作って", "テスト作成"),
        ("write unit tests", "テスト作成"),
        ("составь отчет об ошибках", "отчет"),  # noqa: RUF001
    ],
)
def test_it_is_found_by_words_and_by_meaning(home, text, name, embedder):
    by_words = search(Pipeline(home.store.graph, home.store.vectors, embedder=None), Query(text))
    assert by_words.hits[0].component.name == name
    embed_pending(home.store, embedder)
    answer = search(Pipeline(home.store.graph, home.store.vectors, embedder=embedder), Query(text))
    assert answer.hits[0].component.name == name


def test_its_description_is_shown_as_it_was_written_and_its_capabilities_are_those_of_the_english(home):
    found = {component.name: component for component in home.all().values()}
    assert found["テスト作成"].description == OWN["テスト作成"][0]
    assert "capability:unit-testing" in home.links(found["テスト作成"], "provides")
    assert "capability:unit-testing" not in home.links(found["changelog"], "provides")


def test_what_is_english_is_not_translated(home):
    assert [component.english for component in home.all().values() if component.name in {"changelog", "review"}] == [
        "",
        "",
    ]


def test_few_words_that_another_language_shares_make_no_english_component_foreign(bench):
    body = "# Dashboard\nAsk which metrics are wanted, then write the configuration and show it to the user."
    bench.ingest(
        bench.write({"commands/dashboard.md": f"---\ndescription: Generate a monitoring dashboard\n---\n{body}"})
    )
    assert bench.one("command").english == ""


def test_what_was_read_before_is_translated_anew_by_other_dictionaries(home, monkeypatch):
    monkeypatch.setattr(ingest, "described_in_english", lambda name, *_: f"{name}, told otherwise")
    assert home.ingest(home.root / "repo").changed == 0
    monkeypatch.setattr(ingest, "dictionaries_digest", lambda: "of others")
    assert home.ingest(home.root / "repo").changed == len(ENGLISH) + len(OWN)
    assert {component.english for component in home.all().values()} >= {"facture, told otherwise"}


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(
    ("typed", "name"), [("prüfer", "prüfer"), ("PRÜFER", "prüfer"), ("ガイド", "ガイド"), ("МИГРАЦИИ", "Миграции")]
)
def test_a_name_is_found_however_its_accents_and_capitals_are_written(bench, form, typed, name):
    written = unicodedata.normalize(form, name)
    bench.ingest(bench.write({f"skills/{written}/SKILL.md": skill(written, "Checks the bills of a month.", "# Bills")}))
    for other in ("NFC", "NFD"):
        found = find_one_component(bench.store, unicodedata.normalize(other, typed)).component
        assert found.name == written
        assert find_one_component(bench.store, unicodedata.normalize(other, found.id)).component == found

"""Questions in other languages are translated word by word, and English ones stay as they are."""

import json
from pathlib import Path
from unicodedata import normalize

import pytest

from repertoire.domain.answer import Query
from repertoire.retrieval.language import LANGUAGES, is_unread, language_of
from repertoire.retrieval.pipeline import Pipeline
from repertoire.retrieval.plan import RECOMMEND, SEARCH
from repertoire.retrieval.translation import Translation, in_english, translate
from repertoire.retrieval.translation_dictionary import FOLDER

REQUESTS = Path(__file__).parents[2] / "bench" / "quality" / "plain_requests"
CHINESE = 2  # of the requests


def english_requests():
    for line in (REQUESTS / "requests.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)["text"]
    for name in ("everyday.txt", "none.txt"):
        yield from (REQUESTS / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture
def pipeline(embedded, embedder):
    return Pipeline(embedded.graph, embedded.vectors, embedder=embedder)


def asked(pipeline, text, **more):
    ranking = pipeline.rank(Query(text, **more), intent=SEARCH)
    return ranking, [hit.component.name for hit in pipeline.hits(ranking, ranking.rows)]


def test_no_english_request_is_read_as_anything_else():
    others = [text for text in english_requests() if language_of(text)]
    assert [language_of(text) for text in others] == ["zh"] * CHINESE


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Schreibe Unit-Tests für das Zahlungsmodul", "write Unit test for payment module"),
        ("écris des tests unitaires pour l'API", "write unit test for API"),
        ("escribe pruebas unitarias para el módulo de pagos", "write unit test for module payment"),
        ("escreva testes unitários para a API", "write unit test for API"),
        ("scrivi test unitari per l'API", "write unit test for API"),
        ("напиши модульные тесты для API", "write unit test for API"),
        ("为 API 编写单元测试", "for API write unit test"),
        ("APIのユニットテストを書いてください", "API unit test write"),
        ("API 단위 테스트를 작성해 주세요", "API unit test write"),
    ],
)
def test_a_question_is_read_word_by_word(text, english):
    assert in_english(text) == english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("Schreibe ein Anfängertutorial", "write beginner tutorial"),
        ("Risikobewertung für das Inventarsystem", "risk assessment for inventory system"),
        ("un tutoriel pour les débutants", "tutorial for beginner"),
        ("un tutorial para principiantes", "tutorial for beginner"),
        ("предскажи структуру белков", "predict structure protein"),
        ("预测蛋白质结构", "predict protein structure"),
        ("初心者向けのチュートリアル", "beginner guide"),
        ("quiero comprar un libro", "purchase book"),  # no company, compañía, and no library, librería
        ("用信用卡支付", "credit card payment"),  # no letter and slow, 信 and 卡
        ("ドッキーを削除", "remove"),  # no key, キー, in an unknown word
        ("ピクリンズマージャを描いて", "draw"),  # no merge, マージ
        ("푸르키를 삭제", "remove"),  # no key, 키
    ],
)
def test_a_word_that_matters_is_neither_lost_nor_taken_for_another(text: str, english: str) -> None:
    assert in_english(text) == english


@pytest.mark.parametrize(
    "name", ["src/app/main.py", "`getUser`", "userId", "useState()", "https://example.com/a", "OAuth2", "Kubernetes"]
)
def test_names_paths_and_code_stay_as_they_are(name):
    assert name in in_english(f"Schreibe bitte die Tests für {name} und prüfe die Dokumentation").split()
    assert name in in_english(f"请为 {name} 编写测试").split()


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("den build beschleunigen", "build speed up"),
        ("das Build ist langsam", "Build slow"),
        ("Timeout erhöhen", "Timeout increase"),
        ("der Build dauert ewig", "Build slow"),
    ],
)
def test_a_few_german_words_about_a_borrowed_one_are_read_as_german(text: str, english: str) -> None:
    assert in_english(text) == english


def test_german_compounds_come_apart():
    assert in_english("Prüfe die Datenbanksicherheit der Anwendung") == "check database security application"


def test_a_first_part_of_a_german_compound_that_has_lost_its_last_letter_is_known():
    assert in_english("Lies das Adressbuch für das Schulprojekt ein") == "read address book for school project"


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("pruef die Oberflaeche auf Sicherheitsluecken", "prüf die Oberfläche auf Sicherheitslücken"),
        ("修復儀表板上很慢的 SQL 查詢", "修复仪表盘上很慢的 SQL 查询"),
        ("讓登入頁面支援螢幕閱讀器", "让登录页面支持屏幕阅读器"),
        ("根據伺服器日誌\uff0c檢查記憶體", "根据服务器日志，检查内存"),  # noqa: RUF001 - as typed in Chinese
        ("ﾌﾟﾙﾘｸｴｽﾄのﾃｽﾄを書いて", "プルリクエストのテストを書いて"),
        ("\uff30\uff24\uff26ファイルから表を抽出して", "PDFファイルから表を抽出して"),
        *(
            (normalize("NFD", text), text)
            for text in ("für die Übersetzung prüfen", "로그인 페이지의 보안 검토", "déploie là")
        ),
        *(
            (normalize("NFD", text), text)
            for text in ("ダッシュボードのグラフ", "não está em produção", "ещё медленный запрос")
        ),
    ],
)
def test_letters_that_a_keyboard_or_a_system_writes_in_another_way_are_read_alike(typed: str, text: str) -> None:
    assert typed != text
    assert in_english(typed) == in_english(text) != typed


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("arregla el error del container", "fix error container"),
        ("crea un docker-compose para la base de datos", "create docker compose for database"),
        ("haz un endpoint para orders", "create endpoint for orders"),
        ("installe la version actuelle", "install version current"),
        ("pousse la branche", "push branch"),
        ("aggiungi i notebook alla pagina", "add notebook page"),
    ],
)
def test_an_english_word_in_a_sentence_is_not_taken_for_one_that_begins_alike(text: str, english: str) -> None:
    assert in_english(text) == english


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("corrige el codigo de la pagina", "corrige el código de la página"),
        ("la funcion de busqueda", "la función de búsqueda"),  # of words that French has too, but for two
        ("ameliore la requete de la base de donnees", "améliore la requête de la base de données"),
        ("adiciona autenticacao na pagina", "adiciona autenticação na página"),
    ],
)
def test_an_accent_that_nobody_typed_is_not_missed(typed: str, text: str) -> None:
    assert in_english(typed) == in_english(text)


def test_english_that_quotes_another_language_stays_english():
    for text in ("what does 性能 mean in this file", "add a field for Straße to the form", "translate 'añadir' for me"):
        assert translate(text) is None


def test_one_clause_after_the_other_is_still_seen(pipeline):
    ranking, _ = asked(pipeline, "Fülle die Felder der PDF-Formulare aus und schreibe dann die Release Notes")
    assert len(ranking.plan.clauses) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Felder von PDF-Formularen ausfüllen",
        "remplir les champs des formulaires PDF",
        "rellena los campos de los formularios PDF",
        "preencha os campos dos formulários PDF",
        "compila i campi dei moduli PDF",
        "заполни поля в формах PDF",
        "填写 PDF 表单的字段",
        "PDFフォームの項目を入力して",
        "PDF 양식의 필드를 입력해줘",
    ],
)
def test_what_serves_is_found_in_any_of_the_languages_and_the_answer_says_how_it_was_read(pipeline, text):
    ranking, names = asked(pipeline, text)
    assert names[0] == "pdf-forms"
    assert ranking.fits
    language = LANGUAGES[language_of(text)]
    assert ranking.degraded[0].startswith(f"read from {language} word by word, as: ")
    assert language in next(report.detail for report in ranking.report if report.stage == "plan")


def test_the_less_is_understood_the_less_sure_is_the_answer(pipeline):
    plain = "Fülle die Felder der PDF-Formulare aus"
    sure = pipeline.rank(Query(plain), intent=RECOMMEND).confidence
    lost = pipeline.rank(Query(f"{plain} müßig schnörkelig über Blümchen und Gänseblümlein"), intent=RECOMMEND)
    assert lost.confidence < 0.7 * sure
    assert "not known: " in lost.degraded[0]


def test_a_name_in_another_language_is_still_a_name(pipeline):
    _, names = asked(pipeline, "was macht pdf-forms")
    assert names == ["pdf-forms"]


def test_reading_can_be_switched_off(pipeline):
    ranking, _ = asked(pipeline, "заполни поля в формах PDF", without=frozenset(("languages",)))
    assert ranking.plan.translation is None
    assert ranking.degraded == ()


@pytest.mark.parametrize("code", sorted(LANGUAGES))
def test_a_dictionary_says_each_word_once(code):
    heading, *lines = (FOLDER / f"{code}.txt").read_text(encoding="utf-8").splitlines()
    assert heading == f"# {LANGUAGES[code]}"
    said = [word for line in lines if not line.startswith("~") for word in line.partition(": ")[2].split(", ")]
    assert len(said) == len(set(said))
    assert all(word == word.strip().lower() and word for word in said)
    shared = [word for line in lines if line.startswith("~") for word in line.partition(": ")[2].split(", ")]
    assert set(shared) <= set(said)


@pytest.mark.parametrize(
    "text", ["", " ", "'", "\u2019\u2019", "-", "。。。", "ー", "\n\n", "ja", "ñ" * 5000, "好" * 5000, "d'" * 3000]
)
def test_any_text_is_read(text):
    assert isinstance(in_english(text), str)


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("اكتب اختبارات للخدمة", True),
        ("เขียนการทดสอบสำหรับ Docker", True),
        ("γράψε δοκιμές", True),
        ("написать тесты", False),
        ("テストを書いて", False),
        ("napisz testy dla usługi", False),
        ("write tests for the Ελλάδα page", False),
        ("🔥🔥🔥", False),
        ("", False),
    ],
)
def test_a_script_of_no_language_that_is_read_is_told(text: str, unread: bool) -> None:
    assert is_unread(text) is unread


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("도커 없이 배포", "without docker; deploy"),
        ("Dockerを使わずにデプロイ", "without Docker; deploy"),
        ("Kubernetesなしでデプロイ", "without Kubernetes; deploy"),
        ("деплой без докера", "deployment without docker"),
        ("Postgres вместо MySQL", "Postgres instead of MySQL"),
        ("Despliega con Postgres en vez de MySQL", "deploy with Postgres instead of MySQL"),
        ("Déploie avec Postgres au lieu de MySQL", "deploy with Postgres instead of MySQL"),
        ("用Postgres而不是MySQL存数据", "Postgres instead of MySQL save data"),
        ("不用Docker部署", "without Docker deploy"),
        ("les tests échouent de temps en temps", "test fail flaky"),  # a phrase that begins with two letters
        ("construis un tableau de bord", "build dashboard"),
        ("Сделай форму без редукса на реакте", "create form react"),  # what nobody knows rules nothing else out
    ],
)
def test_what_is_ruled_out_in_another_language_is_ruled_out_in_english(text: str, english: str) -> None:
    assert in_english(text) == english


def test_a_word_that_names_a_capability_is_not_told_as_unknown(embedded, embedder):
    named = Pipeline(
        embedded.graph, embedded.vectors, embedder=embedder, capabilities=lambda text: ["helm"] * ("Helm" in text)
    )
    ranking, _ = asked(named, "Schreibe Tests für Helm und Flummis")
    assert ranking.degraded[0].endswith("not known, left as they are: Flummis")


def test_what_is_not_known_and_kept_is_told_apart_from_what_is_lost() -> None:
    told = Translation("tests Zustandsautomat", "German", 1, ("Zustandsautomat", "größer")).note
    assert told.endswith("; not known, left as they are: Zustandsautomat; not known: größer")


def test_only_a_model_of_english_calls_a_script_unread(embedded, embedder) -> None:
    class Multilingual:
        model = "a-multilingual-model"

        def __getattr__(self, name: str) -> object:
            return getattr(embedder, name)

    for model, told in ((embedder, True), (Multilingual(), False)):
        ranking = Pipeline(embedded.graph, embedded.vectors, embedder=model).rank(Query("γράψε δοκιμές"), intent=SEARCH)
        assert any("language that is not read" in note for note in ranking.degraded) is told

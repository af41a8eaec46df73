"""The tokens of a text are estimated within a third in the languages that are read."""

from __future__ import annotations

import pytest

from repertoire.domain.tokens import tokens_of, tokens_of_lengths

# descriptions, and how many tokens the tokenizer makes of them that was published for Claude 2
MEASURED = {
    (
        "Fills the fields of PDF tax forms with the values of a spreadsheet. Use it when "
        "someone asks to complete, check or merge forms, or when a document has empty "
        "fields that must be filled in before it is sent."
    ): 45,
    (
        "Füllt die Felder von PDF-Steuerformularen mit den Werten einer Tabelle aus. "
        "Benutze es, wenn jemand Formulare ausfüllen, prüfen oder zusammenführen will, "
        "oder wenn ein Dokument leere Felder hat, die vor dem Versand ausgefüllt werden "
        "müssen."
    ): 75,
    (
        "Rellena los campos de formularios fiscales en PDF con los valores de una hoja de"
        " cálculo. Úsalo cuando alguien pida completar, comprobar o unir formularios, o "
        "cuando un documento tenga campos vacíos que haya que rellenar antes de enviarlo."
    ): 71,
    (
        "Remplit les champs des formulaires fiscaux PDF avec les valeurs d'un tableur. À "
        "utiliser quand quelqu'un demande de compléter, vérifier ou fusionner des "
        "formulaires, ou quand un document a des champs vides à remplir avant l'envoi."
    ): 68,
    (
        "Заполняет поля налоговых форм PDF значениями из таблицы. Используйте, когда "
        "просят заполнить, проверить или объединить формы, или когда в документе есть "
        "пустые поля, которые нужно заполнить перед отправкой."
    ): 88,
    (
        "用电子表格中的数值填写 PDF 税表的字段。当有人要求填写、检查或合并表单，或文档在发送之前有必须填"  # noqa: RUF001
        "写的空字段时使用。"
    ): 50,
    (
        "表計算の値を使って PDF の税務申告書の項目に入力します。フォームの記入、確認、結合を求められたと"
        "き、または送信前に入力が必要な空欄が文書にあるときに使います。"
    ): 81,
    (
        "스프레드시트의 값으로 PDF 세금 양식의 필드를 채웁니다. 누군가 양식을 작성, "
        "확인 또는 병합해 달라고 하거나, 보내기 전에 채워야 하는 빈 "
        "필드가 문서에 있을 때 사용하세요."
    ): 97,
}


@pytest.mark.parametrize("text", MEASURED)
def test_the_tokens_of_a_description_are_told_within_a_third(text: str) -> None:
    assert abs(tokens_of(text) - MEASURED[text]) <= MEASURED[text] / 3


def test_four_letters_of_ascii_are_a_token_and_a_part_of_one_counts_whole() -> None:
    assert (tokens_of(""), tokens_of("four"), tokens_of("fours"), tokens_of("\ud800")) == (0, 1, 2, 1)
    assert tokens_of_lengths(6, 6) == 1.5

"""The table of products is consistent: known kinds, implications of known products, plain names."""

import pytest

from repertoire.catalogue import products, reading
from repertoire.domain.product import CLIENT, CLOUD, DATABASE, FORMAT, FRAMEWORK, LANGUAGE, PLATFORM, SERVICE
from repertoire.retrieval.products import Products

KNOWN = products.load()


def test_every_kind_is_one_that_ranking_weighs():
    kinds = {LANGUAGE, FRAMEWORK, DATABASE, CLOUD, PLATFORM, SERVICE, CLIENT, FORMAT}
    assert {product.kind for product in KNOWN.values()} == kinds


def test_what_is_implied_is_listed():
    assert {one for product in KNOWN.values() for one in product.implies} <= KNOWN.keys()


def test_names_are_lower_case_and_no_name_is_blank():
    for name, product in KNOWN.items():
        for phrase in (name, *product.also, *product.told_by, *product.asked):
            assert phrase.strip() == phrase.lower() != "", name


def test_ordinary_words_are_names_of_their_product():
    for name, product in KNOWN.items():
        assert set(product.ordinary) <= {name, *product.also}, name


def test_languages_of_the_vocabulary_go_by_the_same_name():
    terms = reading.load().capabilities
    assert {"python", "react", "nextjs", "spring-boot", "golang", "kubernetes", "aws"} <= KNOWN.keys() & terms.keys()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("next: app/services", False),
        ("tests pass. next? app/models", False),
        ("our next app is slow", True),
        ("our next\napp is slow", True),
    ],
)
def test_words_on_both_sides_of_a_colon_or_a_sentences_end_name_no_product(text, named):
    assert ("nextjs" in Products(KNOWN).in_question(text)) == named

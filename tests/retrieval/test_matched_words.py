"""The words that a component is said to hold are in its text."""

import pytest

from repertoire.retrieval.matched_words import held_words, told_words
from sample_home import component


@pytest.mark.parametrize(
    ("word", "text", "told"),
    [
        ("tests", "Writes unit testing suites.", True),
        ("deploy", "Runs a deployment.", True),
        ("auth", "Adds authentication to a service.", True),
        ("speed", "Writes specific answers.", False),
        ("spring", "Plans a sprint.", False),
        ("party", "Builds partnerships.", False),
        ("app", "Tells of an approach.", False),
        ("calling", "Explains callbacks.", False),
    ],
)
def test_a_word_is_told_where_the_text_has_it_in_another_form_or_as_a_beginning(word, text, told):
    found = component("skill", "zebra", text)
    assert held_words([word], found) == [word], "evidence all the same"
    assert told_words([word], found) == ([word] if told else [])


def test_a_bare_number_is_no_reason():
    assert told_words(["vue", "3"], component("skill", "vue-3", "Vue 3 components.")) == ["vue"]

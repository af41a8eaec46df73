"""Near-identical past requests are one, the least useful are deleted first, and the log can restore them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repertoire.app.session.hook_events import Moment
from repertoire.app.usage.lessons import Lesson, learn, open_request
from repertoire.domain.answer import REQUEST_SPACE
from repertoire.learning.prompts import essential_words
from repertoire.settings import Settings
from sample_home import NOW, SOURCE

FORMS, SHIP, CHANGES = (f"{SOURCE.key}:{path}.md" for path in ("skills/pdf-forms", "commands/ship", "skills/changelog"))
SETTINGS = Settings(max_requests=10)
SAME = (
    "Fill in the PDF form's fields",
    "could you please fill in the pdf form's fields?",
    "now fill in PDF form's fields.",
)


def teach(store, prompt, component=FORMS, *, at=NOW, settings=SETTINGS, vector=None):
    request = open_request(prompt, settings)
    given = None if vector is None else np.array(vector, dtype=np.float32)
    learn(store, Lesson(request, component, Moment(at, "s", "/p"), given, "m"), settings)


def kept(store):
    """Return every request: its text, all its data, and what was selected for it."""
    topology = store.graph.topology()
    found = {}
    for node, key, kind in zip(topology.ids.tolist(), topology.keys, topology.types, strict=True):
        if kind == "request":
            served = sorted((link.other, link.weight, link.evidence) for link in store.graph.links(key))
            data = store.graph.data("request")[node]
            found[key] = (data.get("text"), data, served)
    return found


def texts(store):
    return {text for text, _, _ in kept(store).values()}


def test_what_says_the_same_in_nearly_the_same_words_is_one_request(store):
    for prompt in SAME:
        teach(store, prompt)
    [(text, data, served)] = kept(store).values()
    assert text == SAME[0]
    assert served == [(FORMS, 3.0, "session s")]
    assert data["projects"] == ["/p"]


def test_what_is_too_little_to_learn_from_in_english_is_so_in_another_language():
    assert open_request("kannst du das bitte erklären?", SETTINGS) is None
    assert open_request("kannst du die Zahlungsschnittstelle erklären?", SETTINGS) is not None
    assert open_request("生成这次会议的议事录", SETTINGS) is not None  # not known, and so not nothing


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("convert the report from PDF to Word", "convert the report from Word to PDF"),
        ("run the tests with coverage", "run the tests without coverage"),
        ("merge this into main", "merge main into this"),
        ("deploy the service", "do not deploy the service"),
        ("bump the version to 1.2.3", "bump the version to 1.2.4"),
        ("port the parser to C++", "port the parser to C"),
        ("review src/a.py", "review src/b.py"),
    ],
)
def test_what_turns_the_meaning_keeps_requests_apart(one, other):
    assert essential_words(one) != essential_words(other)


def test_where_no_text_is_kept_the_same_vector_is_the_same_request(store):
    quiet = replace(SETTINGS, store_prompts="vectors")
    for vector in ((1.0, 0.0), (1.0, 0.0), (0.0, 1.0)):
        teach(store, SAME[0], settings=quiet, vector=vector)
    assert sorted(served[0][1] for _, _, served in kept(store).values()) == [1.0, 2.0]
    assert texts(store) == {None}


def test_the_first_to_say_it_says_it_for_all_and_keeps_its_vector(store):
    teach(store, SAME[0], vector=(1.0, 0.0))
    teach(store, SAME[1], vector=(0.0, 1.0))
    ids, vectors = store.vectors.matrix(REQUEST_SPACE, "m")
    assert (len(ids), vectors.tolist()) == (1, [[1.0, 0.0]])


def test_growth_is_bounded_and_the_least_useful_go_first(store):
    teach(store, "restore the old archive", at="2025-01-02T00:00:00Z")
    teach(store, "what nothing serves any more", "gone:component")
    for _ in range(3):
        teach(store, "an old one that was often useful", at="2025-12-02T00:00:00Z")
    for number in range(8):
        teach(store, f"task number {number}")
    assert store.requests.count() == 10
    assert "what nothing serves any more" not in texts(store)
    teach(store, "draw one more diagram")
    assert "restore the old archive" not in texts(store)
    for number in range(20):
        teach(store, f"draw chart {number}")
        assert store.requests.count() <= 10
    assert "an old one that was often useful" in texts(store)


def test_of_equals_the_one_like_no_other_goes_first(store):
    for number in range(10):
        angle = 0.01 * number if number != 4 else 1.5
        teach(store, f"task number {number}", vector=(np.cos(angle), np.sin(angle)))
    teach(store, "draw one more diagram", vector=(1.0, 0.0))
    assert len(texts(store)) == 10
    assert "task number 4" not in texts(store)


def test_none_is_kept_where_none_is_wanted(store):
    teach(store, SAME[0], settings=replace(SETTINGS, max_requests=0))
    assert kept(store) == {}


def test_what_goes_takes_its_vector_and_its_words_along(store):
    for number in range(12):
        teach(store, f"task number {number}", vector=(1.0, float(number)))
    assert len(store.vectors.matrix(REQUEST_SPACE, "m")[0]) == store.requests.count() == 10


def test_a_picture_that_was_pasted_is_no_part_of_a_request():
    first, second = (open_request(f"[Image #{number}] restore the old archive", Settings()) for number in (1, 2))
    assert first is not None
    assert first == second == open_request("restore the old archive", Settings())

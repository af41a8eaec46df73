"""The starter catalogue is well formed, consistent, small, and readable with nothing but the standard library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.catalogue import reading
from repertoire.domain.component import COMPONENT_TYPES, DOCUMENTATION, PACKAGE, TOOL, WORKFLOW
from repertoire.domain.text import content_words

SERVER = Path(reading.__file__).parents[2]
CATALOGUE = reading.load()


def test_the_file_fits_its_schema():
    schema = json.loads(reading.STARTER.with_name("starter.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    data = json.loads(reading.STARTER.read_text(encoding="utf-8"))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(data)
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


@pytest.mark.parametrize(
    "change",
    [{"type": "tool"}, {"path": "../x"}, {"description": "x" * 161}, {"capabilities": []}, {"stars": 1}],
    ids=str,
)
def test_an_entry_off_the_schema_is_refused(change):
    schema = json.loads(reading.STARTER.with_name("starter.schema.json").read_text(encoding="utf-8"))
    data = json.loads(reading.STARTER.read_text(encoding="utf-8"))
    changed = dict(data, components=[dict(data["components"][0], **change), *data["components"][1:]])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, schema)


def test_there_are_at_least_150_components_of_every_type():
    types = Counter(entry.type for entry in CATALOGUE.components)
    assert set(types) == set(COMPONENT_TYPES) - {TOOL, PACKAGE, WORKFLOW, DOCUMENTATION}
    assert types.total() >= 150


def test_the_file_stays_under_600_kilobytes():
    assert reading.STARTER.stat().st_size < 600_000


def test_every_id_is_unique_and_says_where_the_component_lies():
    ids = [entry.id for entry in CATALOGUE.components]
    assert len(ids) == len(set(ids))
    for entry in CATALOGUE.components:
        place, _, name = entry.id.partition("#")
        assert place == f"{entry.repository}:{entry.path}"
        assert name in ("", entry.name)


def test_every_term_that_is_used_is_in_the_vocabulary():
    used = {term for entry in CATALOGUE.components for term in entry.capabilities}
    used |= set(CATALOGUE.signals)
    used |= {capability.broader for capability in CATALOGUE.capabilities.values() if capability.broader}
    assert used - set(CATALOGUE.capabilities) == set()


def test_the_vocabulary_and_the_signals_are_broad():
    assert len(CATALOGUE.capabilities) >= 300
    assert len(CATALOGUE.signals) >= 80


def test_no_term_is_broader_than_itself():
    for term in CATALOGUE.capabilities:
        seen = [term]
        while broader := CATALOGUE.capabilities[seen[-1]].broader:
            assert broader not in seen
            seen.append(broader)


def test_a_phrase_names_one_capability_only():
    terms = [term.replace("-", " ") for term in CATALOGUE.capabilities]
    synonyms = [word for capability in CATALOGUE.capabilities.values() for word in capability.synonyms]
    repeated = [phrase for phrase, count in Counter(terms + synonyms).items() if count > 1]
    assert repeated == []
    assert len(CATALOGUE.phrases()) == len(terms) + len(synonyms)
    listed = shipped_vocabulary().phrases.values()
    of_words = [{term for words, term in same if words == one} for same in listed for one, _ in same]
    assert [terms for terms in of_words if len(terms) > 1] == []


def test_every_phrase_can_be_searched_for():
    assert [phrase for phrase in CATALOGUE.phrases() if not content_words(phrase)] == []


@pytest.mark.parametrize(
    ("typed", "term"),
    [
        ("login", "authentication"),
        ("sign in", "authentication"),
        ("k8s", "kubernetes"),
        ("e2e", "e2e-testing"),
        ("end to end", "e2e-testing"),
        ("postgres", "postgresql"),
        ("c#", "csharp"),
        ("a11y", "accessibility"),
        ("code review", "code-review"),
    ],
)
def test_what_people_type_leads_to_a_term(typed, term):
    assert CATALOGUE.phrases()[typed] == term


def test_a_plugin_is_installed_from_the_marketplace_that_lists_it():
    for entry in CATALOGUE.components:
        if entry.marketplace:
            repository = CATALOGUE.marketplaces[entry.marketplace].removeprefix("github.com/")
            assert entry.install == (
                f"/plugin marketplace add {repository}",
                f"/plugin install {entry.plugin}@{entry.marketplace}",
            )
        if entry.type == "plugin":
            assert entry.plugin == entry.name


def test_no_secret_and_no_private_host_is_in_an_install_line():
    for entry in CATALOGUE.components:
        for line in entry.install:
            assert "localhost" not in line
            assert "sk-" not in line


def test_reading_needs_the_standard_library_only():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from repertoire.catalogue.reading import load; "
        "assert load().components; "
        "loaded = {name.split('.')[0] for name in sys.modules} - {'repertoire', '__main__'}; "
        "print(*sorted(loaded - set(sys.stdlib_module_names)))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(SERVER)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == ""

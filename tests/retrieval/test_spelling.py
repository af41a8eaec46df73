"""A misspelt name of a technology is read as it is meant, and no word of English is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from repertoire.app.sources.vocabulary import shipped_vocabulary
from repertoire.catalogue import products as product_table
from repertoire.retrieval.products import Products
from repertoire.retrieval.spelling import Spelling, spelt
from repertoire.store.database import Store
from sample_home import NOW, SOURCE, component, fill, record_of


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory):
    products, vocabulary = Products(product_table.load()), shipped_vocabulary()
    with Store.open(Path(tmp_path_factory.mktemp("spelling")) / "a.db") as store:
        fill(store)
        yield lambda text: spelt(text, products, store.graph, vocabulary.count)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("write playwrigth tests", "write playwright tests"),
        ("a playright visual regression setup", "a playwright visual regression setup"),
        ("terrafrom module", "terraform module"),
        ("Djnago tests", "django tests"),
        ("why does kuberntes restart the pod", "why does kubernetes restart the pod"),
        ("move clodflare and tailwnid", "move cloudflare and tailwind"),
        ("terrafrom module in ops/terrafrom/main.tf", "terraform module in ops/terrafrom/main.tf"),
    ],
)
def test_a_slip_in_a_name_is_read_as_the_name(read, asked: str, meant: str) -> None:
    found = read(asked)
    assert found is not None
    assert found.text == meant
    assert found.note.startswith("read ")


@pytest.mark.parametrize(
    "asked",
    [
        "write playwright tests",
        "the perfect leader election contest",
        "she walks with a long stride along the stripes",
        "open src/playwrigth/setup.ts and call playwrigthSetup",  # what is named so is called so
        "clippy pedantic complains",
        "der kuberntes Cluster startet nicht mehr, warum ist das so",  # another language is read with its own words
        "forms and spreadsheets",
    ],
)
def test_what_is_meant_as_it_is_written_stays(read, asked: str) -> None:
    assert read(asked) is None


def test_what_a_component_here_calls_itself_is_no_slip(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store:
        fill(store)
        products = Products(product_table.load())
        assert spelt("use djnago", products, store.graph, lambda _: ()) == Spelling(
            "use django", (("djnago", "django"),)
        )
        own = component("skill", "djnago", "Runs our own djnago.")
        store.sources.write(SOURCE, [record_of(own)], [], derived=[], now=NOW)
        assert spelt("use djnago", products, store.graph, lambda _: ()) is None

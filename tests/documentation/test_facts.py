"""Rules find definitions, symbols, defaults, notes on versions and requirements, and leave what tells nothing alone."""

from __future__ import annotations

from time import process_time

from repertoire.documentation.facts import find_knowledge
from repertoire.documentation.markdown import read_markdown
from repertoire.domain.pack import PackArticle, PackKnowledge

API = """# Class: `Client`

Extends: `Dispatcher`

## `new Client(url[, options])`

Opens one connection to a server and keeps it.

* **bodyTimeout** `number` (optional) - Default: `300e3` - Milliseconds
  after which a request ends.
* `name` - What it is called.

```js
// `foo` defaults to `bar`
client.requires(`nothing`)
```

### `client.end()`

Deprecated since v5.1, use `client.close()` instead.

| option | default | meaning |
|---|---|---|
| `force` | `false` | end at once |
| `wait` | - | wait |
"""
GUIDE = """# Ownership

*Ownership* is a set of rules about memory. This is called *magic*.

Each value has a variable that is called its **owner**. We define it in the next chapter.

## Scopes

A scope is the range in which an item is valid. Is a scope a block?

The `serve` command requires Node.js 18 or later. It no longer requires Python 2.7.

## `registry`

* Default: "https://registry.example.org/"
* Type: URL
"""


def article(text: str) -> PackArticle:
    return read_markdown("a.md", text, {}, content_hash="")


def found(text: str) -> tuple[list[tuple[str, str, str]], PackKnowledge]:
    read = article(text)
    knowledge = find_knowledge(read)
    rows = [(one.kind, one.subject, read.sections[one.section].text[one.begin : one.end]) for one in knowledge.facts]
    return rows, knowledge


def test_symbols_options_and_defaults_of_an_interface_are_found():
    rows, knowledge = found(API)
    assert [(kind, subject) for kind, subject, _ in rows] == [
        ("definition", "Client"),
        ("symbol", "Client"),
        ("default", "bodyTimeout"),
        ("version", "client.end"),
        ("default", "force"),
    ]
    assert rows[2][2].endswith("after which a request ends.")
    assert {(one.source, one.relation, one.target) for one in knowledge.relations} == {
        ("Client", "extends", "Dispatcher"),
        ("bodyTimeout", "option of", "Client"),
        ("client.end", "replaced by", "client.close"),
        ("force", "option of", "client.end"),
    }
    described = {one.name: one.description for one in knowledge.entities}
    assert described["Client"] == "Opens one connection to a server and keeps it."


def test_definitions_and_requirements_of_a_guide_are_found_and_questions_and_pointers_are_not():
    rows, knowledge = found(GUIDE)
    assert rows == [
        ("definition", "Ownership", "*Ownership* is a set of rules about memory."),
        ("definition", "scope", "A scope is the range in which an item is valid."),
        ("requirement", "serve", "The `serve` command requires Node.js 18 or later."),
        ("default", "registry", '* Default: "https://registry.example.org/"'),
    ]
    assert [(one.source, one.relation, one.target) for one in knowledge.relations] == [("serve", "requires", "Node.js")]


def test_a_document_gives_no_more_than_its_bounds_and_the_same_each_time():
    rows, knowledge = found("# Options\n\n" + "".join(f"* `o{n}` - Default: `{n}`\n" for n in range(2_000)))
    assert (len(rows), len(knowledge.entities)) == (300, 200)
    assert find_knowledge(article(GUIDE)) == find_knowledge(article(GUIDE))
    long, _ = found(f"# A\n\nA *thing* is a {'very ' * 5_000}long thing.\n")
    assert [len(text) for *_, text in long] == [400]


def test_hostile_text_takes_no_longer_than_in_proportion():
    begin = process_time()
    for text in ("* `" * 30_000, "|" * 60_000, "a is a " * 15_000, "`requires `" * 9_000, "*" * 60_000, ". " * 40_000):
        find_knowledge(article(f"# T\n\n{text}\n"))
    assert process_time() - begin < 20


def test_what_a_symbol_does_is_told_in_another_language_and_what_leads_elsewhere_is_not():
    text = (
        "## `open(url)`\n\nÖffnet die Verbindung zum Server.\n\n## `close()`\n\nSiehe auch das Kapitel über Fehler.\n"
    )
    facts = find_knowledge(read_markdown("api.md", text, {}, content_hash="")).facts
    assert [(fact.subject, fact.kind) for fact in facts] == [("open", "symbol")]

"""Notebooks and MDX become Markdown, and what an mdBook document includes is filled in from its source alone."""

from __future__ import annotations

import json

import pytest

from repertoire.documentation.formats import to_markdown
from repertoire.documentation.includes import INCLUDED_BYTES, fill_in
from repertoire.domain.errors import PackRefused

FILES = {
    "listings/a.rs": "// ANCHOR: main\nfn main() {}\n// ANCHOR_END: main\nfn other() {}\n",
    "src/part.md": "## Part\n\nText.\n",
    "src/huge.txt": "x" * (INCLUDED_BYTES + 1),
}


def fill(text, path="src/ch1.md"):
    return fill_in(path, text, FILES.get)


def test_a_notebook_gives_its_text_and_its_code_in_its_language_and_no_output():
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Words."]},
        {"cell_type": "code", "source": "print('```')", "outputs": [{"text": "secret output"}]},
        {"cell_type": "raw", "source": "raw"},
        "no cell",
        {"cell_type": "code", "source": []},
    ]
    text = json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}})
    assert to_markdown("a.ipynb", text) == "# Title\nWords.\n\n````python\nprint('```')\n````\n"
    for broken in ("{", "[]", '{"cells": 1}', "[" * 100_000):
        with pytest.raises(PackRefused, match="not a notebook"):
            to_markdown("a.ipynb", broken)


def test_mdx_loses_its_imports_and_tags_and_keeps_code_whole():
    text = (
        "import Tabs from '@theme/Tabs'\n\n# Title\n\n<Tabs>\n  <TabItem value=\"a\">\n"
        "Text with <b>tags</b>.{/* note */}\n  </TabItem>\n</Tabs>\n\n"
        "```js\nimport x from 'y'\n<Tabs>\n{/* kept */}\n```\n\nexport const a = 1\n"
    )
    assert to_markdown("a.mdx", text) == (
        "\n# Title\n\nText with <b>tags</b>.\n\n```js\nimport x from 'y'\n<Tabs>\n{/* kept */}\n```\n\n"
    )
    assert to_markdown("a.md", text) == text


RST = """
Title
=====

Some *text* with :func:`~a.b.open` and :ref:`the other <x>` and ``code``.

.. toctree::
   a

.. code-block:: python

   print("x")

The ``foo()`` call
------------------

.. note::

   A note.

.. versionadded:: 2.0
   It is new.

.. py:function:: open(path)
   :noindex:

   Opens a file.

=====  =====
A      B
=====  =====
1      2
=====  =====

.. include:: /etc/passwd

.. raw:: html

   <script>alert(1)</script>
"""


def test_restructured_text_keeps_headings_code_tables_and_the_text_of_roles_and_reads_no_file():
    assert to_markdown("a.rst", RST) == (
        "# Title {#title}\n\nSome *text* with `a.b.open` and `the other` and `code`.\n\n"
        '```python\nprint("x")\n```\n\n## The `foo()` call {#the-foo-call}\n\nNote\n\nA note.\n\n'
        "versionadded: 2.0 It is new.\n\n`open(path)`\n\nOpens a file.\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n"
    )


def test_restructured_text_that_grows_or_runs_on_is_bounded():
    bomb = "T\n=\n\n|a5|\n\n.. |a0| replace:: x\n" + "".join(
        f".. |a{n + 1}| replace:: {f'|a{n}| ' * 9}\n" for n in range(5)
    )
    assert len(to_markdown("a.rst", bomb)) < 100_000
    with pytest.raises(PackRefused, match="a line of more than"):
        to_markdown("a.rst", "T\n=\n\n" + "word " * 3_000)


def test_a_page_gives_its_main_part_with_the_fragments_of_its_headings():
    page = (
        "<html><body><nav>menu</nav><main><section id='intro'><h1>Intro<a class='headerlink' href='#intro'>¶</a></h1>"
        "<p>Hi <b>x</b></p><script>alert(1)</script><aside>advertisement</aside><div class='highlight-python'>"
        "<div class='highlight'><pre>a = 1\n</pre></div></div></section><h2 id='more'>More</h2>text</main>"
        "<footer>end</footer></body></html>"
    )
    assert to_markdown("a.html", page) == (
        "# Intro {#intro}\n\nHi **x**\n\n```python\na = 1\n```\n\n## More {#more}\n\ntext\n"
    )
    deep = "<div>" * 20_000 + "end" + "</div>" * 20_000
    assert to_markdown("a.html", f"<p>before</p>{deep}").startswith("before")


def test_a_heading_bears_the_name_of_the_anchor_in_it_and_no_link_back_to_a_list_of_contents():
    page = '<body><h2 class="title"><a name="bbv.overview"></a>1. Overview</h2><p>Text.</p></body>'
    assert to_markdown("a.html", page) == "## 1. Overview {#bbv.overview}\n\nText.\n"
    listed = "Guide\n=====\n\n.. contents::\n\nSetup\n-----\n\nText.\n"
    assert "toc-entry" not in to_markdown("a.rst", listed)


@pytest.mark.parametrize(
    ("directive", "filled"),
    [
        ("{{#include part.md}}", "## Part\n\nText."),
        ("{{#rustdoc_include ../listings/a.rs:main}}", "fn main() {}"),
        ("{{#include ../listings/a.rs:2}}", "fn main() {}"),
        ("{{#include ../listings/a.rs:2:4}}", "fn main() {}\nfn other() {}"),
        ("{{#include ../listings/a.rs::2}}", "fn main() {}"),
        ("{{#playground ../listings/a.rs:4: editable}}", "fn other() {}"),
    ],
)
def test_an_include_is_filled_in(directive, filled):
    assert fill(f"Before\n{directive}\nafter") == f"Before\n{filled}\nafter"


@pytest.mark.parametrize(
    "directive",
    [
        "{{#include ../../../etc/passwd}}",
        "{{#include /etc/passwd}}",
        "{{#include missing.md}}",
        "{{#include ../listings/a.rs:nothing}}",
        "{{#include huge.txt}}",
        "\\{{#include part.md}}",
        "{{#title Other}}",
    ],
)
def test_an_include_that_leads_nowhere_or_outside_stays_as_it_is(directive):
    assert fill(directive) == directive


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (".. code-block:: python\n   :caption: settings.py\n   :linenos:\n\n   x = 1\n", "```python\nx = 1\n```"),
        (".. prompt:: bash $\n   :name: a\n\n   make\n", "```bash\nmake\n```"),
        (".. glossary::\n   :sorted:\n\n   quokka\n      A small marsupial.\n", "A small marsupial."),
        (".. tabs::\n\n   .. tab:: yarn\n\n      Run yarn.\n", "Run yarn."),
        (".. topic:: Why\n\n   Because.\n", "Because."),
        (".. versionremoved:: 3.0\n\n   Use b.\n", "versionremoved: 3.0"),
        (".. acme-card:: Prices\n   :icon: coin\n\n   They rise.\n", "They rise."),
        (".. _timeouts:\n\nTimeouts\n--------\n\nText.\n", "Timeouts {#timeouts}"),
    ],
)
def test_what_a_directive_holds_is_kept_whatever_its_options_and_its_name(text, told):
    assert told in to_markdown("a.rst", f"Title\n=====\n\n{text}")


PAGE = (
    "<head><title>Quotas | Acme docs</title></head><header><h1>Acme</h1></header><main><article>{title}<p>Text.</p>"
    '<aside aria-label="Caution" class="starlight-aside"><p>Never above 4096.</p></aside><aside>Advertisement</aside>'
    '<div role="tabpanel" hidden><p>yarn add acme</p></div><h2 id="reset">Reset<a href="#reset">#</a></h2>'
    "</article></main>"
)


@pytest.mark.parametrize(
    ("title", "first"), [("", "# Quotas\n"), ("<header><h1>Configure quotas</h1></header>", "# Configure quotas\n")]
)
def test_a_page_keeps_its_title_its_remarks_and_the_tabs_that_are_not_shown_first(title, first):
    told = to_markdown("a.html", PAGE.format(title=title))
    assert told.startswith(first)
    for kept in ("Never above 4096.", "yarn add acme", "## Reset {#reset}\n"):
        assert kept in told
    assert "Advertisement" not in told
    assert "Acme" not in told

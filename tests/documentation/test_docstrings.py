"""The public part of a Python module becomes sections with qualified names as anchors; the module is never run."""

from __future__ import annotations

import pytest

from repertoire.documentation.docstrings import module_to_markdown, modules_of
from repertoire.documentation.markdown import read_markdown
from repertoire.domain.errors import PackRefused

MODULE = '''"""Weaves baskets.

Usage
-----

# not a heading

>>> weave(3)
# a comment
'basket'
"""
raise SystemExit("this module was run")

__all__ = ["weave", "Basket"]


@overload
def weave(rods: int) -> str: ...
def weave(rods: int = 3, *, tight: bool = False) -> str:
    r"""Weave a basket of :class:`~willow.Rod` and ``reed``.

    :param rods: how many. Defaults to 3,
                 which is few.
    :raises ValueError: there are none.

    .. versionadded:: 2.1
    """


def unlisted():
    """Nobody sees this."""


class Basket(Base):
    """A basket."""

    def __init__(self, size: int): ...

    @property
    def size(self) -> int:
        """How large it is."""

    @size.setter
    def size(self, value): ...

    def carry(self, by: str) -> None: ...

    def _hidden(self):
        """Nobody sees this."""

    class Handle:
        """Holds it."""
'''


def sections(text):
    return {one.anchor: one for one in read_markdown("willow/weaving.py", text, {}, content_hash="").sections}


def test_public_members_are_sections_with_qualified_names():
    found = sections(module_to_markdown("willow.weaving", MODULE))
    assert [*found] == [
        "willow.weaving",
        "willow.weaving.weave",
        "willow.weaving.Basket",
        "willow.weaving.Basket.size",
        "willow.weaving.Basket.Handle",
        "willow.weaving.Basket--others",
    ]
    weave = found["willow.weaving.weave"]
    assert weave.title == "willow.weaving.weave"
    assert "```python\nweave(rods: int=3, *, tight: bool=False) -> str\n```" in weave.text
    assert "Weave a basket of `willow.Rod` and `reed`." in weave.text
    assert "- `rods`: how many. Defaults to 3,\n  which is few.\n- raises `ValueError`: there are none." in weave.text
    assert "versionadded: 2.1" in weave.text
    assert "class Basket(size: int)" in found["willow.weaving.Basket"].text
    assert "property size: int" in found["willow.weaving.Basket.size"].text
    assert "- `carry(by: str) -> None`" in found["willow.weaving.Basket--others"].text


def test_a_docstring_makes_no_headings_and_keeps_its_examples():
    top = sections(module_to_markdown("willow.weaving", MODULE))["willow.weaving"].text
    assert "**Usage**" in top
    assert "\\# not a heading" in top
    assert "```pycon\n>>> weave(3)\n# a comment\n'basket'\n```" in top


def test_modules_are_those_of_packages_without_tests_and_private_ones():
    paths = [
        "setup.py",
        "src/willow/__init__.py",
        "src/willow/weaving.py",
        "src/willow/testing.py",
        "src/willow/_private.py",
        "src/willow/deep/__init__.py",
        "src/willow/deep/end.py",
        "src/willow/tests/__init__.py",
        "src/willow/tests/test_weaving.py",
        "tests/willow/__init__.py",
        "tests/willow/helper.py",
        "script.py",
    ]
    assert modules_of(paths) == {
        "src/willow/__init__.py": "willow",
        "src/willow/deep/__init__.py": "willow.deep",
        "src/willow/deep/end.py": "willow.deep.end",
        "src/willow/testing.py": "willow.testing",
        "src/willow/weaving.py": "willow.weaving",
    }
    assert modules_of(["__init__.py", "a.py", "b/__init__.py", "b/c.py"], "willow") == {
        "__init__.py": "willow",
        "a.py": "willow.a",
        "b/__init__.py": "willow.b",
        "b/c.py": "willow.b.c",
    }


@pytest.mark.parametrize(
    "text",
    [
        "def broken(:",
        "x = " + "(" * 5_000,
        "x = " + "-" * 200_000 + "1",
        "x = " + "a." * 100_000 + "b",
        "\x00",
        "'\\u12'",
    ],
)
def test_what_is_no_sound_python_is_refused(text):
    said = ""
    try:
        read = module_to_markdown("a", text)
    except PackRefused as error:
        read, said = "", str(error)
    assert read == ""
    assert said in ("", "no Python that can be parsed", "its parts lie too deep within one another")


def test_a_module_that_says_nothing_is_empty():
    assert module_to_markdown("a", "x = 1\n_y = 2\n") == ""

"""Turns reStructuredText into Markdown by way of HTML; directives and roles of Sphinx keep their text."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Any

from docutils import nodes
from docutils.core import publish_parts
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

from repertoire.documentation.html import html_to_markdown
from repertoire.domain.errors import PackRefused

_TITLED = ("versionadded", "versionchanged", "versionremoved", "deprecated", "seealso", "rubric", "centered")
_OBJECTS = (
    *("function", "class", "method", "attribute", "data", "exception", "module", "decorator", "property", "option"),
    *("envvar", "describe", "object", "confval", "setting", "program", "cmdoption", "classmethod", "staticmethod"),
)
_CONTENT = (
    "topic",
    "glossary",
    "hlist",
    "tabs",
    "tab",
    "tab-set",
    "tab-item",
    "dropdown",
    "collapse",
    "productionlist",
)
_KEPT = (
    *_TITLED,
    *_CONTENT,
    *_OBJECTS,
    *(f"{domain}:{name}" for domain in ("py", "c", "js", "std") for name in _OBJECTS),
)
_DROPPED = (
    *("toctree", "index", "currentmodule", "automodule", "autoclass", "autofunction", "autosummary", "highlight"),
    *("py:currentmodule", "py:module", "module", "tabularcolumns", "only", "ifconfig", "todo", "testsetup"),
    *(
        "automethod",
        "autodata",
        "literalinclude",
        "graphviz",
        "digraph",
        "mermaid",
        "uml",
        "plot",
        "inheritance-diagram",
    ),
)
_CODE = ("code", "code-block", "sourcecode", "highlight-block", "ipython", "testcode", "prompt", "doctest", "code-tab")
_ROLES = (
    *("ref", "doc", "term", "func", "class", "meth", "attr", "mod", "exc", "data", "obj", "const", "option", "envvar"),
    *("pep", "rfc", "file", "command", "kbd", "guilabel", "menuselection", "program", "samp", "abbr", "issue", "pr"),
    *("pypi", "gh", "ghsa", "user", "download", "confval", "setting", "keyword", "token", "source", "type", "var"),
)
_OPTION = re.compile(r":[A-Za-z_-]+:")
_DIRECTIVE = re.compile(r"^ {0,40}\.\. ([A-Za-z][\w:.+-]{0,40})::(?= |$)", re.MULTILINE)
_MOST_NAMES = 500  # directives of strangers that a process learns; docutils keeps them by name for good
LINE = 10_000  # characters of a line, and of what substitutions may grow to
_SETTINGS = {
    "file_insertion_enabled": False,  # no file of this machine
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": "",
    "math_output": "LaTeX",
    "syntax_highlight": "none",
    "initial_header_level": 1,
    "doctitle_xform": False,
    "section_self_link": False,
    "toc_backlinks": False,  # they lead to entries of a list that is left out
    "embed_stylesheet": False,
    "line_length_limit": LINE,
}


class _Kept(Directive):
    """A directive of Sphinx whose arguments become a line and whose content stays."""

    has_content = True
    optional_arguments = 100
    final_argument_whitespace = True
    option_spec = None

    def run(self) -> list[nodes.Node]:
        title = " ".join(
            itertools.takewhile(lambda word: not _OPTION.fullmatch(word), " ".join(self.arguments).split())
        )
        found: list[nodes.Node] = []
        if title:
            code = self.name.rpartition(":")[2] in _OBJECTS
            paragraph = nodes.paragraph()
            told = f"{self.name}: {title}" if self.name in _TITLED else title
            paragraph += nodes.literal(title, title) if code else nodes.Text(told)
            found.append(paragraph)
        body = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, body)
        return [*found, *body.children]


class _Dropped(Directive):
    """A directive that makes lists or reads code, of which a reader of the source has nothing."""

    has_content = True
    optional_arguments = 100
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


class _AnyOption(dict[str, Any]):
    """The options of a directive, each of which is taken as it stands."""

    def __missing__(self, _name: str) -> Any:
        return directives.unchanged


class _Code(Directive):
    """A block of code with its language; docutils would drop the whole block for an option that it does not know."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = _AnyOption(caption=directives.unchanged)

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        language = self.arguments[0].split()[0] if self.arguments else ""
        return [nodes.literal_block(code, code, classes=[f"language-{language}"] if language else [])]


def rst_to_markdown(text: str) -> str:
    """Return reStructuredText as Markdown; nothing outside the text is read.

    Raises:
        PackRefused: a line is longer than docutils reads.
    """
    if any(len(line) > LINE for line in text.splitlines()):
        message = f"has a line of more than {LINE:,} characters"
        raise PackRefused(message)
    _keep(_prepare(), text)
    parts: dict[str, Any] = publish_parts(text, writer="html5", settings_overrides=_SETTINGS)
    return html_to_markdown(f"<main>{parts['html_body']}</main>")


def _role(_name: str, rawtext: str, text: str, *_: Any, **__: Any) -> Any:
    """Return the words that a role shows: without the target behind them, and the mark before a short name."""
    words, _bracket, target = text.rpartition("<")
    shown = words.strip() if words.strip() and target.endswith(">") else text
    return [nodes.literal(rawtext, shown.lstrip("~!"))], []


def _keep(known: set[str], text: str) -> None:
    """Have the content of directives kept that nobody knows, which docutils would drop without a word."""
    for name in {name.lower() for name in _DIRECTIVE.findall(text)} - known:
        if len(known) < _MOST_NAMES:
            directives.register_directive(name, _Kept)
            known.add(name)


@lru_cache(maxsize=1)
def _prepare() -> set[str]:
    """Register what Sphinx knows; return the names of all directives that are known then."""
    for names, directive in ((_KEPT, _Kept), (_DROPPED, _Dropped), (_CODE, _Code)):
        for name in names:
            directives.register_directive(name, directive)
    for name in (*_ROLES, *(f"{domain}:{name}" for domain in ("py", "c", "js", "std") for name in _ROLES)):
        roles.register_local_role(name, _role)
    return {*en.directives, *_KEPT, *_DROPPED, *_CODE}

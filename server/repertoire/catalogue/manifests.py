"""Picks the names of packages from the text of manifests, in time linear in what is read, whatever it is.

Nothing is parsed in full: a name is what stands where such a manifest has names. An expression of the standard library
tries again from every place, and Python gives its lock to nobody meanwhile; so none here may reach over what another
place begins with: what belongs to a line ends with it, what is quoted ends at the next quote, and no two runs that can
take the same character stand side by side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence

Reader = Callable[[str], Iterator[str]]
LONGEST_LINE = 2_000  # characters; what follows on the line is not looked at
_LONGEST_STRING = 500


def fits(name: str, pattern: Sequence[str]) -> bool:
    """Tell whether a name is made of the parts of a pattern, `"a*b".split("*")`, with anything between them."""
    head, *middle, tail = pattern
    end = len(name) - len(tail)
    if len(head) > end or not (name.startswith(head) and name.endswith(tail)):
        return False
    place = len(head)
    for part in middle:
        place = name.find(part, place, end)
        if place < 0:
            return False
        place += len(part)
    return True


def reader_of(path: str) -> Reader | None:
    """Return what reads a file, by its name; None where it is no manifest."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((reader for pattern, reader in _BY_PATTERN if fits(name, pattern)), None)


def _lines(*patterns: str) -> Reader:
    """Return a reader of lines; a pattern begins at a line's beginning or with a literal, and ends within the line."""

    def find(text: str) -> Iterator[str]:
        cut = "\n".join([line[:LONGEST_LINE] for line in text.split("\n")])
        for pattern in patterns:
            for match in re.finditer(pattern, cut, re.MULTILINE):
                yield match[1]

    return find


def _anywhere(*patterns: str) -> Reader:
    """Return a reader of patterns that each begin with a literal which nothing after it can take in."""

    def find(text: str) -> Iterator[str]:
        for pattern in patterns:
            for match in re.finditer(pattern, text):
                yield match[1]

    return find


def _strings(pattern: str) -> Callable[[str], Iterator[re.Match[str]]]:
    """Return what finds strings in quotes that fit a pattern as a whole; none begins where one that fits has ended."""

    def find(text: str) -> Iterator[re.Match[str]]:
        ended = -1
        for string in re.finditer(rf"[\"']([^\"'\n]{{1,{_LONGEST_STRING}}})(?=[\"'])", text):
            match = re.fullmatch(pattern, string[1]) if string.start() != ended else None
            if match is not None:
                ended = string.end()
                yield match

    return find


def _requirements_in_quotes(text: str) -> Iterator[str]:
    for match in _strings(rf"{_NAME}(?:[^\S ]*\[[^\]]*\])?[^\S ]*(?:[ <>=!~;@].*)?")(text):
        yield match[1]


def _pyproject(text: str) -> Iterator[str]:
    yield from _requirements_in_quotes(text)
    yield from _lines(_KEY, r"^\[tool\.([\w-]+)")(text)


def _json(*keys: str) -> Reader:
    def find(text: str) -> Iterator[str]:
        try:
            data = json.loads(text, parse_int=str, parse_float=str)  # a number of 60,000 digits takes long to compute
        except (ValueError, RecursionError):
            return
        for key in keys:
            section = data.get(key) if isinstance(data, dict) else None
            if isinstance(section, dict):
                yield from map(str, section)

    return find


_OF_MAVEN = re.compile(r"<groupId>\s*([\w.-]+)\s*</groupId>\s*<artifactId>\s*([\w.-]+)")
_REVERSED_WORD = re.compile(r"(?:tig\.)?([\w-]+)")


def _maven(text: str) -> Iterator[str]:
    for match in _OF_MAVEN.finditer(text):
        yield from _coordinates(match)


def _gradle(text: str) -> Iterator[str]:
    for match in _strings(r"([\w.-]+):([\w.-]+)(?::.*)?")(text):
        yield from _coordinates(match)
    yield from _lines(rf"\bid{_BLANKS}(?:\({_BLANKS})?[\"']([\w.-]+)")(text)


def _coordinates(match: re.Match[str]) -> tuple[str, str, str]:
    return match[1], match[2], f"{match[1]}:{match[2]}"


def _swift(text: str) -> Iterator[str]:
    """Yield the last word of the first string that ends with one, of every package; `.git` does not count."""
    for call in text.split(".package(")[1:]:
        strings = call.partition(")")[0].split('"')[:-1]
        words = (_REVERSED_WORD.match(string[: -LONGEST_LINE - 1 : -1]) for string in strings)
        yield from (word[1][::-1] for word in [next(filter(None, words), None)] if word is not None)


_NAME = r"([A-Za-z0-9][A-Za-z0-9._-]*)"
_BLANKS = r"[^\S\n]*"
_BLANK = r"[^\S\n]+"
_KEY = rf"^{_BLANKS}[\"']?{_NAME}[\"']?{_BLANKS}="
_READERS: tuple[tuple[str, Reader], ...] = (
    ("package.json", _json("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")),
    ("composer.json", _json("require", "require-dev")),
    ("requirements*.txt", _lines(rf"^{_BLANKS}{_NAME}{_BLANKS}(?:[\[<>=!~;@ ]|$)")),
    ("pyproject.toml", _pyproject),
    ("pipfile", _lines(_KEY)),
    ("setup.py", _requirements_in_quotes),
    ("setup.cfg", _lines(rf"^{_BLANK}{_NAME}{_BLANKS}(?:[\[<>=!~;]|$)")),
    ("environment.y*ml", _lines(rf"^{_BLANKS}-{_BLANKS}{_NAME}")),
    ("go.mod", _lines(rf"^{_BLANKS}(?:require{_BLANK})?([\w.-]+\.[a-z]+/[\w./-]+){_BLANK}v")),
    ("cargo.toml", _lines(rf"^{_BLANKS}([\w-]+){_BLANKS}=", r"^\[(?:[\w-]+\.)*dependencies\.([\w-]+)\]")),
    ("gemfile", _lines(rf"^{_BLANKS}gem{_BLANK}[\"']([\w.-]+)")),
    (
        "*.gemspec",
        _lines(rf"add_(?:runtime_|development_)?dependency{_BLANKS}(?:\({_BLANKS})?[\"']([\w.-]+)"),
    ),
    ("pom.xml", _maven),
    ("build.gradle*", _gradle),
    ("*.versions.toml", _gradle),
    ("*.*proj", _anywhere(r"<PackageReference\s+(?:Include|Update)=\"([\w.-]+)", r"<Project\s+Sdk=\"([\w.]+)")),
    ("mix.exs", _anywhere(r"\{\s*:(\w+)\s*,")),
    ("pubspec.yaml", _lines(r"^[^\S\n]{2}([a-z_0-9]+):")),
    ("build.sbt", _anywhere(r"\"([\w.-]+)\"\s*%%?\s*\"", r"%%?\s*\"([\w.-]+)\"\s*%")),
    ("package.swift", _swift),
    ("deno.json*", _anywhere(r"(?:npm|jsr):((?:@[\w-]+/)?[\w.-]+)")),
    ("*compose*.y*ml", _lines(rf"^{_BLANKS}image:{_BLANKS}[\"']?(?:[\w.-]+/)*([\w.-]+)")),
)
_BY_NAME = {pattern: reader for pattern, reader in _READERS if "*" not in pattern}
_BY_PATTERN = tuple((tuple(pattern.split("*")), reader) for pattern, reader in _READERS if "*" in pattern)

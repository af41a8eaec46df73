"""Reads package names from the text of manifests (package.json, go.mod, …) in time linear in its length.

Nothing is parsed in full: expressions find the names. An expression of the standard library starts again at every
position, and Python's interpreter lock is held meanwhile. So no expression here may read past the beginning of
another match: a line's pattern ends with the line, a quoted one at the next quote, and two runs that can take the
same character never stand side by side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

Reader = Callable[[str], Iterator[str]]
LONGEST_LINE = 2_000  # characters of a line that are read
_LONGEST_STRING = 500


def fits(name: str, pattern: Sequence[str]) -> bool:
    """Tell whether a name matches a wildcard pattern, given as its parts: `"a*b".split("*")`."""
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
    """Return the reader of a manifest by the file's name; None if the file is no manifest."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((reader for pattern, reader in _BY_PATTERN if fits(name, pattern)), None)


def _lines(*patterns: str) -> Reader:
    """Return a reader whose patterns begin at a line's start or with a literal, and end within the line."""

    def find(text: str) -> Iterator[str]:
        cut = "\n".join([line[:LONGEST_LINE] for line in text.split("\n")])
        for pattern in patterns:
            for match in re.finditer(pattern, cut, re.MULTILINE):
                yield match[1]

    return find


def _anywhere(*patterns: str) -> Reader:
    """Return a reader of every match's first group; each pattern begins with a literal that its rest cannot match."""

    def find(text: str) -> Iterator[str]:
        for pattern in patterns:
            for match in re.finditer(pattern, text):
                yield match[1]

    return find


def _strings(pattern: str) -> Callable[[str], Iterator[re.Match[str]]]:
    """Return a finder of quoted strings that match a whole pattern; the closing quote of one opens no other."""

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
    text = "\n".join(_without_metadata(text.split("\n")))
    yield from _requirements_in_quotes(text)
    yield from _lines(_KEY, r"^\[tool\.([\w-]+)")(text)


def _without_metadata(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are neither a comment nor a value that describes the project, such as its keywords."""
    inside = False
    for line in lines:
        if inside:
            inside = "]" not in line
        elif _METADATA.match(line):
            inside = "[" in line and "]" not in line
        elif not line.lstrip().startswith("#"):
            yield line


def without_extras(text: str) -> str:
    """Return a `pyproject.toml` without what only some who install the package want; groups for its developers stay."""
    kept, inside, optional = [], False, False
    for line in text.split("\n"):
        if line.startswith("["):
            inside, optional = line.startswith(_EXTRAS), False
        elif inside and (group := _GROUP.match(line)):
            optional = not _DEVELOPERS.search(group[1])
        if not optional:
            kept.append(line)
    return "\n".join(kept)


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


_METADATA = re.compile(r"(?:name|version|description|keywords|classifiers|authors|maintainers|readme|license)[^\S\n]*=")
_EXTRAS, _GROUP = "[project.optional-dependencies]", re.compile(r"[\"']?([\w.-]+)[\"']?[^\S\n]*=")
_DEVELOPERS = re.compile(r"dev|test|lint|format|doc|typ|check|ci\b|bench", re.IGNORECASE)
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
    """Yield the package name at the end of each package's address in a `Package.swift`, without `.git`."""
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
    (
        "*.tf",  # the providers and the modules of a registry
        _lines(
            rf"^{_BLANKS}provider{_BLANK}\"([\w-]+)\"",
            rf"^{_BLANKS}source{_BLANKS}={_BLANKS}\"([\w-]+/[\w-]+(?:/[\w-]+)?)\"",
        ),
    ),
    ("*compose*.y*ml", _lines(rf"^{_BLANKS}image:{_BLANKS}[\"']?(?:[\w.-]+/)*([\w.-]+)")),
)
_BY_NAME = {pattern: reader for pattern, reader in _READERS if "*" not in pattern}
_BY_PATTERN = tuple((tuple(pattern.split("*")), reader) for pattern, reader in _READERS if "*" in pattern)

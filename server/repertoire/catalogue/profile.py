"""Reads from a project's manifests what it is made of, in the vocabulary's terms; bounded, and standard library only.

Nothing is executed or resolved: names of packages are picked from the text of manifests, and those that a signal knows
become terms. A manifest that cannot be read or understood adds nothing.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repertoire.catalogue.reading import Signal

MOST_BYTES = 64 * 1024  # of one manifest
MOST_MANIFESTS = 40
MOST_ENTRIES = 2_000  # names looked at
LEVELS = 2  # below the project's root
_SKIPPED = frozenset(
    """node_modules vendor venv env dist build target out coverage bower_components site-packages __pycache__ Pods
    DerivedData third_party""".split()
)
_HIDDEN = frozenset((".github", ".circleci", ".buildkite", ".storybook", ".changeset", ".claude", ".claude-plugin"))


@dataclass(frozen=True)
class Profile:
    """What a project uses, each term with the package or file that shows it; and the terms that nothing shows."""

    evidence: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the terms, in the order they were found."""
        return tuple(self.evidence)


def read_profile(root: str, signals: Mapping[str, Signal]) -> Profile:
    """Return what the files of a project reveal; empty where it holds nothing that is known."""
    paths = list(_walk(root))
    packages: dict[str, str] = {}
    for path in sorted(filter(_reader, paths), key=lambda path: (path.count("/"), path))[:MOST_MANIFESTS]:
        for package in _packages(Path(root, path)):
            packages.setdefault(package.lower(), path)
    evidence: dict[str, str] = {}
    for term, package in _revealed(packages, {term: signal.packages for term, signal in signals.items()}):
        evidence.setdefault(term, f"{package} in {packages[package]}")
    names = {name: path for path in reversed(paths) for name in (path, path.rsplit("/", 1)[-1])}
    for term, name in _revealed(names, {term: signal.files for term, signal in signals.items()}):
        evidence.setdefault(term, names[name])
    return Profile(evidence, frozenset(signals) - set(evidence))


def _walk(root: str) -> Iterator[str]:
    """Yield the files up to two levels down, the nearest first, as paths with slashes."""
    seen, level = 0, [""]
    for _ in range(LEVELS + 1):
        below = []
        for folder in level:
            for entry in _entries(Path(root, folder)):
                seen += 1
                if seen > MOST_ENTRIES:
                    return
                path = f"{folder}{entry.name}"
                if entry.is_file(follow_symlinks=False):
                    yield path
                elif entry.is_dir(follow_symlinks=False) and _is_looked_into(entry.name):
                    below.append(path + "/")
        level = below


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError):  # no name of a folder at all: it holds a NUL
        return []


def _is_looked_into(name: str) -> bool:
    return name in _HIDDEN or not (name.startswith(".") or name in _SKIPPED)


def _revealed(names: Mapping[str, str], patterns: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Yield (term, name) for the terms whose patterns match a name; most patterns are plain names."""
    folded = {name.lower(): name for name in names}
    for term, alternatives in patterns.items():
        for pattern in (alternative.lower() for alternative in alternatives):
            if "*" in pattern:
                found = next(iter(fnmatch.filter(folded, pattern)), None)
            else:
                found = pattern if pattern in folded else None
            if found is not None:
                yield term, folded[found]
                break


def _packages(path: Path) -> Iterator[str]:
    reader = _reader(path.name)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(MOST_BYTES)
    except OSError:
        return iter(())
    return reader(text) if reader else iter(())


def _finder(*patterns: str) -> Callable[[str], Iterator[str]]:
    def find(text: str) -> Iterator[str]:
        for pattern in patterns:
            for match in re.finditer(pattern, text, re.MULTILINE):
                yield from filter(None, match.groups())

    return find


def _from_json(*keys: str) -> Callable[[str], Iterator[str]]:
    def find(text: str) -> Iterator[str]:
        try:
            data = json.loads(text)
        except ValueError:
            return
        for key in keys:
            section = data.get(key) if isinstance(data, dict) else None
            if isinstance(section, dict):
                yield from map(str, section)

    return find


def _maven(text: str) -> Iterator[str]:
    for group, artifact in re.findall(r"<groupId>\s*([\w.-]+)\s*</groupId>\s*<artifactId>\s*([\w.-]+)", text):
        yield from (group, artifact, f"{group}:{artifact}")


def _gradle(text: str) -> Iterator[str]:
    for group, artifact in re.findall(r"[\"']([\w.-]+):([\w.-]+)(?::[^\"']*)?[\"']", text):
        yield from (group, artifact, f"{group}:{artifact}")
    yield from re.findall(r"\bid\s*\(?\s*[\"']([\w.-]+)", text)


_PYTHON_NAME = r"([A-Za-z0-9][A-Za-z0-9._-]*)"
_QUOTED_REQUIREMENT = rf"[\"']{_PYTHON_NAME}\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@ ][^\"']*)?[\"']"
_KEY = rf"^\s*[\"']?{_PYTHON_NAME}[\"']?\s*="
_READERS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("package.json", _from_json("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")),
    ("composer.json", _from_json("require", "require-dev")),
    ("requirements*.txt", _finder(rf"^\s*{_PYTHON_NAME}\s*(?:\[|[<>=!~;@ ]|$)")),
    ("pyproject.toml", _finder(_QUOTED_REQUIREMENT, _KEY, r"^\[tool\.([\w-]+)")),
    ("pipfile", _finder(_KEY)),
    ("setup.py", _finder(_QUOTED_REQUIREMENT)),
    ("setup.cfg", _finder(rf"^\s+{_PYTHON_NAME}\s*(?:\[|[<>=!~;]|$)")),
    ("environment.y*ml", _finder(rf"^\s*-\s*{_PYTHON_NAME}")),
    ("go.mod", _finder(r"^\s*(?:require\s+)?([\w.-]+\.[a-z]+/[\w./-]+)\s+v")),
    ("cargo.toml", _finder(r"^\s*([\w-]+)\s*=", r"^\[(?:[\w-]+\.)*dependencies\.([\w-]+)\]")),
    ("gemfile", _finder(r"^\s*gem\s+[\"']([\w.-]+)")),
    ("*.gemspec", _finder(r"add_(?:runtime_|development_)?dependency\s*\(?\s*[\"']([\w.-]+)")),
    ("pom.xml", _maven),
    ("build.gradle*", _gradle),
    ("*.versions.toml", _gradle),
    ("*.*proj", _finder(r"<PackageReference\s+(?:Include|Update)=\"([\w.-]+)", r"<Project\s+Sdk=\"([\w.]+)")),
    ("mix.exs", _finder(r"\{\s*:(\w+)\s*,")),
    ("pubspec.yaml", _finder(r"^\s{2}([a-z_0-9]+):")),
    ("build.sbt", _finder(r"\"([\w.-]+)\"\s*%%?\s*\"", r"%%?\s*\"([\w.-]+)\"\s*%")),
    ("package.swift", _finder(r"\.package\([^)]*?([\w-]+)(?:\.git)?\"")),
    ("deno.json*", _finder(r"(?:npm|jsr):((?:@[\w-]+/)?[\w.-]+)")),
    ("*compose*.y*ml", _finder(r"^\s*image:\s*[\"']?(?:[\w.-]+/)*([\w.-]+)")),
)


def _reader(path: str) -> Callable[[str], Iterator[str]] | None:
    name = path.rsplit("/", 1)[-1].lower()
    return next((reader for pattern, reader in _READERS if fnmatch.fnmatchcase(name, pattern)), None)

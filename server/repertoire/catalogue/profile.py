"""Reads a project's languages and frameworks from its manifests, as capability terms; bounded, standard library only.

Nothing is executed or resolved: package names are read from the text of manifests, and a signal maps them to terms.
A manifest that cannot be read or understood adds nothing.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from repertoire.catalogue.manifests import fits, reader_of, without_extras
from repertoire.catalogue.reading import Signal

MOST_BYTES = 256 * 1024  # bytes that are read of one manifest; JSON that is cut tells nothing
MOST_TOGETHER = 512 * 1024  # bytes that are read of all manifests together
MOST_MANIFESTS = 40
MOST_PACKAGES = 10_000
LONGEST_NAME = 200  # characters of a package's name
MOST_ENTRIES = 2_000  # files and folders that are visited
_MOST_LISTED = 20_000  # entries that are listed of one folder; the first by name are visited
LEVELS = 2  # depth of folders that are visited below the project's root
# What a package's name and a path are made of. Whatever else a manifest or a folder holds might be prose for a model.
_PACKAGE, _PATH = re.compile(r"[@\w./:+~-]+"), re.compile(r"[@\w./+()\[\]-]+")
_BUNDLES = (".xcodeproj", ".xcworkspace")  # folders that stand for a file
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SKIPPED = frozenset(
    """node_modules vendor venv env dist build target out coverage bower_components site-packages __pycache__ Pods
    DerivedData third_party""".split()
)
# Frameworks that build a native app around their own code, the folders that they create for it, and its languages.
_CROSS_PLATFORM = frozenset(("flutter", "react-native", "expo"))
_NATIVE_FOLDERS, _NATIVE_LANGUAGES = ("android/", "ios/", "macos/"), frozenset(("java", "kotlin", "swift"))
_HIDDEN = frozenset((".github", ".circleci", ".buildkite", ".storybook", ".changeset", ".claude", ".claude-plugin"))


@dataclass(frozen=True)
class Profile:
    """The capability terms that a project uses, each with the package or file that shows it, and the absent terms.

    What a Python package requires for an extra alone is neither: it may be one of many that the package works with.
    """

    evidence: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that the project uses, in the order in which they were found."""
        return tuple(self.evidence)


def read_profile(root: str, signals: Mapping[str, Signal]) -> Profile:
    """Read the profile of a project from its files; empty if no signal knows one of them."""
    paths = list(_walk(root))
    packages, extras = _packages(root, paths)
    known = {term: signal.packages for term, signal in signals.items()}
    evidence = {term: f"{package} in {_shown(packages[package])}" for term, package in _revealed(packages, known)}
    optional = {term for term, _ in _revealed(extras, known)}
    names = {name: path for path in reversed(paths) for name in (path, path.rsplit("/", 1)[-1])}
    for term, name in _revealed(names, {term: signal.files for term, signal in signals.items()}):
        evidence.setdefault(term, _shown(names[name]))
    generated = {term for term in _NATIVE_LANGUAGES if _is_generated(term, evidence)}
    used = {term: shown for term, shown in evidence.items() if term not in generated}
    return Profile(used, frozenset(signals) - set(evidence) - optional)


def _is_generated(term: str, evidence: Mapping[str, str]) -> bool:
    """Tell whether a language shows only in the native app that a cross-platform framework creates."""
    place = evidence.get(term, "").rpartition(" in ")[2]
    return place.startswith(_NATIVE_FOLDERS) and not _CROSS_PLATFORM.isdisjoint(evidence)


def _shown(path: str) -> str:
    return path if _PATH.fullmatch(path) else "a file here"


def _walk(root: str) -> Iterator[str]:
    """Yield the project's files up to two levels down, the nearest first, as paths with slashes."""
    seen, level = 0, [""]
    for _ in range(LEVELS + 1):
        below = []
        for folder in level:
            for entry in _entries(Path(root, folder)):
                seen += 1
                if seen > MOST_ENTRIES:
                    return
                path = f"{folder}{entry.name}"
                if entry.is_file(follow_symlinks=False) or entry.name.endswith(_BUNDLES):
                    yield path
                elif entry.is_dir(follow_symlinks=False) and _is_looked_into(entry.name):
                    below.append(path + "/")
        level = below


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, _MOST_LISTED), key=lambda entry: entry.name)
    except (OSError, ValueError):  # no name of a folder at all: it holds a NUL
        return []
    if len(listed) <= MOST_ENTRIES:
        return listed
    return sorted(listed, key=lambda entry: reader_of(entry.name) is None)


def _is_looked_into(name: str) -> bool:
    return name in _HIDDEN or not (name.startswith(".") or name in _SKIPPED)


def _revealed(names: Mapping[str, str], patterns: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Yield each term with the first name that one of its patterns matches; most patterns are plain names."""
    folded = {name.lower(): name for name in names}
    for term, alternatives in patterns.items():
        for pattern in (alternative.lower() for alternative in alternatives):
            if "*" in pattern:
                parts = pattern.split("*")
                found = next((name for name in folded if fits(name, parts)), None)
            else:
                found = pattern if pattern in folded else None
            if found is not None:
                yield term, folded[found]
                break


def _packages(root: str, paths: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Map each package to the manifest nearest to the root that names it; those of extras alone apart."""
    packages: dict[str, str] = {}
    extras: dict[str, str] = {}
    left = MOST_TOGETHER
    for path in sorted(filter(reader_of, paths), key=lambda path: (path.count("/"), path))[:MOST_MANIFESTS]:
        data = _beginning(Path(root, path), min(MOST_BYTES, left))
        left -= len(data)
        text = _text(data)
        required = without_extras(text) if path.endswith("pyproject.toml") else text
        for package in islice(_named(path, required), MOST_PACKAGES - len(packages)):
            packages.setdefault(package.lower(), path)
        if required != text:
            extras.update((package.lower(), path) for package in islice(_named(path, text), MOST_PACKAGES))
    return packages, {package: path for package, path in extras.items() if package not in packages}


def _beginning(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


def _text(data: bytes) -> str:
    encoding = "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def _named(path: str, text: str) -> Iterator[str]:
    reader = reader_of(path)
    names = reader(text) if reader else iter(())
    return (name for name in names if len(name) <= LONGEST_NAME and _PACKAGE.fullmatch(name))

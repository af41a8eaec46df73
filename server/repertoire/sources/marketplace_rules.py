"""Compares the sources of marketplaces with an administrator's lists, as Claude Code does."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

_GITHUB = "github.com"
_SHORT = re.compile(r"[\w.-]+/[\w.-]+")
_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]{2,}):(?!//)(.+)")  # one letter is a disk of Windows
_SAME = {"url": "url", "npm": "package", "file": "path", "directory": "path", "settings": "name"}  # kind -> its key
Source = Mapping[str, Any]


def source_of(address: str) -> dict[str, str]:
    """Return the source that Claude Code makes of an address that is added; empty of an empty one."""
    address = address.strip()
    if not address:
        return {}
    if address.startswith(f"{_GITHUB}/"):  # as a component's repository
        address = address[len(_GITHUB) + 1 :]
    if _SHORT.fullmatch(address):
        return {"source": "github", "repo": address}
    if "://" not in address and not _SCP.fullmatch(address):
        return {"source": "directory", "path": address}
    if address.endswith(".json"):
        return {"source": "url", "url": address}
    return {"source": "git", "url": address}


def allows(rules: Sequence[Source] | None, source: Source) -> bool:
    """Tell whether a list of allowed sources has one; no list allows all, an empty one none."""
    return rules is None or any(_allows(rule, source) for rule in rules)


def blocks(rules: Sequence[Source], source: Source) -> bool:
    """Tell whether a list of blocked sources has one, which it also has under another way to write its address."""
    return any(_blocks(rule, source) for rule in rules)


def _allows(rule: Source, source: Source) -> bool:
    if rule.get("source") in ("hostPattern", "pathPattern"):
        return _has_pattern(rule, source)
    if rule.get("source") != source.get("source"):
        return False
    if source.get("source") == "github":
        return _is_repository(rule, source) and _pins(rule) == _pins(source)
    if source.get("source") == "git":
        return _path(rule.get("url")) == _path(source.get("url")) and _pins(rule) == _pins(source)
    return _is_same(rule, source)


def _blocks(rule: Source, source: Source) -> bool:
    if rule.get("source") in ("hostPattern", "pathPattern"):
        return _has_pattern(rule, source)
    (ref, path), (its_ref, its_path) = _pins(rule), _pins(source)
    pinned = ref in ("", its_ref) and path in ("", its_path)
    one, other = _as_github(rule), _as_github(source)
    if one and other:
        return _is_repository(one, other) and pinned
    if rule.get("source") == source.get("source") == "git":
        return _path(rule.get("url")) == _path(source.get("url")) and pinned
    return rule.get("source") == source.get("source") and _is_same(rule, source)


def _is_same(rule: Source, source: Source) -> bool:
    key = _SAME.get(str(source.get("source")), "")
    return bool(key) and rule.get(key) == source.get(key)


def _is_repository(rule: Source, source: Source) -> bool:
    """Tell whether a rule names a GitHub repository, or with `owner/*` all of its owner."""
    owner, _, name = str(rule.get("repo", "")).lower().partition("/")
    repository = str(source.get("repo", "")).lower()
    return repository.partition("/")[0] == owner if name == "*" else repository == f"{owner}/{name}"


def _as_github(source: Source) -> Source:
    """Return a source as one of GitHub's, empty if it lies elsewhere."""
    if source.get("source") == "github":
        return source
    host, _, path = _path(source.get("url")).partition("/")
    return {"repo": path} if source.get("source") == "git" and host == _GITHUB else {}


def _pins(source: Source) -> tuple[str, str]:
    return str(source.get("ref") or ""), str(source.get("path") or "")


def _has_pattern(rule: Source, source: Source) -> bool:
    """Tell whether an administrator's pattern is found in the host or in the path; a faulty one is in none."""
    if rule["source"] == "hostPattern":
        github = source.get("source") == "github"
        subject = _GITHUB if github else _path(source.get("url")).partition("/")[0]
    else:
        subject = str(source.get("path") or "") if source.get("source") in ("file", "directory") else ""
    with contextlib.suppress(re.error, RecursionError):
        return bool(subject) and re.search(str(rule.get(rule["source"])), subject) is not None
    return False


def _path(url: Any) -> str:
    """Return host and path of a repository's address, without what does not tell repositories apart."""
    text = str(url or "")
    found = None if "://" in text else _SCP.fullmatch(text)
    if found:
        text = f"ssh://{found[1]}/{found[2]}"
    with contextlib.suppress(ValueError):
        parts = urlsplit(text)
        path = parts.path.strip("/")
        return f"{(parts.hostname or '').lower()}/{path.removesuffix('.git')}"
    return ""

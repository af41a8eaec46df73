"""Normalises the address of a repository to `github.com/owner/name`, whatever form it is written in."""

from __future__ import annotations

import re

_SCP = re.compile(r"^(?:[\w.-]+@)?([\w.-]+\.[A-Za-z]{2,}):(?!//)(?!\d+/)([\w./~-]+)$")
_URL = re.compile(r"^(?:git\+)?(?:https?|ssh|git)://(?:[^@/\s]+@)?([\w.-]+)(?::\d+)?/([\w./~-]+)", re.IGNORECASE)
_BARE = re.compile(r"^([\w-]+(?:\.[\w-]+)+)/([\w./~-]+)$")
_LONGEST = 300  # characters; every component is compared with it whenever something is muted
FORGES = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")  # what lies there is a repository


def repository_of(address: str) -> str:
    """Return `host/owner/name` of a repository's address; empty if the text is no such address, or far too long."""
    text = address.strip()
    found = _URL.match(text) or _SCP.match(text) or _BARE.match(text)
    if found is None:
        return ""
    host = found.group(1).lower().removeprefix("www.")
    parts = [part for part in found.group(2).split("/") if part and part not in (".", "..")]
    if host in ("github.com", "bitbucket.org"):
        parts = parts[:2]
    elif "-" in parts:  # gitlab.com/group/sub/name/-/tree/main
        parts = parts[: parts.index("-")]
    if len(parts) < 2 or (host not in FORGES and not _URL.match(text) and not _SCP.match(text)):
        return ""
    parts[-1] = parts[-1].removesuffix(".git")
    found_at = "/".join((host, *parts))
    return found_at if parts[-1] and len(found_at) <= _LONGEST else ""

"""Identifies texts by their content."""

from __future__ import annotations

import hashlib


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal digits; what UTF-8 cannot encode counts as a question mark."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

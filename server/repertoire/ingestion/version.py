"""The version of extraction; what only asks whether a newer one has come need not import extraction itself."""

from __future__ import annotations

EXTRACTOR_VERSION = 21  # raised when the same file yields other records; everything is then read again

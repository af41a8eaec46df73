"""Recognises a licence by its text."""

from __future__ import annotations

import re

# The licences of the GNU project are told by their titles with the version: their texts name each other without it.
_TEXTS = (
    ("Apache-2.0", re.compile(r"Apache License,?\s+Version 2\.0", re.IGNORECASE)),
    ("AGPL-3.0", re.compile(r"GNU AFFERO GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("LGPL-3.0", re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("LGPL-2.1", re.compile(r"GNU LESSER GENERAL PUBLIC LICENSE\s+Version 2\.1", re.IGNORECASE)),
    ("GPL-3.0", re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version 3", re.IGNORECASE)),
    ("GPL-2.0", re.compile(r"GNU GENERAL PUBLIC LICENSE\s+Version 2", re.IGNORECASE)),
    ("MPL-2.0", re.compile(r"Mozilla Public License,?\s+(?:Version|v\.?)\s*2\.0", re.IGNORECASE)),
    ("CC0-1.0", re.compile(r"CC0 1\.0 Universal", re.IGNORECASE)),
    ("CC-BY-4.0", re.compile(r"Attribution 4\.0 International", re.IGNORECASE)),
    ("Unlicense", re.compile(r"This is free and unencumbered software", re.IGNORECASE)),
    ("BSD-3-Clause", re.compile(r"Redistribution and use.{0,900}Neither the name", re.IGNORECASE | re.DOTALL)),
    ("BSD-2-Clause", re.compile(r"Redistribution and use in source and binary forms", re.IGNORECASE)),
    ("ISC", re.compile(r"Permission to use, copy, modify, and/or distribute this software", re.IGNORECASE)),
    ("MIT", re.compile(r"Permission is hereby granted, free of charge", re.IGNORECASE)),
)


def is_licence_file(path: str) -> bool:
    """Tell by its name whether a file holds a licence."""
    name = path.rpartition("/")[2].upper()
    return name.partition(".")[0] in ("LICENSE", "LICENCE", "COPYING", "UNLICENSE") and not name.endswith(
        (".PY", ".JS")
    )


def recognise(text: str) -> str:
    """Return the SPDX id of a licence text; empty if the licence is unknown."""
    return next((name for name, pattern in _TEXTS if pattern.search(text[:20_000])), "")

"""Checks manifests and front matter against the JSON schemas that lie beside it as data."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator

from repertoire.domain.component import COMMAND, SETTING, WORKFLOW
from repertoire.domain.text import clean_line
from repertoire.ingestion.values import Unusable

_ALIKE = {SETTING: COMMAND, WORKFLOW: COMMAND}  # kinds whose front matter has the keys of another's


@functools.cache
def _validator(kind: str) -> Draft202012Validator:
    file = resources.files("repertoire.ingestion.schemas").joinpath(f"{_ALIKE.get(kind, kind)}.json")
    return Draft202012Validator(json.loads(file.read_text(encoding="utf-8")))


def require(kind: str, value: Any) -> Mapping[str, Any]:
    """Validate a manifest against the schema of its kind, and return it.

    Raises:
        Unusable: the manifest is invalid; the message names the first fault.
    """
    for fault in _validator(kind).iter_errors(value):
        place = "/".join(str(part) for part in fault.absolute_path) or "the top"
        message = f"not a valid {kind} file: at {place}, {fault.message}"
        raise Unusable(clean_line(message, 200))
    return dict(value)


def tolerate(kind: str, value: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Return front matter without the keys whose values are invalid, and a warning for each of these."""
    faulty: dict[str, str] = {}
    for fault in _validator(kind).iter_errors(value):
        key = str(fault.absolute_path[0]) if fault.absolute_path else ""
        faulty.setdefault(key, clean_line(f"{key or 'front matter'}: {fault.message}", 200))
    return {key: item for key, item in value.items() if key not in faulty}, tuple(faulty.values())

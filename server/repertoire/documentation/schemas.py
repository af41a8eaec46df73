"""Reads the JSON of a pack, and checks its files against their schemas."""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from repertoire.domain.errors import PackRefused
from repertoire.domain.text import clean_line

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator


def read(text: str, schema: str, what: str) -> Any:
    """Return the value in the text of a JSON file that fits a schema; `what` names the file in errors.

    Raises:
        PackRefused: the text is not JSON, or does not fit the schema.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"the {what} is not JSON ({clean_line(str(error), 120)}); build or fetch the pack again"
        raise PackRefused(message) from error
    require(value, schema, what)
    return value


def value_in(line: str) -> Any:
    """Return the value in a line of JSON; None where it is no JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def require(value: Any, schema: str, what: str, *, whole: bool = True) -> None:
    """Hold a value, or what is known of it so far, to a schema of this package, by the name of its file.

    Raises:
        PackRefused: it does not fit; the message names the first fault.
    """
    for fault in _validator(schema).iter_errors(value):
        if not whole and fault.validator == "required":
            continue
        where = "/".join(str(part) for part in fault.absolute_path) or "the top"
        described = fault.validator == "pattern" and fault.schema.get("description")
        wrong = f"{fault.instance!r} is no {described}" if described else fault.message
        message = f"the {what} is invalid: at {where}, {wrong}"
        raise PackRefused(clean_line(message, 300))


@functools.cache
def _validator(schema: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - a home without packs needs it in no answer

    text = resources.files("repertoire.documentation").joinpath(schema).read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))

"""Reads docs/json.md, and holds what commands print to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "json.md"


class Page:
    """What docs/json.md promises: what each command prints, and the keys and types of each object."""

    def __init__(self) -> None:
        rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
        self.prints = {of.strip("`"): said for of, said in rows if of.startswith("`")}
        told = {of: said for of, said in rows if not of.startswith("`") and said not in {"keys", "prints"}}
        self.objects = {of: dict(re.findall(r"`(\w+)`(?: \(([^)]+)\))?", said)) for of, said in told.items()}
        self.open = {of for of, said in told.items() if ", and more " in said}
        self.met: set[str] = set()

    def beside(self, schema: Mapping[str, Any], said: str) -> Iterator[str]:
        """Name the keys of which either a tool's schema or the page knows nothing."""
        said = said.removeprefix("list of ").removesuffix(" or nothing")
        schema = schema.get("anyOf", [schema])[0]
        schema = schema.get("items", schema)
        if said not in self.objects:
            return
        self.met.add(said)
        yield from (f"{said}.{key}" for key in set(schema["properties"]) ^ set(self.objects[said]))
        for key, kind in self.objects[said].items():
            if key in schema["properties"]:
                yield from self.beside(schema["properties"][key], kind)

    def unlike(self, value: Any, said: str, where: str) -> Iterator[str]:
        """Name what in a value is not as the page says of it."""
        kinds = {"text": str, "number": (int, float), "yes or no": bool, "nothing": type(None)}
        if said in kinds:
            if not isinstance(value, kinds[said]) or (said == "number" and isinstance(value, bool)):
                yield f"{where} is no {said}: {value!r}"
        elif said.startswith("list of "):
            for place, one in enumerate(value) if isinstance(value, list) else [(0, value)]:
                yield from self.unlike(one, said.removeprefix("list of "), f"{where}[{place}]")
        elif said.startswith("map of "):
            for key, one in value.items():
                yield from self.unlike(one, said.removeprefix("map of "), f"{where}.{key}")
        elif " or " in said:
            found = [list(self.unlike(value, one, where)) for one in said.split(" or ")]
            yield from min(found, key=len)
        else:
            yield from self._object(value, said, where)

    def _object(self, value: Any, said: str, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where} is no {said}: {value!r}"
            return
        self.met.add(said)
        keys = self.objects[said]
        beyond = set() if said in self.open else set(value) - set(keys)
        yield from (f"{where}.{key} is not promised" for key in beyond)
        for key, kind in keys.items():
            if key not in value:
                yield f"{where} has no {key}"
            else:
                yield from self.unlike(value[key], kind or "text", f"{where}.{key}")

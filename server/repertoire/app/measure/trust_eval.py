"""Measures the static checks on labelled cases, which are ingested, and on labels of a home's components."""

from __future__ import annotations

import json
import random
import re
import string
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertoire.app.measure.labelled import row_of
from repertoire.app.sources.ingest import write_source
from repertoire.app.sources.opening import Surroundings, open_address
from repertoire.domain.errors import InvalidRequest
from repertoire.settings import Settings
from repertoire.sources import address as addresses
from repertoire.sources.installed import Machine
from repertoire.store.database import Store
from repertoire.trust.measure import JudgedCase, Score, by_rule, by_severity
from repertoire.trust.scan import RULES

_FILLED = re.compile(r"\{(random|RANDOM):(\d+)\}")
_NAME = "labelled-case"


@dataclass(frozen=True)
class TrustScores:
    """The scores of the static checks on one file of labels."""

    file: str
    cases: int
    unknown: int  # labels of contents that this home lacks
    severities: tuple[Score, ...]
    rules: tuple[Score, ...]


def evaluate_trust(store: Store, place: Path) -> tuple[TrustScores, ...]:
    """Score the static checks on a file of labels, or on every `.jsonl` file of a folder.

    A row with a `text` is a case to ingest; a row with a `content_hash` labels a component of this home.

    Raises:
        InvalidRequest: there are no labels, or a row is no label.
    """
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files:
        message = f"no labels in {place}: a label is a line of JSON in a .jsonl file; see bench/trust/README.md"
        raise InvalidRequest(message)
    return tuple(_evaluate(store, file) for file in files)


def case_files(case: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of a labelled case by path, as an author would have written them.

    Secrets are generated here, so that the label files hold none that looks real.

    Raises:
        InvalidRequest: the case is of no kind that is known.
    """
    text, kind, root = _FILLED.sub(_random, str(case["text"])), str(case.get("kind", "")), str(case["id"])
    skill = f"---\nname: {_NAME}\ndescription: A case.\n"
    server = json.dumps({"command": "node", "args": ["s.js"], "description": text})
    hooks = {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": text}]}]}
    files = {
        "skill": {"SKILL.md": f"{skill}---\n\n{text}"},
        "front": {"SKILL.md": f"{skill}{text}\n---\n\nDoes a thing.\n"},
        "agent": {f"agents/{_NAME}.md": f"{skill}---\n\n{text}"},
        "script": {"SKILL.md": f"{skill}---\n\nRuns its script.\n", str(case.get("file")): text},
        "hook": {"hooks/hooks.json": json.dumps({"hooks": hooks})},
        "setting": {".claude/settings.json": text},
        "mcp": {".mcp.json": f'{{"mcpServers": {{"{_NAME}": {text}}}}}'},
        "mcp-description": {".mcp.json": f'{{"mcpServers": {{"{_NAME}": {server}}}}}'},
    }
    if kind not in files:
        message = f"the case {root} is of the kind {kind!r}, which is none of {', '.join(files)}"
        raise InvalidRequest(message)
    return {f"{root}/{path}": content for path, content in files[kind].items()}


def _evaluate(store: Store, file: Path) -> TrustScores:
    rows = _rows(file)
    cases = _own([row for row in rows if "text" in row])
    real, unknown = _real(store, [row for row in rows if "text" not in row])
    judged = [*cases, *real]
    return TrustScores(str(file), len(judged), unknown, by_severity(judged), by_rule(judged, RULES))


def _rows(file: Path) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        row = row_of(line)
        if not isinstance(row.get("expected"), dict) or "id" not in row or not {"text", "content_hash"} & row.keys():
            message = f"{file}:{number} is no label: it needs an id, what is expected, and a text or a content_hash"
            raise InvalidRequest(message)
        rows.append(row)
    return rows


def _own(rows: Sequence[Mapping[str, Any]]) -> list[JudgedCase]:
    """Write the cases to a temporary folder, ingest it as a source, and return each case with its flags."""
    if not rows:
        return []
    with tempfile.TemporaryDirectory() as above:
        home, root = Path(above) / "home", Path(above) / "cases"
        home.mkdir()
        for row in rows:
            for path, text in case_files(row).items():
                place = root / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
        with Store.open(home / "repertoire.db") as store:
            address = addresses.parse(str(root), trusted=True, project=None)
            write_source(store, open_address(address, Surroundings(home, Settings(), Machine()), tick=lambda: None))
            flags: dict[str, list[Any]] = {}
            for flagged in store.flags.flagged():
                case = flagged.id.partition(f"{address.key}:")[2].partition("/")[0]
                flags.setdefault(case, []).extend(flagged.flags)
    return [
        JudgedCase(str(row["id"]), _expected(row), tuple(flags.get(str(row["id"]), ())), _expected(row, "also"))
        for row in rows
    ]


def _real(store: Store, rows: Sequence[Mapping[str, Any]]) -> tuple[list[JudgedCase], int]:
    known = store.flags.by_content() if rows else {}
    found = [
        JudgedCase(str(row["id"]), _expected(row), known[row["content_hash"]][1], _expected(row, "also"))
        for row in rows
        if row["content_hash"] in known
    ]
    return found, len(rows) - len(found)


def _expected(row: Mapping[str, Any], key: str = "expected") -> dict[str, str]:
    return {str(rule): str(severity) for rule, severity in row.get(key, {}).items()}


def _random(match: re.Match[str]) -> str:
    letters = string.ascii_uppercase + string.digits if match[1] == "RANDOM" else string.ascii_letters + string.digits
    drawn = random.Random(match.start() + int(match[2]))  # noqa: S311 - the same made-up secret each time
    return "".join(drawn.choice(letters) for _ in range(int(match[2])))

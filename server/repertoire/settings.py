"""Defines every setting in one table (name, default, environment variable, meaning), and reads them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from repertoire.domain.errors import InvalidRequest
from repertoire.domain.hint import MAX_ITEMS
from repertoire.domain.pack_stages import BALANCED, PROFILES

REDACTED, VECTORS, OFF = "redacted", "vectors", "off"  # values of `store_prompts`: the part of a prompt that is stored


@dataclass(frozen=True)
class Settings:
    """The settings of a person, from `settings.json` in the home or the environment."""

    model: str = ""
    rerank_model: str = ""
    threads: int = 1
    query_ms: int = 500
    store_prompts: str = REDACTED
    background: bool = True
    refresh_hours: int = 12
    fetch: bool = True
    hints: bool = True
    hint_limit: int = 2
    trace_hints: bool = True
    watch: bool = True
    note_candidates: bool = True
    offer_memory: bool = True
    pack_profile: str = BALANCED
    pack_with: str = ""
    pack_without: str = ""
    pack_gate_percent: int = 42
    pack_quality_percent: int = 2
    max_files: int = 20_000
    max_source_mb: int = 500
    half_life_days: int = 365
    stale_percent: int = 40
    memory_days: int = 90
    max_requests: int = 5_000


_DIGITS, _SHOWN = 19, 80  # of the longest number that is read; characters of a wrong value that are shown


@dataclass(frozen=True)
class SettingRow:
    """One setting: its name outside, its allowed values or range, and its meaning."""

    name: str
    env: str
    help: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = sys.maxsize


TABLE = (
    SettingRow("model", "REPERTOIRE_MODEL", "A fastembed model to embed with; empty: the bundled all-MiniLM-L6-v2."),
    SettingRow(
        "rerank_model",
        "REPERTOIRE_RERANK_MODEL",
        "Folder of an ONNX cross-encoder, or its name below `models` in the home; empty: none.",
    ),
    SettingRow("threads", "REPERTOIRE_THREADS", "Threads that embedding may use, at least 1.", least=1),
    SettingRow("query_ms", "REPERTOIRE_QUERY_MS", "Milliseconds after which an answer begins no further stage."),
    SettingRow(
        "store_prompts",
        "REPERTOIRE_STORE_PROMPTS",
        "What is kept of a prompt or a task: its redacted text, only its vector, or nothing.",
        (REDACTED, VECTORS, OFF),
    ),
    SettingRow("background", "REPERTOIRE_BACKGROUND", "Whether a refresh may run beside an answer or a session."),
    SettingRow(
        "refresh_hours",
        "REPERTOIRE_REFRESH_HOURS",
        "Hours after which everything is read again, at the start of a session and while one lives; 0: not by time.",
    ),
    SettingRow(
        "fetch",
        "REPERTOIRE_FETCH",
        "Whether a refresh that nobody asked for fetches the repositories that were ingested; false: it reads their "
        "clones as they lie, and `repertoire refresh` alone fetches.",
    ),
    SettingRow("hints", "REPERTOIRE_HINTS", "Whether hooks may offer components in a session."),
    SettingRow("trace_hints", "REPERTOIRE_TRACE_HINTS", "Whether hooks may show traces and propose to keep one."),
    SettingRow(
        "hint_limit", "REPERTOIRE_HINT_LIMIT", "How many components one hint may name, 1 to 3.", least=1, most=MAX_ITEMS
    ),
    SettingRow(
        "watch",
        "REPERTOIRE_WATCH",
        "Whether a session's server has the changes of a project with a memory read as they happen.",
    ),
    SettingRow(
        "note_candidates",
        "REPERTOIRE_NOTE_CANDIDATES",
        "Whether hooks may list sentences of a session as candidates for notes, in a project with a memory.",
    ),
    SettingRow(
        "offer_memory",
        "REPERTOIRE_OFFER_MEMORY",
        "Whether a session's start may say once, in a repository at work, how its memory is begun.",
    ),
    SettingRow(
        "pack_profile",
        "REPERTOIRE_PACK_PROFILE",
        "Which stages a question to packs passes; docs/packs.md says what each did.",
        tuple(PROFILES),
    ),
    SettingRow("pack_with", "REPERTOIRE_PACK_WITH", "Stages that are on whatever the profile says, such as `fewshot`."),
    SettingRow("pack_without", "REPERTOIRE_PACK_WITHOUT", "Stages that are off whatever the profile says."),
    SettingRow(
        "pack_gate_percent",
        "REPERTOIRE_PACK_GATE_PERCENT",
        "Percent: the least cosine between a question and the nearest text of a pack that covers it. At the "
        "default 1 to 5 of 100 questions of another pack here pass, and 2 to 6 of 100 own ones are refused.",
    ),
    SettingRow(
        "pack_quality_percent",
        "REPERTOIRE_PACK_QUALITY_PERCENT",
        "Percent of fifty words that a section must hold to be an answer.",
    ),
    SettingRow("max_files", "REPERTOIRE_MAX_FILES", "Files read from one source at most."),
    SettingRow("max_source_mb", "REPERTOIRE_MAX_SOURCE_MB", "Megabytes that a cloned source may have."),
    SettingRow(
        "half_life_days",
        "REPERTOIRE_HALF_LIFE_DAYS",
        "Days after which a component's last change is worth half; three quarters of it for plugins and hooks, half of "
        "it for MCP servers.",
    ),
    SettingRow("stale_percent", "REPERTOIRE_STALE_PERCENT", "Freshness in percent below which a component is stale."),
    SettingRow(
        "memory_days", "REPERTOIRE_MEMORY_DAYS", "Days after which use counts half in ranking; 0: it does not count."
    ),
    SettingRow(
        "max_requests", "REPERTOIRE_MAX_REQUESTS", "Past requests that are kept; the least useful go first. 0: none is."
    ),
)


def load(home: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings; the environment takes precedence over the file, and the file over the defaults.

    Raises:
        InvalidRequest: a value is invalid; the message names the setting and its allowed values.
    """
    settings, faults = load_valid(home, environment)
    if faults:
        raise InvalidRequest(faults[0])
    return settings


def load_valid(home: Path, environment: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Read the settings as `load` does, but leave out what is invalid, and say of each fault what and where it is.

    For hooks, whose session must not go without them. With a fault they store no prompts, unless the setting for that
    is valid itself: the faulty one may be what should have forbidden it.
    """
    values, faults = _from_file(home / "settings.json")
    for row in TABLE:
        if environment.get(row.env):
            values[row.name] = environment[row.env]
    types = {field.name: type(field.default) for field in fields(Settings)}
    valid: dict[str, Any] = {}
    for row in TABLE:
        if row.name in values:
            try:
                valid[row.name] = _fit(row, types[row.name], values[row.name])
            except ValueError as error:
                faults.append(str(error))
    return Settings(**({"store_prompts": OFF, **valid} if faults else valid)), tuple(faults)


def _from_file(path: Path) -> tuple[dict[str, Any], list[str]]:
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"))  # Windows' editors begin a file with a mark
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{path} cannot be read as JSON ({error}); mend or delete it"]
    if not isinstance(values, dict):
        return {}, [f"{path} is not a JSON object; mend or delete it"]
    known = {row.name for row in TABLE}
    unknown = sorted(values.keys() - known)
    faults = [f"{path}: unknown settings {', '.join(unknown)}; known are {', '.join(row.name for row in TABLE)}"]
    return {name: values[name] for name in values.keys() & known}, faults if unknown else []


def _fit(row: SettingRow, wanted: type, value: Any) -> Any:
    if wanted is bool and str(value).lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        return str(value).lower() in ("1", "true", "yes", "on")
    number = str(value)
    if wanted is int and len(number) <= _DIGITS and number.isdecimal() and row.least <= int(number) <= row.most:
        return int(number)
    if wanted is str and isinstance(value, str) and (not row.choices or value in row.choices):
        return value
    takes = " or ".join(row.choices) or {bool: "true or false", int: _range(row)}.get(wanted, "text")
    message = f"setting {row.name} ({row.env}) is {repr(value)[:_SHOWN]}; it takes {takes}"
    raise ValueError(message)


def _range(row: SettingRow) -> str:
    if row.most < sys.maxsize:
        return f"a whole number from {row.least} to {row.most}"
    return f"a whole number of at least {row.least}" if row.least else "a whole number"

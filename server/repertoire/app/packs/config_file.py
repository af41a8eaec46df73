"""Reads the settings of a pack from their file within its limit."""

from __future__ import annotations

from pathlib import Path

from repertoire.documentation.config import CONFIG_BYTES, PackConfig, read_config
from repertoire.domain.errors import PackRefused


def read_config_file(path: Path, *, place: str = "") -> PackConfig:
    """Return the settings in a file; `place` names their pack in errors, by default the file is named.

    Raises:
        PackRefused: the file cannot be read, is too large, or is invalid.
    """
    try:
        with path.open("rb") as file:
            data = file.read(CONFIG_BYTES + 1)
    except OSError as error:
        message = f"the settings {path} cannot be read ({error})"
        raise PackRefused(message) from error
    if len(data) > CONFIG_BYTES:
        message = f"the settings {path} are larger than {CONFIG_BYTES:,} bytes; they are none of a pack"
        raise PackRefused(message)
    return read_config(data.decode("utf-8", "replace"), place=place or str(path))

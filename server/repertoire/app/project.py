"""Knows the folder of the project at hand."""

from __future__ import annotations

import os
from pathlib import Path


def project_folder() -> Path | None:
    """Return the folder of the project at hand; None where that is the whole home or disk."""
    folder = Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()).resolve()
    return None if folder in (Path.home().resolve(), Path(folder.anchor)) else folder

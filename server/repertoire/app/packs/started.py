"""Keeps the vectors that a build has made, so that the next one goes on after a kill; a finished build deletes them."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from repertoire.domain.digest import digest_of
from repertoire.ports import Embedder, Vectors

_PLACE = ".vectors"  # beside the packs: no pack has such a name
_HASH = hashlib.sha256().digest_size
_OLD_S = 7 * 86_400.0  # after which nobody goes on


class StartedVectors:
    """Vectors by the texts that they were made from; what is added is on the disk at once."""

    def __init__(self, packs: Path, name: str, embedder: Embedder) -> None:
        model = digest_of(embedder.model)[:12]
        self._file = packs / _PLACE / f"{name}-{model}"
        self._form = np.dtype([("hash", f"V{_HASH}"), ("vector", "<f4", (embedder.dimensions,))])
        self._held = {row["hash"].tobytes(): row["vector"] for row in self._read()}

    def add(self, made: Mapping[str, Vectors]) -> None:
        """Keep vectors by their texts; where that fails, the build is none the worse."""
        rows = np.zeros(len(made), dtype=self._form)
        for row, (text, vector) in zip(rows, made.items(), strict=True):
            row["hash"], row["vector"] = np.void(_digest(text)), vector
        if len(rows):
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with self._file.open("ab") as file:
                    file.write(rows.tobytes())  # in one piece: only the last row of a kill is not whole
            except OSError:
                return

    def forget(self) -> None:
        """Delete the file, and those of builds that nobody went on with."""
        self._file.unlink(missing_ok=True)
        if self._file.parent.is_dir():
            for file in self._file.parent.iterdir():
                if time.time() - file.stat().st_mtime > _OLD_S:
                    file.unlink(missing_ok=True)

    def of(self, text: str) -> Vectors | None:
        """Return the vector of a text; None where it was not made."""
        return self._held.get(_digest(text))

    def _read(self) -> npt.NDArray[np.void]:
        if not self._file.is_file() or self._file.is_symlink():
            return np.zeros(0, dtype=self._form)
        whole, rest = divmod(self._file.stat().st_size, self._form.itemsize)
        if rest:  # of a row that a kill cut off: what is added would not stand where rows begin
            os.truncate(self._file, whole * self._form.itemsize)
        return np.fromfile(self._file, dtype=self._form, count=whole)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

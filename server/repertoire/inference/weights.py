"""Finds and verifies the weights of embedding models on this machine, without importing a model library."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from repertoire.domain.errors import ModelUnavailable

BUNDLED = Path(__file__).resolve().parent.parent / "models" / "all-MiniLM-L6-v2-int8"
BUNDLED_NAME = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_BYTES = 24_066_909
BUNDLED_DIMENSIONS = 384
QUESTIONS, PAIRS = "questions.npz", "pairs.npz"

_GRAPH, _SUMS = "model.onnx", "SHA256SUMS"
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Weights:
    """The files of one model with their size, checksum and vector dimensions.

    `name` is fastembed's name of the model; `files` are relative to `folder`, the ONNX graph first. `questions` is the
    file of the query adapter and `pairs` that of the pair adapter, if the graph has inputs for adapters.
    """

    name: str
    folder: Path
    files: tuple[str, ...]
    bytes: int
    sha256: str
    dimensions: int
    questions: str = ""
    questions_sha256: str = ""
    pairs: str = ""
    pairs_sha256: str = ""

    @property
    def model(self) -> str:
        """The name of exactly these weights: another quantisation or revision of a model has another name."""
        return f"{self.name}@{self.sha256[:12]}"

    @property
    def query_encoder(self) -> str:
        """The name of the query encoder: exactly these weights with exactly this query adapter."""
        return f"{self.model}+{self.questions_sha256[:12]}" if self.questions else self.model

    @property
    def pair_encoder(self) -> str:
        """The name of the pair encoder: exactly these weights with exactly this pair adapter; empty without one."""
        return f"{self.model}+{self.pairs_sha256[:12]}" if self.pairs else ""


def bundled() -> Weights:
    """Return the weights of the model that ships with Repertoire.

    Raises:
        ModelUnavailable: its files are missing or incomplete.
    """
    known = _checksums(BUNDLED)
    weights = Weights(
        BUNDLED_NAME,
        BUNDLED,
        (_GRAPH,),
        BUNDLED_BYTES,
        known[_GRAPH],
        BUNDLED_DIMENSIONS,
        QUESTIONS,
        known[QUESTIONS],
        PAIRS,
        known[PAIRS],
    )
    if _size(weights) != weights.bytes:
        message = _reinstall(BUNDLED / _GRAPH, f"{_size(weights)} bytes instead of {weights.bytes}")
        raise ModelUnavailable(message)
    return weights


def find(name: str, *, cache: Path) -> Weights:
    """Return the downloaded weights of a model by fastembed's name, or the bundled ones for an empty name.

    Raises:
        ModelUnavailable: the cache has no model of that name, or its files are damaged.
    """
    if not name:
        return bundled()
    path = record_path(name, cache)
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        weights = Weights(**{**record, "folder": cache / record["folder"], "files": tuple(record["files"])})
    except FileNotFoundError as error:
        raise ModelUnavailable(_fetch_advice(name, f"is not in {cache}")) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelUnavailable(_fetch_advice(name, f"cannot be read from {path} ({error})")) from error
    if _size(weights) != weights.bytes:
        raise ModelUnavailable(_fetch_advice(name, f"in {weights.folder} is cut short or incomplete"))
    return weights


def find_all(cache: Path) -> list[Weights]:
    """Return the weights of every model on this machine, the bundled one first, without damaged ones."""
    names = [""]
    for path in sorted(cache.glob("*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError):
            names.append(str(json.loads(path.read_text(encoding="utf-8"))["name"]))
    found = []
    for name in names:
        with suppress(ModelUnavailable):
            found.append(find(name, cache=cache))
    return found


def record(weights: Weights, *, cache: Path) -> None:
    """Write the record of downloaded weights into the cache, where `find` reads it."""
    fields = {**asdict(weights), "folder": weights.folder.relative_to(cache).as_posix()}
    path = record_path(weights.name, cache)
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


def record_path(name: str, cache: Path) -> Path:
    """Return the path of a downloaded model's record."""
    return cache / f"{name.lower().replace('/', '--')}.json"


def verify(weights: Weights) -> None:
    """Verify the recorded SHA-256 of a model's files: 20 ms for the bundled model, seconds for a large one.

    Raises:
        ModelUnavailable: a checksum differs.
    """
    found = checksum(weights.folder, weights.files)
    if found == weights.sha256:
        # the bundled model alone has adapters, and a list that names its tokenizer too
        for name, recorded in _checksums(weights.folder).items() if weights.questions else ():
            if checksum(weights.folder, (name,)) != recorded:
                raise ModelUnavailable(_reinstall(weights.folder / name, "its SHA-256 differs"))
        return
    trouble = f"has SHA-256 {found[:12]}… instead of {weights.sha256[:12]}…"
    if weights.folder == BUNDLED:
        raise ModelUnavailable(_reinstall(BUNDLED / _GRAPH, trouble))
    raise ModelUnavailable(_fetch_advice(weights.name, f"in {weights.folder} {trouble}"))


def checksum(folder: Path, files: tuple[str, ...]) -> str:
    """Return the SHA-256 over the contents of the files, in this order."""
    total = hashlib.sha256()
    for name in files:
        with (folder / name).open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                total.update(chunk)
    return total.hexdigest()


def _checksums(folder: Path) -> dict[str, str]:
    """Return the listed SHA-256 of each file of the bundled model."""
    path = folder / _SUMS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        known = {name: digest for digest, name in (line.split() for line in lines)}
    except OSError as error:
        raise ModelUnavailable(_reinstall(path, error.strerror or str(error))) from error
    except ValueError as error:
        raise ModelUnavailable(_reinstall(path, "a line is not a checksum and a name")) from error
    if not {_GRAPH, QUESTIONS, PAIRS} <= known.keys():
        raise ModelUnavailable(_reinstall(path, "it is cut short"))
    return known


def _size(weights: Weights) -> int:
    try:
        return sum((weights.folder / name).stat().st_size for name in weights.files)
    except OSError:
        return 0


def _reinstall(path: Path, trouble: str) -> str:
    return f"the bundled model is damaged: {path}: {trouble}; reinstall Repertoire, or `git checkout` that file"


def _fetch_advice(name: str, trouble: str) -> str:
    return (
        f"model {name!r} {trouble}; run `repertoire model fetch {name}` where there is a network, "
        "or unset the setting `model` (REPERTOIRE_MODEL) to use the bundled one"
    )

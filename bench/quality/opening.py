"""What measurements of quality begin with: the labelled sets, the product's own model, and a store wired as users'."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server")]

from repertoire.app.kernel import Repertoire  # noqa: E402
from repertoire.app.wiring import build_repertoire, open_embedder  # noqa: E402
from repertoire.inference.embedder import IdleEmbedder  # noqa: E402
from repertoire.settings import Settings  # noqa: E402
from repertoire.store.database import Store  # noqa: E402

UNHURRIED = 600_000  # milliseconds: how busy the machine is must not decide what is found


def labelled_sets(parser: argparse.ArgumentParser) -> Path:
    """Return the folder that the environment names, or end the script with what to set."""
    if not os.environ.get("REPERTOIRE_BENCH_DATA"):
        parser.error("REPERTOIRE_BENCH_DATA must name the folder of the labelled sets")
    return Path(os.environ["REPERTOIRE_BENCH_DATA"])


def shipped_model(parser: argparse.ArgumentParser) -> IdleEmbedder:
    """Return the model that ships, not yet loaded, or end the script with what keeps it from being used."""
    embedder, degraded = open_embedder(ROOT, Settings())
    if embedder is None:
        parser.error("; ".join(degraded))
    return embedder


@contextmanager
def throw_away(place: Path, embedder: IdleEmbedder) -> Iterator[Repertoire]:
    """Open an empty store in a folder, with all that answers from a home are made of, and with time."""
    for leftover in place.glob("eval.db*"):
        leftover.unlink()
    with Store.open(place / "eval.db") as store:
        yield build_repertoire(place, Settings(query_ms=UNHURRIED), store, embedder)

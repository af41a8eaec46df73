"""What every measurement of quality begins with: the folder of the labelled sets, and the product's own model."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server")]

from repertoire.app.wiring import open_embedder  # noqa: E402
from repertoire.inference.embedder import IdleEmbedder  # noqa: E402
from repertoire.settings import Settings  # noqa: E402


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

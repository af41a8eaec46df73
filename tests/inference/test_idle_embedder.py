"""An embedder loads its model on first use and unloads it after an idle time."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import repertoire
from repertoire.inference.embedder import IDLE_SECONDS, IdleEmbedder, load
from repertoire.inference.weights import bundled

SERVER = str(Path(repertoire.__file__).parents[1])
TEXTS = ["review a pull request", "deploy containers to a cluster", "draw a chart"]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_it_loads_on_first_use_and_knows_its_model_before():
    embedder = IdleEmbedder(bundled())

    assert (embedder.model, embedder.dimensions, embedder.loaded) == (bundled().model, 384, False)
    embedder.embed_queries(TEXTS)
    assert embedder.loaded


def test_it_is_dropped_after_ten_idle_minutes_and_comes_back():
    clock = Clock()
    embedder = IdleEmbedder(bundled(), clock=clock)
    before = embedder.embed_passages(TEXTS)

    assert not embedder.drop_if_idle(clock.now + IDLE_SECONDS - 1)
    clock.now += IDLE_SECONDS - 1
    embedder.embed_queries(TEXTS)
    assert not embedder.drop_if_idle(clock.now + IDLE_SECONDS - 1)
    assert embedder.drop_if_idle(clock.now + IDLE_SECONDS)
    assert not embedder.loaded
    assert not embedder.drop_if_idle(clock.now + IDLE_SECONDS)
    np.testing.assert_array_equal(embedder.embed_passages(TEXTS), before)


def test_threads_share_it_while_it_is_dropped_again_and_again():
    embedder = IdleEmbedder(bundled(), idle_seconds=0)
    expected = load(bundled()).embed_passages(TEXTS)

    def use(_: int) -> bool:
        same = np.array_equal(embedder.embed_passages(TEXTS), expected)
        embedder.drop_if_idle(float("inf"))
        return same

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(use, range(24)))


MEMORY = """
import sys
from repertoire.inference.embedder import IdleEmbedder
from repertoire.inference.weights import bundled

def megabytes():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) // 1024

embedder = IdleEmbedder(bundled())
print(megabytes(), "fastembed" in sys.modules or "onnxruntime" in sys.modules)
embedder.embed_passages(["word " * 300] * 24)
print(megabytes())
embedder.drop_if_idle(float("inf"))
print(megabytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory from /proc")
def test_memory_stays_small_before_during_and_after():
    output = subprocess.run(
        [sys.executable, "-c", MEMORY],
        env={**os.environ, "PYTHONPATH": SERVER},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    before, imported, during, after = output.split()
    assert imported == "False"
    assert int(before) <= 60
    assert int(during) <= 240
    assert int(after) <= int(during) - 25

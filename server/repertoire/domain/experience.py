"""Past selections of a component for a request: how many were accepted, and how many were refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# A contradicting outcome multiplies the earlier counts of the same component and request by this: tastes change, and
# old selections, however many, must not outvote the last few (discounted counts, Garivier & Moulines, ALT 2011).
CONTRADICTION_DISCOUNT = 0.5


@dataclass(frozen=True)
class Experience:
    """How often one request selected, accepted and refused (failed or passed over) a component; decayed by age.

    `selected` is not decayed.
    """

    selected: int = 0
    accepted: float = 0.0
    refused: float = 0.0

    def plus(self, other: Experience) -> Experience:
        """Return the experience with two components that are one by now."""
        times, accepted = self.selected + other.selected, self.accepted + other.accepted
        return Experience(times, accepted, self.refused + other.refused)


Experiences = Mapping[str, Mapping[str, Experience]]  # by the key of the request and the id of the component

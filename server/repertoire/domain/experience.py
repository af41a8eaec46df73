"""How far a past request accepted a component, and how far it refused it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What a contradiction leaves of what was seen before, of the same component for the same request: tastes change, and
# old selections, however many, must not outvote the last few (discounted counts, Garivier & Moulines, ALT 2011).
LEFT = 0.5


@dataclass(frozen=True)
class Experience:
    """Selections of one component for one request, decayed; `selected` counts them whole."""

    selected: int = 0
    accepted: float = 0.0
    refused: float = 0.0


Experiences = Mapping[str, Mapping[str, Experience]]  # by the key of the request and the id of the component

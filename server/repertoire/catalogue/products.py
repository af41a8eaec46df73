"""Reads the shipped table of products, languages, frameworks and formats that components are bound to.

`products.json` maps each name (kebab-case) to its `kind`, the names it `also` goes by, what it `implies`, what a
question has `told_by` it, what alone names it in one (`asked`), and which of its names are `ordinary` words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from repertoire.domain.product import Product

PRODUCTS = Path(__file__).with_name("products.json")


def load() -> Mapping[str, Product]:
    """Return every product by its name."""
    listed = json.loads(PRODUCTS.read_text(encoding="utf-8"))
    return {
        name: Product(value["kind"], **{field: tuple(value[field]) for field in value if field != "kind"})
        for name, value in listed.items()
    }

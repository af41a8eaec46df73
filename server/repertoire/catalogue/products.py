"""Reads the shipped table of products, languages, frameworks and formats that a component may be bound to.

`products.json` maps each name (kebab-case) to its `kind`, its other names (`also`), the products that it `implies`, the
words that name it only in a question (`told_by`), the only words that do so (`asked`), and `ordinary` words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from repertoire.domain.product import Product

PRODUCTS = Path(__file__).with_name("products.json")


def load() -> Mapping[str, Product]:
    """Return the table of products by name."""
    listed = json.loads(PRODUCTS.read_text(encoding="utf-8"))
    return {
        name: Product(value["kind"], **{field: tuple(value[field]) for field in value if field != "kind"})
        for name, value in listed.items()
    }

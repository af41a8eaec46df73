"""A manifest is checked against its schema, when it is written and when it is read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from repertoire.documentation.manifest import PackManifest, PackSource, manifest_json, read_manifest
from repertoire.domain.errors import PackRefused
from repertoire.domain.pack import PackCounts

HASH = "0" * 64
GOOD = PackManifest(
    "axum",
    "1.2.3-rc.1",
    "Documentation of axum",
    "MIT",
    ("rust", "web"),
    (PackSource("github.com/tokio-rs/axum", "abc", "2026-01-02", HASH),),
    PackCounts(1, 2, 3, 0, 0, 100),
    "model@1",
    384,
    {"pack.db": HASH},
    ({"questions": 52, "section_recall_at_5": 55.8},),
)


def test_a_manifest_is_read_as_it_was_written():
    assert read_manifest(manifest_json(GOOD), place="axum") == GOOD


@pytest.mark.parametrize(
    "change",
    [{"name": "../x"}, {"version": "1.2"}, {"sources": ()}, {"hashes": {}}, {"hashes": {"pack.db": "short"}}],
)
def test_a_value_that_does_not_fit_is_refused_by_its_place(change):
    with pytest.raises(PackRefused, match=f"at {next(iter(change))}"):
        manifest_json(replace(GOOD, **change))


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", "[" * 100_000, '"\\ud800"'])
def test_what_is_no_manifest_is_refused(text):
    with pytest.raises(PackRefused, match="axum"):
        read_manifest(text, place="axum")


def test_an_unknown_key_is_refused():
    value = {**json.loads(manifest_json(GOOD)), "run": "rm -rf /"}
    with pytest.raises(PackRefused, match="run"):
        read_manifest(json.dumps(value), place="axum")

"""Frames of a stack are known in every language."""

from __future__ import annotations

import pytest

from repertoire.traces.frames import is_frame
from repertoire.traces.masking import mask
from traces.printed import ERRORS, PRINTED

FRAMES = (
    '  File "/srv/.venv/lib/python3.12/site-packages/numpy/core/numeric.py", line 3, in cross',
    "    at Layer.handle (/app/node_modules/express/lib/router/layer.js:95:5)",
    "    at run (C:\\app\\node_modules\\@nestjs\\core\\injector.js:1:2)",
    "    at Module._compile (node:internal/modules/cjs/loader:1105:14)",
    "\tat org.springframework.boot.SpringApplication.run(SpringApplication.java:304)",
    "    at java.base/java.util.ArrayList.get(ArrayList.java:427)",
    "   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)",
    "\t/home/ann/go/pkg/mod/github.com/gin-gonic/gin@v1.9.1/context.go:174 +0x2b",
    "  12: core::panicking::panic_fmt",
    "\tfrom /usr/local/bundle/gems/rack-2.2.3/lib/rack/deflater.rb:44:in `call'",
    "app/models/user.rb:12:in `save!'",
    "             at ./src/main.rs:4:5",
    "#0 /var/www/app/index.php(12): App\\run()",
)


@pytest.mark.parametrize("line", FRAMES)
def test_a_frame_is_known_in_every_language(line):
    assert is_frame(line)


@pytest.mark.parametrize(
    "line", ["", "at last it works", "File a bug", "# 1 todo", "TypeError: x", "1: first things first"]
)
def test_what_is_no_frame_is_taken_for_none(line):
    assert not is_frame(line)


@pytest.mark.parametrize("text", [*ERRORS, *(text for text, _, _ in PRINTED)])
def test_masking_what_is_masked_changes_nothing(text):
    for line in text.splitlines():
        assert mask(mask(line)) == mask(line)

"""Frames of a stack are read in every language, and a library's are told from one's own."""

from __future__ import annotations

import pytest

from repertoire.traces.frames import frame_of
from repertoire.traces.masking import mask
from traces.printed import ERRORS, PRINTED

LIBRARIES = (
    ('  File "/srv/.venv/lib/python3.12/site-packages/numpy/core/numeric.py", line 3, in cross', "numpy"),
    ('  File "/usr/lib/python3.12/json/decoder.py", line 355, in raw_decode', "standard"),
    ("    at Layer.handle (/app/node_modules/express/lib/router/layer.js:95:5)", "express"),
    ("    at run (C:\\app\\node_modules\\@nestjs\\core\\injector.js:1:2)", "@nestjs/core"),
    ("    at Module._compile (node:internal/modules/cjs/loader:1105:14)", "standard"),
    ("\tat org.springframework.boot.SpringApplication.run(SpringApplication.java:304)", "org.springframework"),
    ("    at java.base/java.util.ArrayList.get(ArrayList.java:427)", "java"),
    ("   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)", "System"),
    ("\t/home/ann/go/pkg/mod/github.com/gin-gonic/gin@v1.9.1/context.go:174 +0x2b", "github.com/gin-gonic"),
    ("\t/usr/local/go/src/net/http/server.go:2136 +0x29", "standard"),
    ("  12: core::panicking::panic_fmt", "standard"),
    ("\tfrom /usr/local/bundle/gems/rack-2.2.3/lib/rack/deflater.rb:44:in `call'", "rack"),
    (
        "#3 /var/www/vendor/laravel/framework/src/Illuminate/Routing/Router.php(729): Illuminate\\Routing\\run()",
        "laravel",
    ),
)
OWN = (
    '  File "/home/ann/shop/app.py", line 3, in main',
    "    at main (/home/ann/shop/src/index.ts:4:9)",
    "\tat com.acme.shop.Cart.add(Cart.java:12)",
    "\t/home/ann/shop/main.go:12 +0x1d",
    "             at ./src/main.rs:4:5",
    "app/models/user.rb:12:in `save!'",
    "#0 /var/www/app/index.php(12): App\\run()",
)


@pytest.mark.parametrize(("line", "library"), LIBRARIES)
def test_a_frame_of_a_library_names_it(line, library):
    frame = frame_of(line)
    assert frame is not None
    assert frame.library == library
    assert not frame.own


@pytest.mark.parametrize("line", OWN)
def test_a_frame_of_ones_own_code_names_no_folder_of_it(line):
    frame = frame_of(line)
    assert frame is not None
    assert frame.own
    assert "/" not in frame.file


@pytest.mark.parametrize(
    "line", ["", "at last it works", "File a bug", "# 1 todo", "TypeError: x", "1: first things first"]
)
def test_what_is_no_frame_is_taken_for_none(line):
    assert frame_of(line) is None


@pytest.mark.parametrize("text", [*ERRORS, *(text for text, _, _ in PRINTED)])
def test_masking_what_is_masked_changes_nothing(text):
    for line in text.splitlines():
        assert mask(mask(line)) == mask(line)

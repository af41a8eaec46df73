"""The command line of models: without a network it says why in one line."""

from __future__ import annotations

from cli.conftest import Run

MULTILINGUAL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
NO_NETWORK = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), "http://127.0.0.1:1")


def test_a_model_that_cannot_be_fetched_is_told_in_one_line_with_the_reason(run: Run) -> None:
    done = run("model", "fetch", MULTILINGUAL, **NO_NETWORK)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"repertoire: model '{MULTILINGUAL}' cannot be downloaded into ")
    assert "Connection refused" in done.stderr

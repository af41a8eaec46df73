"""A server's variables stay as its file states them where the client fills them in, and no secret stays with them."""

from __future__ import annotations

import itertools
import json
import shlex

import pytest

KEY, WORD = "sk-live-a8F3kQ91xZ", "hunter2"


def added(bench, server):
    """Ingest one server and return what its install line sets, and the variables that are named as required."""
    bench.ingest(bench.write({".mcp.json": json.dumps({"mcpServers": {"sea": server}})}))
    component = bench.one("mcp_server")
    words = shlex.split(component.install[0])
    told = [value for option, value in itertools.pairwise(words) if option == "-e"]
    needs = {link.other for link in bench.store.graph.links(component.id) if ":env:" in link.other}
    assert not any(secret in " ".join(component.install) for secret in (KEY, WORD))
    return told, {need.rpartition(":")[2] for need in needs}


@pytest.mark.parametrize(
    ("name", "stated", "told", "needed"),
    [
        ("API_URL", "${API_BASE:-https://api.example.com}/v1", "${API_BASE:-https://api.example.com}/v1", set()),
        ("KEY", "${SECRET_KEY}", "${SECRET_KEY}", {"SECRET_KEY"}),
        ("KEY", "${SECRET_KEY:-}", "${SECRET_KEY:-}", set()),
        ("PORT", "${PORT:-3000}", "${PORT:-3000}", set()),
        ("AUTH", "token ${GITHUB_TOKEN}", "token ${GITHUB_TOKEN}", {"GITHUB_TOKEN"}),
        ("DB", "postgres://${DB_USER}:${DB_PW}@localhost/x", "postgres://${DB_USER}:${DB_PW}@localhost/x", {"DB_PW"}),
        ("DB", "postgres://u:${DB_PW}@localhost?key=${K_1}", "postgres://u:${DB_PW}@localhost?key=${K_1}", {"K_1"}),
        ("LEVEL", "debug", "debug", set()),
        ("KEY", KEY, "${KEY}", {"KEY"}),
        ("KEY", f"{WORD}${{TAIL}}", "${KEY}", {"KEY"}),
        ("KEY", f"${{SEA_KEY:-{KEY}}}", "${SEA_KEY}", {"SEA_KEY"}),
        ("X", "${Y:-ghp_8f0a9c1d2e3b4a5f6071}", "${Y}", {"Y"}),
        ("PASSWORD", f"${{SEA_PASSWORD:-{WORD}}}", "${SEA_PASSWORD}", {"SEA_PASSWORD"}),
        ("DB", f"${{DB_URL:-postgres://u:{WORD}@localhost/x}}", "${DB_URL}", {"DB_URL"}),
        ("DB", f"postgres://u:{WORD}@${{DB_HOST}}/x", "${DB}", {"DB"}),
        ("DB", f"https://x.org/?key={WORD}&u=${{DB_HOST}}", "${DB}", {"DB"}),
        ("KEY", "${input:sea-key}", "${KEY}", {"KEY"}),
    ],
)
def test_a_value_is_kept_as_it_stands_if_its_only_secrets_are_variables(bench, name, stated, told, needed):
    found, needs = added(bench, {"command": "sea", "env": {name: stated}})
    assert found == [f"{name}={told}"]
    assert needed <= needs
    assert (name in needs) is (name in needed)


def test_only_what_has_neither_a_value_nor_a_default_is_required(bench):
    stated = {"PORT": "${SEA_PORT:-3000}", "TOKEN": "${ACME_TOKEN}", "URL": "${BASE:-https://api.example.com}/v1"}
    assert added(bench, {"command": "sea", "env": stated})[1] == {"ACME_TOKEN"}


def test_an_argument_keeps_its_variables_and_loses_a_default_that_may_be_a_secret(bench):
    args = [
        "postgres://u:${DB_PW}@localhost/x",
        "--token",
        f"${{SEA_TOKEN:-{WORD}}}",
        "--port=${SEA_PORT:-30}",
        f"--key=${{K:-{WORD}}}",
    ]
    assert added(bench, {"command": "sea", "args": args})[1] == {"DB_PW", "SEA_TOKEN", "K"}
    words = shlex.split(bench.one("mcp_server").install[0])
    assert words[-5:] == [args[0], "--token", "${SEA_TOKEN}", args[3], "--key=${K}"]

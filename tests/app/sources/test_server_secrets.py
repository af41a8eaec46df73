"""No secret in what starts an MCP server is kept or shown, and everything else of its command is."""

from __future__ import annotations

import json

import pytest

HEX = "0123456789abcdef0123456789abcdef"
SECRETS = {
    "a header after its option": (["-y", "mcp-remote", "x", "--header", f"Authorization: Bearer {HEX}"], HEX),
    "a header after a short option": (["-H", "X-Custom: pass4you9"], "pass4you9"),
    "a header in its option": (["--header=X-Custom: pass4you9x5"], "pass4you9x5"),
    "a header with an equals sign": (["--header", "X-Custom: k=pass4you9x6"], "pass4you9x6"),
    "a token of a service": (["--set", "X-Key: lin_api_0123456789abcdefghij0123456789abcdef"], "lin_api_"),
    "a password in a connection": (["--db", "Server=db;Password=hunter2secret;"], "hunter2secret"),
    "a bearer in a shell line": (["-c", f"curl -H 'Authorization: Bearer {HEX}' x"], HEX),
}
ORDINARY = [
    ["-y", "@modelcontextprotocol/server-filesystem@1.2.3", "/Users/ann/My Documents", "~/src", "C:\\data"],
    ["mcp-remote", "https://mcp.example.com/v1/sse", "--transport", "http-only"],
    ["--header", "Accept: application/json", "-H", "MCP-Protocol-Version: 2025-06-18"],
    ["--header", "Authorization: Bearer ${API_TOKEN}", "--header", "Authorization:${AUTH_HEADER}", "--port", "8080"],
    ["--read-token=YOUR-TOKEN", "--clarity_api_token=your-api-token-here"],
    ["--api-key", "YOUR_API_KEY", "--header", "X-Api-Key: <your key>", "--email", "ann@example.com"],
    ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "-v", "/var/run/docker.sock:/var/run/docker.sock", "ghcr.io/a/b:v2.1"],
    ["--from", "git+https://github.com/acme/tool@4f5c2a9d1b3e7f6a8c0d2e4b6a8f0c1d3e5b7a99", "tool"],
    ["-c", "cd /srv/app && exec node dist/index.js", "postgresql://localhost:5432/shop"],
]


def server(args, command="npx"):
    return {".mcp.json": json.dumps({"mcpServers": {"loom": {"command": command, "args": args}}})}


def kept(bench):
    bench.store.close()
    return b"".join(path.read_bytes() for path in bench.home.glob("repertoire.db*")).decode("utf-8", "replace")


@pytest.mark.parametrize("what", SECRETS)
def test_no_secret_in_the_arguments_of_a_server_is_kept(bench, what):
    args, secret = SECRETS[what]
    bench.ingest(bench.write(server([*args, "--last", "one"])))
    (loom,) = bench.all().values()

    assert loom.body.endswith("--last one")
    assert "…" in loom.body
    assert "…" in loom.install[0], "so that the line is left to a person"
    assert secret not in kept(bench)


def test_no_secret_in_a_command_with_its_arguments_is_kept(bench):
    bench.ingest(bench.write(server([], f"npx mcp-remote --header 'Authorization: Bearer {HEX}' --last one")))

    assert "--last one" in bench.one("mcp_server").body
    assert HEX not in kept(bench)


@pytest.mark.parametrize("args", ORDINARY)
def test_paths_packages_addresses_and_placeholders_are_shown_as_they_are(bench, args):
    bench.ingest(bench.write(server(args)))
    loom = bench.one("mcp_server")

    assert loom.body == f"Runs: npx {' '.join(args)}"
    assert loom.front_matter["args"] == args
    assert "…" not in loom.install[0]

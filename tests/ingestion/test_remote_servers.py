"""A server at a web address is installed with its headers and its query; a secret in them becomes a variable."""

from __future__ import annotations

import itertools
import json
import shlex

import pytest

from repertoire.installing.steps import AddServer, read

BASE = "https://mcp.tides.dev/mcp"
HEX, KEY = "8f0a9c1d2e3b4a5f", "sk-live-a8F3kQ91xZ"


def line_of(bench, server):
    bench.ingest(bench.write({".mcp.json": json.dumps({"mcpServers": {"far-sea": server}})}))
    [line] = bench.one("mcp_server").install
    return line


def headers_of(line):
    words = shlex.split(line)
    return [value for option, value in itertools.pairwise(words) if option == "--header"]


@pytest.mark.parametrize(
    ("key", "stated", "sent"),
    [
        ("Authorization", "Bearer ${FAR_KEY}", "Bearer ${FAR_KEY}"),
        ("Authorization", "Bearer <YOUR_HF_TOKEN>", "Bearer ${HF_TOKEN}"),
        ("Authorization", "Bearer your_api_key", "Bearer ${FAR_SEA_TOKEN}"),
        ("Authorization", "Bearer ${input:far-key}", "Bearer ${FAR_SEA_TOKEN}"),
        ("Authorization", KEY, "${FAR_SEA_TOKEN}"),
        ("X-Api-Key", HEX, "${FAR_SEA_X_API_KEY}"),
        ("X-Session", HEX, "${FAR_SEA_X_SESSION}"),
        ("Accept", "application/json, text/event-stream", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-06-18", "2025-06-18"),
    ],
)
def test_a_header_is_sent_as_it_stands_unless_a_secret_belongs_there(bench, key, stated, sent):
    line = line_of(bench, {"type": "http", "url": BASE, "headers": {key: stated}})
    assert headers_of(line) == [f"{key}: {sent}"]
    assert HEX not in line
    assert KEY not in line


@pytest.mark.parametrize(
    "value",
    [
        "Server=${DB_HOST};User Id=sa;Password=correcthorse",
        "jdbc:sqlserver://${DB_HOST};user=sa;password=correcthorse",
        "host=${PGHOST} user=app password=correcthorse",
        "org=${ORG}; session=correcthorse",
        "https://${DB_HOST}/a#access=correcthorse",
    ],
)
def test_a_password_beside_a_variable_stands_in_no_line_and_is_asked_for(bench, value):
    line = line_of(bench, {"command": "npx", "args": ["-y", "tides"], "env": {"FAR_DSN": value}})
    assert "correcthorse" not in line
    assert "FAR_DSN=${FAR_DSN}" in line
    header = line_of(bench, {"type": "http", "url": BASE, "headers": {"Cookie": value}})
    assert "correcthorse" not in header


def test_a_query_is_kept_without_its_secret(bench):
    line = line_of(bench, {"url": f"{BASE}?token=YOUR_FAR_TOKEN&pro=1&session={HEX}#top"})
    assert shlex.split(line)[-1] == f"{BASE}?token=${{FAR_TOKEN}}&pro=1&session=${{FAR_SEA_SESSION}}"


def test_the_variables_of_headers_and_query_are_named_as_required(bench):
    line_of(bench, {"url": f"{BASE}?token={KEY}", "headers": {"X-Api-Key": "<key>"}})
    found = {link.other for link in bench.store.graph.links(bench.one("mcp_server").id)}
    assert {"requirement:env:FAR_SEA_TOKEN", "requirement:env:FAR_SEA_X_API_KEY"} <= found


def test_the_line_is_carried_out_with_all_headers(bench):
    line = line_of(bench, {"url": BASE, "headers": {"A-One": "x", "B-Two": "y"}})
    [step] = read([line])
    assert isinstance(step, AddServer)
    assert step.arguments[-4:] == ("--header", "A-One: x", "--header", "B-Two: y")


@pytest.mark.parametrize("address", ["${URL_BASE:-https://mcp.tides.dev}/mcp", "${URL_BASE}/mcp"])
def test_an_address_that_begins_with_a_variable_stays_as_it_stands(bench, address):
    line = line_of(bench, {"type": "http", "url": address})
    assert shlex.split(line)[-1] == address
    assert isinstance(read([line])[0], AddServer)
    found = bench.one("mcp_server")
    assert found.body == f"Reached at: {address}"
    needs = {link.other for link in bench.store.graph.links(found.id) if ":env:" in link.other}
    assert needs == ({"requirement:env:URL_BASE"} if ":-" not in address else set())


@pytest.mark.parametrize("server", [{"type": "ws", "url": "wss://mcp.tides.dev/ws"}, {"url": "ws://localhost:1/x"}])
def test_a_server_of_web_sockets_is_merged_from_its_file(bench, server):
    assert line_of(bench, server) == f"merge {bench.root}/repo/.mcp.json into .mcp.json"

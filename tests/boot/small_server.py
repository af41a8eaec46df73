"""Replaces the MCP server in tests of its start: speaks the protocol, and ends or hangs on request."""

import json
import os
import sys

import pebble

SEEN = []


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def called(message):
    name, arguments = message["params"]["name"], message["params"].get("arguments", {})
    if name == "die":
        os._exit(3)
    if name == "hang":
        return
    if name == "roots":
        say({"id": "server-1", "method": "roots/list"})
        roots = json.loads(sys.stdin.readline())
        text = json.dumps(roots["result"])
    elif name == "babble":
        sys.stdout.write("this is no message\n")
        text = "babbled"
    elif name == "seen":
        text = json.dumps(SEEN)
    elif name == "pid":
        text = str(os.getpid())
    else:
        text = f"{name} {json.dumps(arguments)} {pebble.WEIGHT}"
    say({"id": message["id"], "result": {"content": [{"type": "text", "text": text}], "isError": False}})


def answer(message):
    method = message["method"]
    if method == "initialize":
        told = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        say({"id": message["id"], "result": {**told, "serverInfo": {"name": "real", "version": "1"}}})
    elif method == "tools/list":
        say({"id": message["id"], "result": {"tools": [{"name": "real", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        called(message)
    elif "id" in message:
        say({"id": message["id"], "error": {"code": -32601, "message": "no"}})


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        SEEN.append([request.get("method"), request.get("id"), request.get("params", {}).get("name")])
        answer(request)

"""Starts the MCP server: becomes it where the environment is ready, else answers for it; ends only when told to.

The client does not start a server again for a quarter of an hour after one failure, so nothing here may fail: not on
an old Python, not without a home, not when the rest of this checkout is broken.
"""

# Annotations and syntax stay readable to Python 3.6, which must get as far as `apologise`.
import os
import sys

SERVER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib would cost as much as the rest


def main(arguments: "list[str]") -> None:
    """Serve until the client goes."""
    if sys.version_info < (3, 9):  # noqa: UP036 - read by whatever `python3` is
        apologise("Repertoire needs `python3` to be Python 3.9 or newer; it is {}.{}.".format(*sys.version_info[:2]))
        return
    sys.path.insert(0, SERVER)
    try:
        if "--front" not in arguments:
            become_server()
        from repertoire.boot import launcher  # noqa: PLC0415 - the warm path above does without it

        launcher.main()
    except Exception as error:
        apologise(f"Repertoire cannot start ({type(error).__name__}: {error}); install the plugin again.")


def become_server() -> None:
    """Turn into the real server, or return where that is not possible yet."""
    from repertoire.boot import errors, home, layout  # noqa: PLC0415 - needs the path set above

    try:
        python = layout.ready(home.locate())
    except errors.BootError:  # the launcher meets it again and tells the client
        return
    if python is not None and sys.platform != "win32":  # there the client would take exec for our end
        serve = os.path.join(SERVER, "repertoire", "boot", "serve.py")  # noqa: PTH118
        try:
            os.execv(str(python), [str(python), "-I", "-X", "utf8", serve])  # noqa: S606 - no shell is the point
        except OSError as error:
            sys.stderr.write(f"repertoire: cannot run {python}: {error}\n")


def apologise(why: str) -> None:
    """Answer the client until it goes: nothing to hooks, the reason to whoever calls a tool."""
    sys.stderr.write(f"{why}\n")
    for line in sys.stdin.buffer:  # not as this machine would read text: the client writes UTF-8
        sys.stdout.write(answer(line, why))
        sys.stdout.flush()


def answer(line: bytes, why: str) -> str:
    """Return the line to answer with, empty where none is due."""
    import json  # noqa: PLC0415 - the usual start does without it

    try:
        request = json.loads(line.decode("utf-8", "replace"))
        told = apology(request["method"], request.get("params") or {}, why)
        return json.dumps(dict(told, jsonrpc="2.0", id=request["id"])) + "\n"
    except Exception:  # a notification, or no message at all
        return ""


def apology(method: str, params: "dict[str, object]", why: str) -> "dict[str, object]":
    """Return the one thing to say to this method."""
    if method == "initialize":
        server = {"name": "graph", "version": "0"}
        version = params.get("protocolVersion", "2025-11-25")
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}}
    if method == "tools/list":
        return {"result": {"tools": shipped_tools()}}
    if method == "tools/call":
        hook = str(params.get("name")).startswith("hook_")
        return {"result": {"isError": not hook, "content": [{"type": "text", "text": "{}" if hook else why}]}}
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def shipped_tools() -> "list[object]":
    """Return the tools that the real server would list, none if their file is broken too."""
    import json  # noqa: PLC0415 - as above

    try:
        with open(os.path.join(SERVER, "tools.json"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
            return list(json.load(file)["tools"])
    except Exception:
        return []


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.exit(0)

"""Serves a small website on this machine for tests, and remembers what was asked for."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """A web server whose routes are texts, or functions of the request; unknown paths answer 404."""

    daemon_threads = True

    def __init__(self, routes, address="127.0.0.1"):
        super().__init__((address, 0), Handler)
        self.routes = routes
        self.asked = []

    @property
    def url(self):
        return f"http://{self.server_address[0]}:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """Stay quiet: clients hang up on purpose."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        route = self.server.routes.get(self.path, 404)
        if callable(route):
            route(self)
        elif isinstance(route, int):
            answer(self, b"", status=route)
        else:
            answer(self, route.encode())

    def log_message(self, *_):
        """Stay quiet."""


def answer(handler, body, *, status=200, kind="text/html; charset=utf-8", **headers):
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


@contextlib.contextmanager
def serving(routes, address="127.0.0.1"):
    """Run a server while the block runs."""
    server = Server(routes, address)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(title, body="", head=""):
    return f"<html><head><title>{title}</title>{head}</head><body><main><h1>{title}</h1>{body}</main></body></html>"

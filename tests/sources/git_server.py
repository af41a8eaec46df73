"""A git server over https on this machine that can redirect from one path to another."""

from __future__ import annotations

import gzip
import http.server
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def git_server(root: Path, place: Path) -> Iterator[tuple[str, dict[str, str], Path]]:
    """Serve the repositories below a folder; yield the address, what path sends where, and the certificate."""
    certificate, key = place / "server.pem", place / "server.key"
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    name = ("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate))
    subprocess.run(["openssl", *made.split(), *name], check=True, capture_output=True)
    sent_on: dict[str, str] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0].removesuffix("/info/refs")
            if path in sent_on:
                self.send_response(301)
                self.send_header("Location", self.path.replace(path, sent_on[path]))
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif not (root / path.lstrip("/")).is_dir():
                self.send_error(404)
            else:
                refs = run("upload-pack", "--http-backend-info-refs", root / path.lstrip("/"), self, b"")
                self.answer(b"001e# service=git-upload-pack\n0000" + refs, "advertisement")

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            data = self.rfile.read(size) if size else self.chunks()
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            path = self.path.removesuffix("/git-upload-pack").lstrip("/")
            self.answer(run("upload-pack", "--stateless-rpc", root / path, self, data), "result")

        def chunks(self) -> bytes:
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        def answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"application/x-git-upload-pack-{kind}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{server.server_port}", sent_on, certificate
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def run(verb: str, how: str, repository: Path, request: http.server.BaseHTTPRequestHandler, data: bytes) -> bytes:
    """Run one request of git's protocol."""
    env = {**os.environ, "GIT_PROTOCOL": request.headers.get("Git-Protocol", "")}
    command = ["git", "-c", "uploadpack.allowFilter=true", "-c", "safe.directory=*", verb, how, str(repository)]
    return subprocess.run(command, input=data, env=env, check=True, capture_output=True).stdout

"""Whatever a model is talked into reading: nothing is run or reached that it should not be, and a line says why."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from anyio.from_thread import start_blocking_portal
from click.testing import CliRunner
from hypothesis import given
from mcp import Client
from mcp_types import Implementation

from anything import ADDRESSES, ANY_ADDRESS, arguments_of, profile
from mcp_server.talk import text_of
from repertoire.cli.main import main
from repertoire.mcp_server.dispatcher import Dispatcher
from repertoire.mcp_server.server import build_server
from repertoire.mcp_server.tool_definitions import TOOLS

INGEST = next(tool for tool in TOOLS if tool.name == "ingest_repo")
PROGRAMS = ("git", "git-remote-ext", "ssh", "npm", "npx", "pip", "pip3", "sh", "bash", "touch", "curl", "python3")
RECORDS = '#!/bin/sh\nprintf \'%s\\0\' "${0##*/}" "$@" > "RAN/$$"\necho "fatal: not reached" >&2\nexit 128\n'
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="NOT TESTED ON WINDOWS: the programs are sh scripts")


class Machine:
    """A home and a project beside what must not be read, where every program says that it was started."""

    def __init__(self, root: Path, home: Path) -> None:
        self.ran = root / "ran"
        self.project = root / "project"
        programs = root / "programs"
        for folder in (self.ran, self.project, programs):
            folder.mkdir()
        for name in PROGRAMS:
            (programs / name).write_text(RECORDS.replace("RAN", str(self.ran)))
            (programs / name).chmod(0o755)
        self.environment = {
            "HOME": str(root),
            "PATH": str(programs),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "LANG": "C.UTF-8",
            "REPERTOIRE_HOME": str(home),
            "REPERTOIRE_BACKGROUND": "no",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }

    def started(self) -> Iterator[list[str]]:
        """Yield what was started since it was last asked, each as its words."""
        for file in sorted(self.ran.iterdir()):
            yield [os.fsdecode(word) for word in file.read_bytes().split(b"\0")[:-1]]
            file.unlink()


@pytest.fixture
def machine(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path, home)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.project)
    # Every name is a public host's, as if each were given away: what then reaches git is looked at.
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_, **__: _resolved(host, answer))
    return made


def _resolved(host: Any, answer: list[Any]) -> list[Any]:
    if host in ("localhost", "127.0.0.1", "0x7f000001", "169.254.169.254"):
        return [(*answer[0][:4], ("127.0.0.1", 443))]
    str(host).encode("idna")
    return answer


def test_no_address_runs_or_reaches_what_it_should_not(machine: Machine) -> None:
    @profile(40)
    @given(ANY_ADDRESS)
    def refused(address: str) -> None:
        status, said = ingest(address)
        if status == 0:  # the project itself, however it is written
            assert Path(address.strip()).resolve() == machine.project or address.strip() in ("installed", "catalogue")
        else:
            assert status in (1, 2)
            assert said.count("\n") == 1 or "Usage:" in said, said
            assert "Traceback" not in said
        for words in machine.started():
            harmless(words)

    for address in ADDRESSES:
        refused.hypothesis.inner_test(address)
    refused()
    assert ingest("https://example.com/acme/tools")[0] == 1
    reached = [words[words.index("--") + 1] for words in machine.started() if "clone" in words]
    assert set(reached) == {"https://example.com/acme/tools"}


def ingest(address: str) -> tuple[int, str]:
    """Read an address as the tool has it read; return the exit status and what was complained of."""
    with CliRunner().isolation() as (_, complained, _both):
        try:
            main(["ingest", "--json", "--untrusted", "--quiet", "--", address])
        except SystemExit as leaving:
            return int(leaving.code or 0), complained.getvalue().decode()
    return 0, ""


def harmless(words: list[str]) -> None:
    """Assert that nothing but git was started, that an address can be nothing else to it, and leads elsewhere."""
    assert words[0] == "git", words
    if "clone" in words:
        options, _, (url, _target) = words[: words.index("--")], "--", words[words.index("--") + 1 :]
        assert url.startswith(("https://", "ssh://", "git@")), words
        assert "protocol.ext.allow=never" in options
        assert not any("touch" in option or "upload-pack" in option.lower() for option in options), words


def test_the_tool_tells_a_client_why_an_address_is_not_read(machine: Machine) -> None:
    telling = (
        "file:///etc",
        "ext::sh -c touch% /tmp/ran",
        "--upload-pack=touch ran",
        "a/t\ud800",
        "x\x00y",
        "x" * 200_000,
    )
    dispatcher = Dispatcher(machine.environment)

    def answer(arguments: Mapping[str, Any]) -> None:
        result = portal.call(connected.call_tool, INGEST.name, dict(arguments))
        text = text_of(result)
        text.encode()
        assert text.strip()
        assert "Traceback" not in text
        assert "fault in Repertoire" not in text
        if result.is_error:
            assert len(text) < 1_000
        else:
            jsonschema.validate(result.structured_content, dict(INGEST.output))

    @profile(2)
    @given(arguments_of(INGEST).filter(lambda sent: "source" not in sent or not isinstance(sent["source"], str)))
    def answers(arguments: Mapping[str, Any]) -> None:
        answer(arguments)

    with start_blocking_portal() as portal:
        client = Client(build_server(dispatcher.handlers), client_info=Implementation(name="any", version="1"))
        with portal.wrap_async_context_manager(client) as connected:
            for address in telling:
                answer({"source": address})
            answers()
        dispatcher.close()
    for words in machine.started():
        harmless(words)

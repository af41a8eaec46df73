"""A signal ends the launcher and its server at once, with status 0."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from boot.checkout import Checkout
from boot.conftest import Connect
from boot.talk import Client, alive


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_and_is_no_failure(between: Client, number: int) -> None:
    server = int(between.text(between.call("pid")))
    between.call("hang")
    assert between.end(number) == 0
    assert not alive(server)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are blocked per thread on POSIX only")
def test_a_signal_that_does_not_wake_the_main_thread_ends_the_launcher(warm: Checkout) -> None:
    elsewhere = (
        "import signal, sys, threading, time\n"
        f"sys.path.insert(0, {str(warm.root / 'server')!r})\n"
        "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"  # that thread takes it, the main one sleeps on
        "from repertoire.boot import launcher\n"
        "launcher.main()\n"
    )
    command = [sys.executable, "-c", elsewhere]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=warm.environ(), **pipes) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        launcher.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        launcher.stdin.flush()
        assert launcher.stdout.readline()
        launcher.send_signal(signal.SIGTERM)
        try:
            assert launcher.wait(timeout=60) == 0
        finally:
            launcher.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_building_is_no_failure(cold: Checkout, connect: Connect, number: int) -> None:
    client = connect(cold)
    client.handshake()
    client.call("status")
    assert client.end(number) == 0

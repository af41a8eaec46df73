"""A cold machine: no environment, no store; the first session connects at once and its first call is answered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from client.api_stub import Script
from client.graph_tools import GRANTED, SERVER, call
from client.machine import REPOSITORY, Settle

pytestmark = pytest.mark.client

# what an installer behind a mirror or a company's certificate needs, and nothing else of this machine
INSTALLER_VARIABLES = ("PIP_", "UV_", "SSL_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
BUILD_TIMEOUT_S = 280  # downloads the locked packages, then answers
TASK = "add OAuth login with sessions to a FastAPI service"


def test_the_first_session_on_a_cold_machine_connects_and_its_first_tool_call_succeeds(
    settle: Settle, tmp_path: Path
) -> None:
    passed_on = {name: value for name, value in os.environ.items() if name.startswith(INSTALLER_VARIABLES)}
    machine = settle(**passed_on, REPERTOIRE_HOME=str(tmp_path / "data"))
    machine.install(REPOSITORY)

    first = machine.session(
        "what do I need?",
        script=Script([call("recommend_set", task=TASK), "Done."]),
        args=GRANTED,
        timeout=BUILD_TIMEOUT_S,
    )

    assert first.returncode == 0
    assert first.server_status(SERVER) == "connected"
    assert first.results == ["Done."]
    answer = first.main_requests[-1].last_message
    assert "auth" in answer.lower(), answer

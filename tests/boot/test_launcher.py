"""The launcher answers at once, waits for the server if it must, never fails the client, and ends when told to."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest

from boot.checkout import TOOLS, Checkout, pebble
from boot.conftest import Connect
from boot.talk import Client, alive

# --- no environment yet


def test_the_handshake_is_answered_while_the_environment_is_still_being_built(cold: Checkout, connect: Connect) -> None:
    client = connect(cold)
    assert client.answer(client.ask("server/discover"))["error"]["code"] == -32601
    told = client.handshake("2025-06-18")
    assert told == {
        "protocolVersion": "2025-06-18",
        "capabilities": TOOLS["capabilities"],
        "serverInfo": TOOLS["serverInfo"],
        "instructions": TOOLS["instructions"],
    }
    assert client.answer(client.ask("tools/list"))["result"]["tools"] == TOOLS["tools"]
    assert client.answer(client.ask("ping"))["result"] == {}
    for method in ("resources/list", "prompts/list", "logging/setLevel"):
        assert client.answer(client.ask(method))["error"]["code"] == -32601
    assert client.end() == 0


def test_a_protocol_it_does_not_know_is_answered_with_the_newest_that_it_does(cold: Checkout, connect: Connect) -> None:
    assert connect(cold).handshake("1999-01-01")["protocolVersion"] == "2025-11-25"


def test_hooks_are_answered_with_nothing_and_never_held(cold: Checkout, environment: Path, connect: Connect) -> None:
    client = connect(cold)
    client.handshake()
    held = client.call("search_components")
    for hook in ("hook_prompt", "hook_stop", "hook_of_a_later_version"):
        assert client.text(client.call(hook, prompt="hello")) == "{}"
    cold.adopt(environment)
    assert client.text(held) == "search_components {} 1.0"


def test_a_call_is_held_with_progress_and_served_when_the_build_is_done(checkout: Checkout, connect: Connect) -> None:
    with checkout.build_held_up():
        client = connect(checkout)
        client.handshake()
        held = client.call("search_components", token="t-1", query="sign in")
        first = client.wait(lambda message: message.get("method") == "notifications/progress")
        second = client.wait(lambda message: message.get("method") == "notifications/progress")
    assert first["params"]["progressToken"] == "t-1"
    assert second["params"]["progress"] > first["params"]["progress"]
    assert "installing packages" in second["params"]["message"]
    assert client.text(held) == 'search_components {"query": "sign in"} 1.0'
    assert len(checkout.environments) == 1


def test_another_sessions_build_serves_as_well(cold: Checkout, environment: Path, connect: Connect) -> None:
    client = connect(cold)
    client.handshake()
    held = client.call("status")
    cold.adopt(environment)
    assert client.text(held) == "status {} 1.0"


def test_held_calls_are_served_in_order_and_cancelled_ones_not_at_all(
    cold: Checkout, environment: Path, connect: Connect
) -> None:
    client = connect(cold)
    client.handshake()
    calls = [client.call(tool) for tool in ("status", "recommend_set", "search_components", "seen")]
    client.notify("notifications/cancelled", requestId=calls[1], reason="changed my mind")
    client.answer(client.ask("ping"))
    cold.adopt(environment)
    seen = json.loads(client.text(calls[3]))
    assert [name for method, _, name in seen if method == "tools/call"] == ["status", "search_components", "seen"]
    assert [method for method, _, _ in seen[:2]] == ["initialize", "notifications/initialized"]
    assert all(message.get("id") != calls[1] for message in client.others)


def test_a_list_of_tools_that_turns_out_different_is_announced(
    cold: Checkout, environment: Path, connect: Connect
) -> None:
    client = connect(cold)
    client.handshake()
    cold.adopt(environment)
    client.wait(lambda message: message.get("method") == "notifications/tools/list_changed")
    assert client.answer(client.ask("tools/list"))["result"]["tools"][0]["name"] == "real"
    assert client.others == []  # nothing that the launcher asked the server for reaches the client


def test_patience_ends_with_a_sentence_that_names_the_log(cold: Checkout, connect: Connect) -> None:
    client = connect(cold, REPERTOIRE_BOOT_WAIT="0.2")
    client.handshake()
    told = client.text(client.call("status"))
    assert told.startswith("ERROR Repertoire is not ready yet (first run: installing packages")
    assert str(cold.home / "log" / "install.log") in told


def test_a_failed_build_is_told_and_the_next_call_tries_again(
    checkout: Checkout, connect: Connect, requirement: str
) -> None:
    checkout.lock("pebble==9.9 --hash=sha256:" + "0" * 64)
    client = connect(checkout)
    client.handshake()
    told = client.text(client.call("status"))
    assert told.startswith("ERROR Repertoire's environment could not be built: installing packages with")
    assert "install.log" in told
    assert client.text(client.call("hook_prompt")) == "{}"
    checkout.lock(requirement)
    assert client.text(client.call("status")) == "status {} 1.0"


def test_the_build_survives_the_client(checkout: Checkout, connect: Connect) -> None:
    with checkout.build_held_up():
        client = connect(checkout)
        client.handshake()
        assert client.end(signal.SIGKILL) == -signal.SIGKILL
    assert checkout.build().returncode == 0  # waits for the detached build, if that has not ended
    log = (checkout.home / "log" / "install.log").read_text()
    assert log.count("making an environment") == 1


def test_a_home_that_cannot_be_written_is_told(
    checkout: Checkout, connect: Connect, as_ordinary_user: tuple[str, ...]
) -> None:
    checkout.home.mkdir(parents=True)
    checkout.home.chmod(0o500)
    client = connect(checkout, wrap=as_ordinary_user)
    client.handshake()
    assert "cannot be written" in client.text(client.call("status"))
    assert client.text(client.call("hook_prompt")) == "{}"
    assert client.end() == 0


def test_a_home_that_cannot_be_created_is_told(checkout: Checkout, connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    client = connect(checkout, REPERTOIRE_HOME=str(tmp_path / "file" / "home"))
    client.handshake()
    assert "cannot create the data folder" in client.text(client.call("status"))
    assert client.end() == 0


# --- the environment is ready


def test_a_ready_environment_leaves_nothing_of_the_launcher(warm: Checkout, connect: Connect) -> None:
    client = connect(warm)
    assert client.handshake()["serverInfo"] == {"name": "real", "version": "1"}
    assert client.text(client.call("pid")) == str(client.process.pid)
    assert client.end() == 0


def test_a_read_only_home_with_an_environment_serves(
    checkout: Checkout, environment: Path, connect: Connect, as_ordinary_user: tuple[str, ...]
) -> None:
    checkout.adopt(environment)
    for folder in (checkout.home / "env", checkout.home):
        folder.chmod(0o500)
    client = connect(checkout, wrap=as_ordinary_user)
    assert client.handshake()["serverInfo"]["name"] == "real"


def test_files_of_the_project_are_not_imported(
    warm: Checkout, connect: Connect, hostile_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile_project)
    client = connect(warm, PYTHONPATH=str(hostile_project))
    client.handshake()
    assert client.text(client.call("status")) == "status {} 1.0"


def test_a_damaged_environment_is_built_anew_while_the_client_waits(
    checkout: Checkout, environment: Path, connect: Connect
) -> None:
    env = checkout.take_copy(environment)
    next(env.glob("lib/python*/site-packages/pebble.py")).unlink()
    shutil.rmtree(next(env.glob("lib/python*/site-packages/__pycache__")), ignore_errors=True)
    client = connect(checkout)
    assert client.handshake()["serverInfo"] == TOOLS["serverInfo"]
    assert client.text(client.call("status")) == "status {} 1.0"
    assert not env.exists()


def test_a_server_that_cannot_be_imported_is_told_and_nothing_is_rebuilt(
    warm: Checkout, environment: Path, connect: Connect
) -> None:
    (warm.root / "server/repertoire/mcp_server/__main__.py").write_text("import repertoire.gone")
    client = connect(warm)
    client.handshake()
    for _ in range(2):
        assert client.text(client.call("status")).startswith("ERROR Repertoire's server ended unexpectedly")
    assert client.text(client.call("hook_stop")) == "{}"
    assert client.end() == 0
    assert (environment / ".ready").exists()


# --- the launcher stands between


def test_what_the_server_asks_of_the_client_passes_through(between: Client) -> None:
    call = between.call("roots")
    asked = between.wait(lambda message: message.get("method") == "roots/list")
    between.say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": ["file:///p"]}}))
    assert between.text(call) == '{"roots": ["file:///p"]}'


def test_cancellations_reach_the_server(between: Client) -> None:
    hanging = between.call("hang")
    between.notify("notifications/cancelled", requestId=hanging)
    assert ["notifications/cancelled", None, None] in json.loads(between.text(between.call("seen")))


def test_a_large_and_foreign_text_passes_unharmed(between: Client) -> None:
    text = "größe 大きさ \u2028 " * 50_000
    assert json.loads(between.text(between.call("status", text=text))[7:-4])["text"] == text


def test_a_dying_server_is_an_error_for_what_it_owed_and_the_next_call_has_a_new_one(between: Client) -> None:
    first = between.text(between.call("pid"))
    owed, asked, hook = between.call("hang"), between.ask("resources/hang"), between.call("die")
    assert between.text(owed).startswith("ERROR Repertoire's server ended unexpectedly (exit status 3)")
    assert between.text(hook).startswith("ERROR")
    assert "error" in between.answer(asked)
    assert between.text(between.call("pid")) != first


def test_each_call_may_kill_its_own_server_and_the_launcher_stays(between: Client) -> None:
    for _ in range(3):
        assert between.text(between.call("die")).startswith("ERROR")
    assert between.answer(between.ask("ping"))["result"] == {}
    assert between.text(between.call("hook_prompt")) == "{}"
    assert between.text(between.call("status")) == "status {} 1.0"


def test_a_hook_that_meets_a_dead_server_calls_the_next_one(between: Client) -> None:
    between.text(between.call("die"))
    assert between.text(between.call("hook_prompt")) == "{}"
    assert between.text(between.call("status")) == "status {} 1.0"


def test_stray_output_of_the_server_does_not_reach_the_client(between: Client) -> None:
    assert between.text(between.call("babble")) == "babbled"
    assert between.end() == 0
    assert any("this is no message" in line for line in between.errors)


def test_the_end_of_input_ends_the_server_and_is_no_failure(between: Client) -> None:
    server = int(between.text(between.call("pid")))
    assert between.end() == 0
    assert not alive(server)


def test_what_was_asked_before_the_end_of_input_is_answered(between: Client) -> None:
    last = between.call("status")
    assert between.process.stdin is not None
    between.process.stdin.close()
    assert between.text(last) == "status {} 1.0"


# --- strange clients, strange machines


@pytest.mark.parametrize("garbage", ["", "not json", "[]", '"text"', "{", "\x00", '{"jsonrpc":"2.0"}', '{"id":1}'])
def test_garbage_is_ignored(cold: Checkout, connect: Connect, garbage: str) -> None:
    client = connect(cold)
    client.say(garbage)
    client.handshake()
    client.say(garbage)
    client.say('{"jsonrpc":"2.0","id":"x","method":"tools/call","params":[1]}')
    client.say('{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":["hook_"]}}')
    client.say('{"jsonrpc":"2.0","method":"notifications/cancelled"}')
    assert client.answer(client.ask("ping"))["result"] == {}
    assert client.end() == 0


def test_missing_tools_are_listed_once_the_server_runs(cold: Checkout, environment: Path, connect: Connect) -> None:
    (cold.root / "server" / "tools.json").unlink()
    client = connect(cold)
    assert client.handshake()["serverInfo"]["name"] == "graph"
    assert client.answer(client.ask("tools/list"))["result"]["tools"] == []
    cold.adopt(environment)
    client.wait(lambda message: message.get("method") == "notifications/tools/list_changed")


@pytest.mark.parametrize("broken", ["proxy.py", "layout.py", "launcher.py", "__init__.py"])
def test_a_broken_checkout_still_answers(checkout: Checkout, connect: Connect, broken: str) -> None:
    (checkout.root / "server" / "repertoire" / "boot" / broken).write_text("this is no Python")
    _apologises(connect(checkout), "SyntaxError")


def test_an_ancient_python_still_answers(checkout: Checkout, connect: Connect, ancient: str) -> None:
    _apologises(connect(checkout, python=ancient), "Python 3.9 or newer")


def test_python_3_9_answers_builds_with_a_newer_one_and_hands_over(
    checkout: Checkout, connect: Connect, python39: str, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.11").symlink_to(Path(sys.executable).resolve())
    client = connect(checkout, python=python39, PATH=str(tmp_path / "bin"))
    client.handshake()
    assert client.text(client.call("status")) == "status {} 1.0"
    assert client.end() == 0


def test_no_fitting_python_is_told(checkout: Checkout, connect: Connect, python39: str, tmp_path: Path) -> None:
    client = connect(checkout, python=python39, PATH=str(tmp_path))
    client.handshake()
    assert "needs CPython 3.10 to 3.14" in client.text(client.call("status"))
    assert client.text(client.call("hook_prompt")) == "{}"
    assert client.end() == 0


def test_a_given_python_that_is_gone_is_told(checkout: Checkout, connect: Connect) -> None:
    client = connect(checkout, REPERTOIRE_PYTHON="/nowhere/python")
    client.handshake()
    assert "REPERTOIRE_PYTHON names /nowhere/python" in client.text(client.call("status"))


def test_an_update_of_the_plugin_builds_beside_what_runs(
    warm: Checkout, environment: Path, connect: Connect, tmp_path: Path
) -> None:
    old = connect(warm)
    old.handshake()
    warm.lock(pebble(tmp_path / "newer", "2.0"))
    new = connect(warm)
    new.handshake()
    assert new.text(new.call("status")) == "status {} 2.0"
    assert old.text(old.call("status")) == "status {} 1.0"
    assert (environment / ".ready").exists()


def _apologises(client: Client, why: str) -> None:
    assert client.handshake()["serverInfo"]["name"] == "graph"
    client.say("not json")
    assert client.answer(client.ask("tools/list"))["result"]["tools"] == TOOLS["tools"]
    assert client.answer(client.ask("server/discover"))["error"]["code"] == -32601
    assert client.answer(client.ask("ping"))["result"] == {}
    told = client.text(client.call("status"))
    assert told.startswith("ERROR")
    assert why in told
    assert client.text(client.call("hook_prompt")) == "{}"
    assert client.end() == 0

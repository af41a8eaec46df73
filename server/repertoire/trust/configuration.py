"""Checks settings, server configurations and package scripts: commands, secrets in variables, redirected requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from repertoire.domain.component import AGENT, COMMAND, HOOK, MCP_SERVER, SETTING, SKILL, Component
from repertoire.domain.trust import CRITICAL, HIGH
from repertoire.trust.check import CheckMatch
from repertoire.trust.exfiltration import SENDS
from repertoire.trust.scanned_text import RUN, Line, ScannedText
from repertoire.trust.secrets import secrets

# Settings that are a command, or an object with one.
_HELPERS = (
    *("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper", "processWrapper"),
    *("proxyAuthHelper", "fileSuggestion", "statusLine", "subagentStatusLine"),
)
_TELLING = re.compile(r"(?i)statusline|helper|authrefresh|awscredentialexport|filesuggestion|processwrapper|base_url")
_HELD = re.compile(r'"(?:env|headers)"\s*:')
_VALUE = re.compile(r'(?:[^"\\\n]|\\.)+')
_KEPT = 20_000  # characters of a value that are kept when a configuration is read
_ADDRESSES = ("ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL")
_TRUSTED = re.compile(
    r"(?i)^https?://(?:localhost|127\.|\[::1\]|0\.0\.0\.0|10\.|192\.168\.|host\.docker\.internal|\$\{?"
    r"|(?:[\w-]+\.)*(?:anthropic\.com|amazonaws\.com|googleapis\.com|azure\.com|claude\.ai)(?:[:/]|$))"
)


def commands(component: Component, text: str) -> Iterator[str]:
    """Yield the commands that settings make the client run, without hooks, which are components of their own."""
    if component.type != SETTING or not _TELLING.search(text):
        return
    data = _parse(text)
    stated = (data.get(name) for name in _HELPERS)
    yield from (line for one in stated if isinstance(line := _mapping(one).get("command", one), str))


def of_front_matter(component: Component) -> Iterator[str]:
    """Yield the commands of hooks that the front matter of a skill, agent or command states, run while it is used."""
    waiting = [component.front_matter.get("hooks")] if component.type in (SKILL, AGENT, COMMAND) else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if isinstance(one.get("command"), str):
                yield one["command"]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def long_values(component: Component, text: str) -> Iterator[str]:
    """Yield the values of a configuration that are longer than any that is kept whole when it is read."""
    if component.type not in (HOOK, MCP_SERVER) or max(map(len, text.split("\n"))) <= _KEPT:
        return
    for found in _VALUE.finditer(text):
        if found.end() - found.start() > _KEPT:
            yield found.group().replace('\\"', '"').replace("\\n", "\n")


def at_install(text: str) -> Iterator[str]:
    """Yield the commands that a package runs when it is installed."""
    if "install" in text or "prepare" in text:
        scripts = _mapping(_parse(text).get("scripts"))
        for name in ("preinstall", "install", "postinstall", "prepare"):
            if isinstance(scripts.get(name), str):
                yield scripts[name]


def secrets_and_redirects(component: Component, text: str) -> Iterator[CheckMatch]:
    """Yield matches for secrets in `env` and `headers`, for a moved API address, and for a proxy without TLS checks."""
    if component.type not in (SETTING, MCP_SERVER) or not _HELD.search(text):
        return
    own = _parse(text)
    if component.type == MCP_SERVER:
        servers = next(
            (_mapping(own[key]) for key in ("mcpServers", "servers", "mcp_servers", "mcp") if key in own), own
        )
        own = _mapping(servers.get(component.name))
    held = {name: own[name] for name in ("env", "headers") if name in own}
    yield from secrets(ScannedText(json.dumps(held, indent=0)))
    env = _mapping(own.get("env"))
    proxy = next(
        (env[name] for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY") if isinstance(env.get(name), str)), ""
    )
    if proxy and not _TRUSTED.search(proxy) and str(env.get("NODE_TLS_REJECT_UNAUTHORIZED", "")) == "0":
        reason = "sends all that goes over the network through another machine, which can read it"
        yield CheckMatch(SENDS, CRITICAL, Line(0, f"HTTPS_PROXY: {proxy}", RUN), reason)
    for name in _ADDRESSES if component.type == SETTING else ():
        address = _mapping(own.get("env")).get(name)
        if isinstance(address, str) and address.startswith("http") and not _TRUSTED.search(address):
            reason = "sends every request of the client, and its key, to another address"
            yield CheckMatch(SENDS, HIGH, Line(0, f"{name}: {address}", RUN), reason)


def _parse(text: str) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

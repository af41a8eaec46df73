"""Reads the configurations of MCP servers, and leaves out the secrets in them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from shlex import quote
from typing import Any

from repertoire import linear
from repertoire.domain.component import MCP_SERVER
from repertoire.domain.digest import digest_of
from repertoire.domain.text import clean_line
from repertoire.ingestion import dependencies, install, requirements, validation, values
from repertoire.ingestion.parts import ComponentRequirement, Draft, FileOutcome, PluginFacts
from repertoire.ingestion.values import Unusable

_SECRET_OPTION = re.compile(r"key|token|secret|passw|auth|credential|bearer", re.IGNORECASE)
_LONG_WORD = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
_DIGIT = re.compile(r"\d")
_PLACEHOLDER = linear.compile(r"(?i)<[^>]*>|\$\{|\{\{|your|example|xxx|changeme|placeholder")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)(?:[^/?#]*@)?([^/?#]+)([^?#]*)")
_ADDRESS = linear.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'`|;&<>()]+")
# a word of letters, as a mode or a switch is, a number of few digits, or an address without user, query and fragment
_CONSTANT = re.compile(r"[A-Za-z][\w.,:-]{0,39}|\d{1,4}|https?://[\w.-]{1,80}(?::\d{1,5})?(?:/[\w./-]{0,80})?")
_STATED = re.compile(r"[A-Za-z][\w.,:;=/*+ -]{0,119}|[\d.:-]{1,10}")  # what a header or a query may state for everybody
_OWN_NAME = re.compile(r"\b(?:YOUR_)?([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])\b")  # a variable's name in a placeholder
_MIXED = re.compile(r"\b(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8,}\b")  # letters and digits, as in a key or a hash
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey) ")
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w{0,79})\}")
_FILLED_IN = linear.compile(r"\$\{([A-Z_][A-Z0-9_]*)(?::-([^}]*))?\}")  # by the client: a variable, and its default
_USER = re.compile(r"://(?:[a-z_-]{1,20}|\0)?(?::\0)?@")  # in an address; \0 stands for a variable
_QUERY = re.compile(r"[?&]")
_SEVERAL = re.compile(r"[=;#,\s]")  # between the parts of a value, of which one may be a password
_SCHEME_ALONE = re.compile(r"(?:[A-Za-z][A-Za-z-]{1,19} )?\W*")
_NO_NAME = re.compile(r"[^A-Z0-9]+")
_NAME_WORD = re.compile(r"[^\W_]+")
_OF_ANY_SERVER = frozenset(("mcp", "server"))
_PAIR = re.compile(r"[\w-]+=(\S*)")
_HEADER = re.compile(r"-H|--headers?", re.IGNORECASE)
HIDDEN = "…"  # stands where a secret was left out


def servers_in(data: Any) -> Mapping[str, Any]:
    """Return the servers in a configuration of any usual form."""
    found = values.mapping(data)
    for key in ("mcpServers", "servers", "mcp_servers", "mcp"):
        if isinstance(found.get(key), Mapping):
            return values.mapping(found[key])
    # a plugin's .mcp.json may name its servers at the top
    if found and all(isinstance(item, Mapping) and ({"command", "url"} & set(item)) for item in found.values()):
        return found
    return {}


def outcome(
    servers: Mapping[str, Any], *, plugin: PluginFacts | None = None, beside: Mapping[str, str] | None = None
) -> FileOutcome:
    """Return a draft for each server, and a warning for each entry that is no server.

    `plugin` is the one that brings them. `beside` are the package manifests beside the configuration: servers that are
    started from there require them.

    Raises:
        Unusable: no entry is a server.
    """
    drafts: list[Draft] = []
    warnings: list[str] = []
    for key, value in servers.items():
        server = values.name(key)
        try:
            drafts.append(_draft(server, validation.require("mcp_server", value), plugin, beside or {}))
        except Unusable as error:
            warnings.append(f"server {server}: {error}")
    if not drafts:
        raise Unusable(warnings[0] if warnings else "names no MCP server")
    return FileOutcome(tuple(drafts), tuple(warnings))


def _draft(name: str, server: Mapping[str, Any], plugin: PluginFacts | None, beside: Mapping[str, str]) -> Draft:
    command, args = values.text(server.get("command")), _args(server)
    stated, url = _stated_address(server), _address(server)
    shown = " ".join([command, *args]) if command else url
    package = requirements.package_of(command, args)
    described = values.text(server.get("description"))
    own = bool(command) and dependencies.runs_own_code(command, args)
    runs = f"Runs: {shown}" if command else f"Reached at: {url}" if url else ""
    public = _public(server, args, url)
    if not (command or stated or server.get("package")):
        public["url"] = ""  # as in the file: the author leaves it to each person, and `is_refused` goes by it
    fallback = f"MCP server {name}" + (f" of {package}" if package else f" at {url}" if url else "")
    about = plugin.description if plugin is not None and _is_about(plugin, name) else ""
    return Draft(
        type=MCP_SERVER,
        name=name,
        description=described or (f"{fallback}. {about}" if about else fallback),
        body="\n".join(line for line in (described, runs) if line),
        anchor=name,
        digest=digest_of(json.dumps(server, sort_keys=True, default=str)),
        front_matter=public,
        tools=values.words(server.get("tools")),
        tags=values.words(server.get("tags")),
        needs=(*_needs(name, server, command, args), *(dependencies.of_files(beside) if own else ())),
        install=_install(name, server, args, url),
        commands=command_line(server),
    )


def _is_about(plugin: PluginFacts, server: str) -> bool:
    """Tell by its name whether a plugin is there for a server, and so describes it when it describes itself.

    Else the calendar that a plugin for marketing brings would be found and recommended as help with brands.
    """
    return set(_NAME_WORD.findall(server.lower())) - _OF_ANY_SERVER <= set(_NAME_WORD.findall(plugin.name.lower()))


def command_line(server: Mapping[str, Any]) -> str:
    """Return what a server runs as the file states it, uncut and with its secrets; empty for a remote one."""
    listed = server.get("args")
    words = [server.get("command"), *(listed if isinstance(listed, (list, tuple)) else ())]
    return " ".join(str(word) for word in words if word)


def _args(server: Mapping[str, Any]) -> list[str]:
    """Return a server's arguments without everything that looks like a secret."""
    found: list[str] = []
    after_secret_option = False
    before = ""
    for item in server.get("args") or ():
        word = clean_line(values.storable(str(item)), 300)
        word = _FILLED_IN.sub(_variable(before if after_secret_option else word.partition("=")[0]), word)
        option, is_pair, value = word.partition("=")
        if _HEADER.fullmatch(before):
            word = _header(word)
        elif is_pair and _HEADER.fullmatch(option):
            word = f"{option}={_header(value)}"
        elif after_secret_option and not word.startswith("-"):
            word = word if _PLACEHOLDER.search(word) else HIDDEN
        elif is_pair and _SECRET_OPTION.search(option):
            word = word if _PLACEHOLDER.search(value) else f"{option}={HIDDEN}"
        elif "://" in word:
            # a shell line may contain an address
            word = word if _filled_in("", word) else _ADDRESS.sub(lambda match: public_url(match.group()), word)
        else:
            word = _LONG_WORD.sub(lambda match: HIDDEN if _looks_random(match.group()) else match.group(), word)
        after_secret_option = word.startswith("-") and not is_pair and bool(_SECRET_OPTION.search(word))
        before = word
        found.append(word)
    return found


def _is_placeholder(word: str) -> bool:
    """Tell whether a word is an option with a placeholder alone, as `--token=YOUR-TOKEN`."""
    pair = _PAIR.fullmatch(word)
    return pair is not None and bool(_PLACEHOLDER.search(pair.group(1)))


def _is_clean(word: str, redact: Callable[[str], str]) -> bool:
    """Tell whether a word has no secret beside the variables in it, which stand for the password of an address, too."""
    bare = _without_variables(word)
    defaults = (default for _, default in _FILLED_IN.findall(word))
    return bare != word and all(redact(text) == text for text in (bare, *defaults))


def _header(word: str) -> str:
    """Return a header of a request without its value, unless the same may stand there for everybody."""
    key, colon, value = word.partition(":")
    return word if _PLACEHOLDER.search(value) or _is_public(key, value.strip()) else f"{key}{colon} {HIDDEN}"


def redacted(draft: Draft, redact: Callable[[str], str]) -> Draft:
    """Return a server's draft without what `redact` takes out of its command and of each of its arguments."""
    front = draft.front_matter
    stated, args = values.text(front.get("command")), [str(word) for word in front.get("args", ())]
    listed = (stated, clean_line(stated, 300), *args)
    words = {word: word if _is_placeholder(word) or _is_clean(word, redact) else redact(word) for word in listed}
    if not any(hidden != word for word, hidden in words.items()):
        return draft
    body, lines = draft.body, draft.install
    for word, hidden in words.items():
        if hidden != word:
            body = body.replace(word, hidden)
            lines = tuple(line.replace(quote(word), quote(hidden)) for line in lines)
    shown = {"command": words[stated], "args": [words[word] for word in args]}
    kept = {key: shown.get(key, value) for key, value in front.items()}
    return dataclasses.replace(draft, body=body, install=lines, front_matter=kept)


def _given(server: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables whose value in the source holds for everybody: a mode, a public address, a switch.

    So does a value that the client fills in from other variables. A secret, a placeholder and a path of somebody's
    machine are left to the person.
    """
    stated = {name: item for name, item in values.mapping(server.get("env")).items() if isinstance(item, str)}
    filled = {name: _filled_in(name, value) for name, value in stated.items()}
    return {
        name: filled[name] or value
        for name, value in stated.items()
        if filled[name]
        or (
            _CONSTANT.fullmatch(value)
            and not (_SECRET_OPTION.search(name) or _PLACEHOLDER.search(value) or _looks_random(value))
        )
    }


def _filled_in(key: str, value: str) -> str:
    """Return a value that the client fills in from variables; empty if it does not, or if a secret may be in it."""
    bare = _without_variables(value)
    if bare == value or value != clean_line(values.storable(value), 300) or "${" in bare:
        return ""
    first, *pairs = _QUERY.split(bare)
    asked = (pair.partition("=") for pair in pairs)
    parts = [(key, first), *(one[::2] for one in asked)]
    if _PLACEHOLDER.search(first) or not all(_is_open(*part) for part in parts):
        return ""
    if any(_SEVERAL.search(text) and not _SCHEME_ALONE.fullmatch(text) for _, text in parts):
        return ""
    return _FILLED_IN.sub(_variable(key), value)


def _without_variables(value: str) -> str:
    return _USER.sub("://", _FILLED_IN.sub("\0", value)).replace("\0", "")


def _variable(key: str) -> Callable[[linear.LinearMatch], str]:
    """Return what writes a variable without its default if that may be a secret."""

    def written(match: linear.LinearMatch) -> str:
        return match.group() if _is_open(f"{key} {match[1]}", match[2] or "") else f"${{{match[1]}}}"

    return written


def _is_open(key: str, text: str) -> bool:
    """Tell whether a text that stands beside variables, or for one, looks like no secret."""
    long = any(_DIGIT.search(word) and "/" not in word for word in _LONG_WORD.findall(text))
    if long or _MIXED.search(text.replace("_", " ")) or _looks_random(text) or {"@", ":"} <= set(text):
        return False
    return "://" in text or not _SECRET_OPTION.search(key) or _SCHEME_ALONE.fullmatch(text) is not None


def _looks_random(word: str) -> bool:
    return len(_DIGIT.findall(word)) >= 3 and word.lower() != word and "/" not in word


def public_url(url: str) -> str:
    """Return a web address without user, password, query and fragment."""
    found = _URL.match(url)
    return clean_line("".join(found.groups()), 300) if found else ""


def _address(server: Mapping[str, Any]) -> str:
    """Return a remote server's address without what may be a secret; a variable of the client may begin it."""
    stated = _stated_address(server)
    return public_url(stated) or _filled_in("", stated.partition("?")[0])


def _stated_address(server: Mapping[str, Any]) -> str:
    return values.text(server.get("url") or server.get("httpUrl") or server.get("serverUrl"))


def _public(server: Mapping[str, Any], args: list[str], url: str) -> dict[str, Any]:
    found: dict[str, Any] = {key: server[key] for key in ("type", "command", "timeout", "transport") if key in server}
    if args:
        found["args"] = args
    if url:
        found["url"] = url
    for key in ("env", "headers"):
        if values.mapping(server.get(key)):
            found[key] = sorted(server[key])  # names alone: the values are secrets
    return found


def _reached(name: str, server: Mapping[str, Any], url: str) -> tuple[str, tuple[str, ...]]:
    """Return the address of a remote server with its query, and its headers, with variables in place of secrets."""
    query = _stated_address(server).partition("?")[2]
    pairs = [pair.partition("=") for pair in query.partition("#")[0].split("&") if pair]
    asked = "&".join(f"{key}{equals}{_stated(name, key, value)}" for key, equals, value in pairs)
    headers = (
        f"{clean_line(values.storable(key), 80)}: {_stated(name, key, value)}"
        for key, value in values.mapping(server.get("headers")).items()
        if isinstance(value, str) and value.strip()
    )
    return f"{url}?{asked}" if asked else url, tuple(headers)


def _stated(server: str, key: str, value: str) -> str:
    """Return the value of a header or of a query's key, with a variable where a person's own secret belongs."""
    value = clean_line(values.storable(value), 300)
    if filled := _filled_in(key, value):
        return filled
    if not value or (not _PLACEHOLDER.search(value) and _is_public(key, value)):
        return value
    scheme = found.group() if (found := _SCHEME.match(value)) else ""
    if reference := _REFERENCE.fullmatch(value[len(scheme) :]):
        return f"{scheme}${{{reference.group(1)}}}"
    named = _OWN_NAME.search(value) if _PLACEHOLDER.search(value) else None
    own = "TOKEN" if key.lower() == "authorization" else _NO_NAME.sub("_", key.upper()).strip("_") or "VALUE"
    variable = named.group(1) if named else f"{_NO_NAME.sub('_', server.upper()).strip('_') or 'SERVER'}_{own}"
    return f"{scheme}${{{variable}}}"


def _is_public(key: str, value: str) -> bool:
    """Tell whether the value of a header or of a query's key looks like no secret, and may hold for everybody."""
    secret = _MIXED.search(value) or _LONG_WORD.search(value) or _SECRET_OPTION.search(key)
    return not secret and _STATED.fullmatch(value) is not None


def _needs(name: str, server: Mapping[str, Any], command: str, args: list[str]) -> Iterator[ComponentRequirement]:
    evidence = f"configuration of {name}"
    if command:
        yield from requirements.of_command(command, args, evidence=evidence)
    named: dict[str, None] = {}
    given = _given(server)
    for variable in values.mapping(server.get("env")):
        if variable not in given:
            named.setdefault(variable, None)
    reached = _reached(name, server, "") if not command else ()
    stated = [server.get(key) for key in ("env", "headers", "url")]
    text = json.dumps([*stated, list(given.values()), args, reached], default=str)
    for need in requirements.of_variables(text, evidence=evidence):
        named.setdefault(need.name, None)
    for variable in named:
        yield ComponentRequirement("env", variable, 0.9, evidence)


def _install(name: str, server: Mapping[str, Any], args: list[str], url: str) -> tuple[str, ...]:
    if server.get("type") == "ws" or url.startswith(("ws://", "wss://")):
        return ()  # `claude mcp add` knows no such transport; only the file states it
    if url:
        transport = "sse" if server.get("type") == "sse" or url.rstrip("/").endswith("/sse") else "http"
        return (install.remote_server_line(name, transport, *_reached(name, server, url)),)
    command = values.text(server.get("command"))
    if not command:
        return ()
    given = _given(server)
    variables = {variable: given.get(variable, "") for variable in values.mapping(server.get("env"))}
    return (install.stdio_server_line(name, variables, [clean_line(command, 300), *args]),)

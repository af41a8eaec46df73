"""Scans one component and its files with all checks, and returns flags, the gravest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from repertoire.domain.component import HOOK, MCP_SERVER, PLUGIN, SETTING, Component
from repertoire.domain.text import clean_line
from repertoire.domain.trust import HIGH, LOW, Flag, rank
from repertoire.trust import (
    commands,
    configuration,
    deobfuscation,
    direct_orders,
    exfiltration,
    permissions,
    persistence,
    prompt_injection,
    taint,
    typosquatting,
)
from repertoire.trust.check import UNCHECKED, CheckMatch, CheckSet, ScanBudget
from repertoire.trust.redaction import redact
from repertoire.trust.scanned_text import MARKDOWN, RUN, SCRIPT, Line, ScannedText, is_script
from repertoire.trust.secrets import secrets

RULES_VERSION = 9  # raised when a text may get other flags than before, so that everything is scanned again
RULES = (
    commands.DOWNLOAD,
    commands.DESTRUCTIVE,
    commands.REMOTE,
    commands.OBFUSCATION,
    exfiltration.READS,
    exfiltration.SENDS,
    persistence.RULE,
    permissions.RULE,
    typosquatting.RULE,
    prompt_injection.HIDDEN,
    prompt_injection.IN_COMMENT,
    prompt_injection.ORDER,
    "secret",
    UNCHECKED,
)
_CHECKS = CheckSet((*commands.CHECKS, *exfiltration.CHECKS, *permissions.CHECKS, *persistence.CHECKS))
# Apart, because each set has a budget of its own: else thousands of commands would use up that of an order beside them.
_ORDERS = CheckSet((*prompt_injection.CHECKS, *direct_orders.CHECKS))
_PROGRAMS = {
    "python": "a.py",
    "py": "a.py",
    "javascript": "a.js",
    "js": "a.js",
    "typescript": "a.ts",
    "ts": "a.ts",
    "node": "a.js",
}
_MOST = 20  # flags of one component at most, of each rule that it breaks the gravest among them
_MOST_TEXT = 1_000_000
_LINE = 160
_TEXTS = (".md", ".mdx", ".markdown", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".html")
_SHOWN = 4_000  # characters of a text that is shown in one line; less of it is
# What parts a text from what stands before it: fences, cells of tables, tags and the frames of messages.
_MARKS = re.compile(r"`{3,}|~{3,}|\||[<\u2039][^<>\u2039\n]{1,40}>|\[/?[A-Z]{3,12}\]")
_LISTED = re.compile(r"^[-*+>#.\s]+|^\d{1,3}[.)]\s")
_JOINTS = re.compile(r"[-_./\s]+")
_KIND = re.compile(r'"type"\s*:\s*"(prompt|command|agent|http|mcp_tool)"')
_OF_JSON = (HOOK, MCP_SERVER, PLUGIN, SETTING)  # types that are read from a file which holds other data too


def is_checked(path: str) -> bool:
    """Tell whether a component's file is scanned: scripts and texts are, images and tables are not."""
    name = path.rpartition("/")[2]
    return is_script(path) or "." not in name or name.lower().endswith(_TEXTS)


def scan(
    component: Component,
    text: str = "",
    parts: Iterable[tuple[str, str | None]] = (),
    commands: str = "",
    shown: Iterable[str] = (),
) -> tuple[Flag, ...]:
    """Return the flags of a component, the gravest first.

    `text` is its own file; `parts` are paths and texts of its other files, with None for one that could not be read;
    `commands` is what a hook or a server runs, of which the component itself keeps an excerpt; `shown` are texts that
    answers show in a line, beside the component's description and names.
    """
    found: list[tuple[str, CheckMatch]] = [("", item) for item in _check_declarations(component)]
    # a component that shares its file with others is scanned by its own data alone
    alone = (
        component.type not in _OF_JSON and component.id.endswith(f":{component.path}") and "://" not in component.path
    )
    own = list(_scan_file(text, component.path) if alone else _scan_shared_data(component, text, commands))
    for command in configuration.of_front_matter(component):
        own += _scan_text(ScannedText(command, kind=SCRIPT))
    own += _scan_description(component.description, text, own) if alone else ()
    own += _unknown(_orders_shown(component, shown if alone else (component.description, *shown)), own)
    found += [("", item) for item in own]
    for path, part in parts:
        if part is None:
            found += [(path, _unreadable())] if is_script(path) else []
        else:
            found += [(path, item) for item in _scan_file(part, path)]
    return _flags(found)


def _orders_in_line(text: str, *, believed: bool = True) -> Iterator[CheckMatch]:
    """Yield the orders in a text as answers and hints show it: in one line.

    A fence, list, table or line break around an order excuses it in its file, where it is seen, and is not shown.
    """
    document = ScannedText(_LISTED.sub("", _MARKS.sub(". ", clean_line(text, _SHOWN)).lstrip()))
    document.believed = believed
    yield from (replace(item, line=replace(item.line, number=0)) for item in _ORDERS.run(document))


def _orders_shown(component: Component, texts: Iterable[str]) -> Iterator[CheckMatch]:
    """Yield the orders in texts and names that answers show in a line; no name is long enough to warn of one."""
    for text in texts:
        yield from _orders_in_line(text)
    names = (component.name, component.plugin, component.marketplace, component.path, component.licence)
    for name in dict.fromkeys(filter(None, names)):
        yield from _orders_in_line(_JOINTS.sub(" ", name), believed=False)


def _check_declarations(component: Component) -> Iterator[CheckMatch]:
    yield from permissions.of_component(component)
    yield from typosquatting.of_component(component)


def _scan_description(description: str, text: str, own: Sequence[CheckMatch]) -> list[CheckMatch]:
    """Scan a description as a model reads it, for what the scan of its file took for a quotation: YAML's own quotes."""
    lines = text.splitlines()
    number = next((place for place, line in enumerate(lines, start=1) if line.startswith("description:")), 0)
    found = _unknown((*_scan_text(ScannedText(description)), *_orders_in_line(description)), own)
    return [replace(item, line=replace(item.line, number=number)) for item in found]


def _unknown(found: Iterable[CheckMatch], known: Sequence[CheckMatch]) -> list[CheckMatch]:
    """Return the matches of rules that no known match breaks as gravely."""
    return [
        item
        for item in found
        if not any(one.rule == item.rule and rank(one.severity) >= rank(item.severity) for one in known)
    ]


def _scan_shared_data(component: Component, text: str, stated: str) -> Iterator[CheckMatch]:
    """Scan the body, commands and description of a component that shares its file with others."""
    runs = component.type == HOOK and not _is_prompt(text)
    runs = runs or is_script(component.path)
    said = stated if component.type == HOOK and stated else component.body
    yield from _scan_text(ScannedText(said, kind=SCRIPT if runs else MARKDOWN))
    if component.type == MCP_SERVER:
        yield from _scan_text(ScannedText(stated, kind=SCRIPT))
    for command in (*configuration.commands(component, text), *configuration.long_values(component, text)):
        yield from _scan_text(ScannedText(command, kind=SCRIPT))
    yield from configuration.secrets_and_redirects(component, text)
    described = ScannedText(component.description)
    yield from prompt_injection.hidden(described)
    yield from prompt_injection.comments(described)


def _is_prompt(text: str) -> bool:
    """Tell whether all hooks of a file send prompts to a model or an agent, and none runs a command."""
    kinds = set(_KIND.findall(text))
    return bool(kinds) and kinds <= {"prompt", "agent"}


def _scan_file(text: str, path: str) -> Iterator[CheckMatch]:
    if len(text) > _MOST_TEXT:
        yield _unreadable()
    text = text[:_MOST_TEXT]
    if path.endswith("package.json"):
        for command in configuration.at_install(text):
            yield from _scan_text(ScannedText(command, kind=SCRIPT))
    yield from _scan_text(ScannedText(text, kind=SCRIPT if is_script(path, text) else MARKDOWN, path=path))


def _scan_text(document: ScannedText) -> Iterator[CheckMatch]:
    found = [
        *_run_checks(document),
        *prompt_injection.hidden(document),
        *prompt_injection.comments(document),
        *deobfuscation.orders(document),
    ]
    orders = (item for item in found if item.rule in prompt_injection.STEERING)
    if document.kind == MARKDOWN and any(rank(item.severity) >= rank(HIGH) for item in orders):
        # it is not believed to teach about attacks
        document.believed = False
        found += [*_run_checks(document), *_scan_blocks(document)]
    yield from found
    yield from secrets(document)
    if document.kind == SCRIPT:
        yield from exfiltration.in_two_steps(document)
        yield from commands.decoded_later(document)
        yield from taint.tainted_lines(document)
        room = ScanBudget()
        for line, plain in deobfuscation.expanded(document):
            yield from (replace(item, line=line) for item in _run_checks(plain, room))
        yield from deobfuscation.joined(document)


def _run_checks(document: ScannedText, room: ScanBudget | None = None) -> Iterator[CheckMatch]:
    yield from _CHECKS.run(document, room)
    yield from _ORDERS.run(document, room)


def _scan_blocks(document: ScannedText) -> Iterator[CheckMatch]:
    """Scan the code blocks of a document that is not believed as programs, because a model may run them."""
    room = ScanBudget()
    for start, language, text in document.blocks():
        program = ScannedText(text, kind=SCRIPT, path=_PROGRAMS.get(language, ""))
        for item in (*_run_checks(program, room), *taint.tainted_lines(program)):
            yield replace(item, line=replace(item.line, number=document.numbers[start + item.line.number - 1]))


def _unreadable() -> CheckMatch:
    return CheckMatch(
        "unchecked-file", LOW, Line(0, "", RUN), "is a program that is too large or no text: nobody checked it"
    )


def _flags(found: Iterable[tuple[str, CheckMatch]]) -> tuple[Flag, ...]:
    gravest: dict[tuple[str, str, object], Flag] = {}
    for path, item in found:
        key = (item.rule, path, item.line.number or item.line.text)
        old = gravest.get(key)
        if old is None or rank(item.severity) > rank(old.severity):
            gravest[key] = Flag(item.rule, item.severity, item.line.number, path, item.reason, _shown(item))
    ordered = sorted(gravest.values(), key=_gravity)
    first = {flag.rule: flag for flag in reversed(ordered)}
    further = [flag for flag in ordered if flag is not first[flag.rule]]
    return tuple(sorted([*first.values(), *further][:_MOST], key=_gravity))


def _gravity(flag: Flag) -> tuple[int, str, int, str]:
    return -rank(flag.severity), flag.file, flag.line, flag.rule


def _shown(item: CheckMatch) -> str:
    text = item.line.text.strip()[:600]
    return clean_line(redact(text), _LINE)

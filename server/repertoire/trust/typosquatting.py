"""Finds typosquatting: names of packages, owners and products that imitate well-known ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from repertoire.domain.component import MCP_SERVER, PLUGIN, Component
from repertoire.domain.trust import HIGH, MEDIUM
from repertoire.trust.check import CheckMatch
from repertoire.trust.scanned_text import RUN, Line

RULE = "lookalike-name"
OWNERS = frozenset(
    """anthropics anthropic-ai anthropic modelcontextprotocol microsoft playwright googleapis google openai supabase
    vercel
    stripe cloudflare upstash getsentry sentry notionhq hashicorp awslabs wshobson affaan-m davila7 huggingface
    atlassian mongodb makenotion shopify figma netlify postman semgrep datadog github docker gitlab elastic
    browserbasehq superclaude-org voltagent karanb192 rohitg00 yonatangross chromedevtools posthog mendableai""".split()
)
PACKAGES = frozenset(
    """firecrawl-mcp chrome-devtools-mcp mcp-remote mcp-server-git mcp-server-fetch mcp-server-time mcp-server-sqlite
    context7-mcp tavily-mcp exa-mcp-server task-master-ai claude-code desktop-commander supergateway mcp-proxy
    mcp-server-github mcp-server-filesystem mcp-server-memory mcp-server-postgres mcp-server-puppeteer fastmcp
    server-filesystem server-github server-memory server-postgres server-puppeteer server-sequential-thinking
    mcp-server-docker mcp-server-kubernetes mcp-server-sentry mcp-server-supabase mcp-server-slack notion-mcp-server
    playwright-mcp figma-developer-mcp blender-mcp browser-use puppeteer-mcp-server sentry-mcp""".split()
)
PRODUCTS: Mapping[str, str] = {
    "superpowers": "obra",
    "context7": "upstash",
    "playwright": "microsoft",
    "firecrawl": "mendableai",
    "chrome-devtools": "chromedevtools",
    "superclaude": "superclaude-org",
    "orchestkit": "yonatangross",
    "claude-code-templates": "davila7",
    "everything-claude-code": "affaan-m",
    "sequential-thinking": "modelcontextprotocol",
    "supabase": "supabase",
    "cloudflare": "cloudflare",
    "huggingface": "huggingface",
    "atlassian": "atlassian",
}
_STARTERS = frozenset("npx bunx pnpx uvx pipx npm pnpm yarn bun uv deno".split())
_PACKAGE = re.compile(r"^(?:npm:)?(?:@(?P<scope>[\w.-]+)/)?(?P<name>[\w.-]+?)(?:@[\w.^~-]+)?$")
_SAME_LOOK = str.maketrans(
    {
        "0": "o",
        "1": "l",
        "i": "l",
        "5": "s",
        "3": "e",
        "\u0430": "a",
        "\u0435": "e",
        "\u043e": "o",
        "\u0440": "p",
        "\u0441": "c",
        "\u0456": "l",
        "\u0445": "x",
        "\u0443": "y",
        "_": "-",
        ".": "-",
    }
)
_SHORTEST = 7  # letters; shorter names resemble each other by chance


def of_component(component: Component) -> Iterator[CheckMatch]:
    """Yield matches for a component's package, owner or name that imitates a well-known one."""
    if component.type == MCP_SERVER:
        for package in packages(component.front_matter):
            found = lookalike_package(package)
            if found:
                yield _match(HIGH, package, f"starts {package}, a name made to be taken for {found}")
    if component.type in (MCP_SERVER, PLUGIN):
        owner = _owner(component.repository)
        near = _near(owner, OWNERS) if owner not in OWNERS else ""
        if near:
            yield _match(HIGH, component.repository, f"comes from {owner}, a name made to be taken for {near}")
        name = component.name.lower()
        product = _near(name, frozenset(PRODUCTS)) if name not in PRODUCTS else ""
        if product and owner != PRODUCTS[product]:
            yield _match(MEDIUM, component.name, f"is called {name}, which is easily taken for {product}")


def packages(front: Mapping[str, Any]) -> Iterator[str]:
    """Yield the package that a server's command downloads and starts, if it starts one."""
    words = (
        [str(front.get("command", "")), *map(str, front.get("args") or ())]
        if not isinstance(front.get("args"), str)
        else []
    )
    if not words or words[0].rpartition("/")[2] not in _STARTERS:
        return
    for word in words[1:]:
        if word.startswith("-") or word in ("exec", "dlx", "run", "tool", "x", "install"):
            continue
        yield word
        return


def lookalike_package(package: str) -> str:
    """Return the well-known name that a package's name imitates; empty if it imitates none."""
    match = _PACKAGE.match(package.lower())
    if match is None:
        return ""
    scope, name = match["scope"] or "", match["name"]
    if scope:
        near = "" if scope in OWNERS else _near(scope, OWNERS)
        return f"@{near}" if near else ""
    return "" if name in PACKAGES else _near(name, PACKAGES)


def _near(name: str, known: frozenset[str]) -> str:
    if len(name) < _SHORTEST or name in known:
        return ""
    look = _look(name)
    for other in sorted(known):
        if len(other) < _SHORTEST or abs(len(other) - len(name)) > 2 or _is_plural(name, other):
            continue
        if name.replace("-", "") == other.replace("-", ""):
            return ""  # the same name in another registry's spelling
        if look == _look(other) or _one_slip(name, other):
            return other
    return ""


def _look(name: str) -> str:
    return name.translate(_SAME_LOOK).replace("rn", "m").replace("vv", "w").replace("-", "")


def _is_plural(one: str, other: str) -> bool:
    """Tell whether one name is the other with a usual suffix, as `skills` or `server2`, which is no imitation."""
    long, short = (one, other) if len(one) > len(other) else (other, one)
    return long.startswith(short) and long[len(short) :] in {"s", "2", "3", "-2", "-x", "x", "-v2", "js", "py"}


def _one_slip(one: str, other: str) -> bool:
    """Tell whether two names differ by one letter: removed, added, changed or swapped with its neighbour."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    first = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    rest, rest_other = one[first:], other[first:]
    return (
        rest[1:] == rest_other[1:]
        or rest[1:] == rest_other
        or rest == rest_other[1:]
        or (rest[:2] == rest_other[:2][::-1] and rest[2:] == rest_other[2:])
    )


def _owner(repository: str) -> str:
    parts = repository.lower().removeprefix("https://").split("/")
    return parts[1] if len(parts) >= 3 and parts[0] in ("github.com", "gitlab.com") else ""


def _match(severity: str, text: str, reason: str) -> CheckMatch:
    return CheckMatch(RULE, severity, Line(0, text, RUN), reason)

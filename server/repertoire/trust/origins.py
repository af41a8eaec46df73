"""Returns the severity of a download by its address: a known installer, an unknown host, a host of attacks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repertoire import linear
from repertoire.domain.trust import CRITICAL, HIGH, LOW, MEDIUM
from repertoire.trust.check import GRAVE, NOTABLE, SERIOUS, SLIGHT, Match
from repertoire.trust.scanned_text import CODE, COMMENT, PROSE, RUN, SHELL, Line

_URL = linear.compile(r"(?i)https?://[^\s\"'`)\]>|\\]+|\b(?:[a-z0-9-]+\.)+[a-z]{2,}/[^\s\"'`)|]*")
_OWN = re.compile(r"(?i)^(?:https?://)?(?:localhost|127\.|0\.0\.0\.0|\[::1\]|192\.168\.|10\.\d|host\.docker\.internal)")
# words that honest addresses do not have
_NAMED_SO = re.compile(
    r"(?i)//[^/\s]*(?:\b|[-_.])(?:evil|attacker|malicious|malware|exfil|backdoor)\b|/(?:payload|backdoor|malware|stage2)\b"
)
_NOBODY = linear.compile(
    r"(?i)example\.(?:com|org|net)|attacker|evil|malicious|<[^>]*>|\{|\$|your[-_.]|placeholder|\.test\b|\.example\b"
)
_NO_ONE_ELSE = re.compile(r"(?i)^https?://[\w.-]*(?:\.|//)example(?:\.\w+)?/|\.(?:example|test|invalid)/")
_UNSAFE = linear.compile(
    r"""(?i) ^http://  | ^(?:https?://)?(?:\d{1,3}\.){3}\d{1,3}(?:[:/]|$) | ^(?:https?://)?(?:[^/]*\.)?(?:
      pastebin\.com | hastebin\.com | rentry\.(?:co|org) | glot\.io | paste\.ee | dpaste\.\w+ | ghostbin
      | termbin\.com | transfer\.sh | file\.io | 0x0\.st | temp\.sh | oshi\.at | catbox\.moe | gofile\.io
      | anonfiles\.com | tmpfiles\.org | bit\.ly | tinyurl\.com | is\.gd | t\.co | goo\.gl | cutt\.ly | rebrand\.ly
      | shorturl\.at | ngrok(?:-free)?\.\w+ | trycloudflare\.com | serveo\.net | loca\.lt | bore\.pub
      | localtunnel\.me | webhook\.site | requestbin | pipedream\.net | oast\.\w+ | interact\.sh
      | burpcollaborator\.net | cdn\.discordapp\.com | [^/]*\.onion | xn--[^/]*
      | gist\.githubusercontent\.com )(?:[:/]|$)""",
    verbose=True,
)
_KNOWN = re.compile(
    r"""(?ix) ^(?:https://)?(?: (?:[\w-]+\.)*(?:
      astral\.sh | bun\.sh | rustup\.rs | get\.docker\.com | nodesource\.com | python-poetry\.org | deno\.land
      | deno\.com | pnpm\.io | yarnpkg\.com | claude\.ai | cli\.github\.com | volta\.sh | fnm\.vercel\.app
      | cloud\.google\.com | aka\.ms | k3s\.io | fluxcd\.io | linkerd\.io | aspire\.dev | ollama\.com | ollama\.ai
      | tailscale\.com | starship\.rs | nextflow\.io | factory\.ai | chocolatey\.org | scoop\.sh | nixos\.org
      | determinate\.systems | dl\.k8s\.io | foundry\.paradigm\.xyz | packages\.microsoft\.com | dot\.net
      | sentry\.io | fly\.io | railway\.app | railway\.com | opencode\.ai | cursor\.com | brew\.sh | sdkman\.io
      | devbox\.sh | mise\.run | mise\.jdx\.dev | dagger\.io | pulumi\.com | dapr\.io | supabase\.com | turso\.tech
      | infracost\.io | get\.helm\.sh | codecov\.io | getcomposer\.org | install\.meteor\.com | doppler\.com
      | influxdata\.com | hashicorp\.com | istio\.io | solana\.com | anza\.xyz | risczero\.com | ghcup\.haskell\.org
      | get-ghcup\.haskell\.org | julialang\.org | pixi\.sh | prefix\.dev | conda\.io | anaconda\.com
      | microsoft\.com | awscli\.amazonaws\.com | warp\.dev | zed\.dev | pypa\.io | gradle\.org )(?:[:/]|$)
    | raw\.githubusercontent\.com/(?:
      Homebrew|nvm-sh|ohmyzsh|helm|pyenv|docker|astral-sh|kubernetes-sigs|kubernetes|anchore|aquasecurity|rbenv
      |asdf-vm|golangci|trufflesecurity|k3d-io|render-oss|tmux-plugins|creationix|junegunn|tj|denoland|oven-sh
      |rust-lang|argoproj|fluxcd|cilium|hashicorp|microsoft|github|anthropics|dapr|istio|earthly|gruntwork-io
      |goreleaser|bufbuild|terraform-linters|securego|wagoodman|nektos|moby )/ | pkgx\.sh | sh\.rustup\.rs )"""
)
_UNKNOWN = {RUN: HIGH, SHELL: MEDIUM, PROSE: MEDIUM, CODE: LOW, COMMENT: HIGH}
_CUSTOMARY = {RUN: MEDIUM, SHELL: LOW, PROSE: LOW, COMMENT: LOW}


def by_source(match: Match, line: Line) -> Mapping[str, str]:
    """Return severities of a download by its addresses; a download without an address counts as an example."""
    found = [address.group() for address in _URL.finditer(match.group())]
    if not found:
        return NOTABLE if "$" in match.group() else SLIGHT
    if any(_OWN.search(address) for address in found):
        return {}
    if any(_UNSAFE.search(address) for address in found) and not all(_KNOWN.search(address) for address in found):
        is_example = line.place != RUN and _NOBODY.search(" ".join(found)) and not _NAMED_SO.search(" ".join(found))
        return SERIOUS if is_example else GRAVE
    if _NOBODY.search(" ".join(found)) and line.place != RUN:
        if _NAMED_SO.search(" ".join(found)):
            return {SHELL: HIGH, PROSE: HIGH, CODE: LOW, COMMENT: CRITICAL}
        return {SHELL: MEDIUM, PROSE: MEDIUM, COMMENT: HIGH} if _NO_ONE_ELSE.search(" ".join(found)) else {}
    return _CUSTOMARY if all(_KNOWN.search(address) for address in found) else _UNKNOWN


def by_source_if_any(match: Match, line: Line) -> Mapping[str, str]:
    """Return severities of a download by its addresses; a download without an address is as grave as the worst."""
    return by_source(match, line) if _URL.search(match.group()) else GRAVE

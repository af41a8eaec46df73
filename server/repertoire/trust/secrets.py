"""Finds real secrets in a component's text: tokens in the format of their service, too random to be examples."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from repertoire.domain.trust import HIGH
from repertoire.trust.check import CheckMatch
from repertoire.trust.scanned_text import ScannedText

RULE = "secret"
_NEEDLES = (
    *("sk-ant", "sk-proj", "_live_", "ghp_", "github_pat_", "glpat-", "aiza", "xoxb-", "npm_"),
    *("slack.com/services", "private key--", "secret_access_key"),
)
_TOKEN = re.compile(
    r"""(?x) (?<![A-Za-z0-9_-]) (?:
      sk-ant-(?:api\d\d-)?[A-Za-z0-9_-]{32,} | sk-proj-[A-Za-z0-9_-]{32,} | [sr]k_live_[A-Za-z0-9]{20,}
    | ghp_[A-Za-z0-9]{36} | github_pat_[A-Za-z0-9]{20,}_[A-Za-z0-9]{40,} | glpat-[A-Za-z0-9_-]{20}
    | AIza[A-Za-z0-9_-]{35} | xoxb-\d{8,}-\d{8,}-[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{36}
    | https://hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{24}
    ) (?![A-Za-z0-9_-])"""
)
_AWS = re.compile(r"(?i)aws_secret_access_key[\"'\s:=]+(?P<value>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----")
_EXAMPLE = re.compile(
    r"(?i)example|your|xxx|test|fake|dummy|sample|placeholder|redact|change|insert|secret|token|1234|abcd|qwerty|0000|aaaa|\.\.\.|\*\*\*|foobar|key"
)
_PREFIX = re.compile(
    r"(?:sk-ant-(?:api\d\d-)?|sk-proj-|[a-z]{2,6}_(?:live_)?|github_pat_|glpat-|AIza|AKIA|SG\.|https://\S+/)"
)
_BETWEEN = re.compile(r"\\n|[\s\"'+]")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]+")
_RANDOM = 3.4  # entropy per character; sequences and repeated words stay below it
_KEY_BODY = 400  # base64 characters that a real private key has at least
_KEY_ROOM = 20_000  # characters that are searched for the whole key


def secrets(document: ScannedText) -> Iterator[CheckMatch]:
    """Yield matches for lines that hold a secret which looks real."""
    seen: set[int] = set()
    for needle in _NEEDLES:
        for index in document.numbers_of(needle):
            if index in seen:
                continue
            seen.add(index)
            line = document.line(index)
            if any(is_real(value) for value in _values(line.text)) or (
                _KEY.search(line.text) and _has_body(document, index)
            ):
                yield CheckMatch(RULE, HIGH, line, "carries a secret that looks real: whoever reads this has it")


def is_real(value: str) -> bool:
    """Tell whether a token is random, and so no example."""
    prefix = _PREFIX.match(value)
    tail = value[prefix.end() :] if prefix else value
    if _EXAMPLE.search(tail):
        return False
    counts = Counter(tail)
    bits = -sum(n / len(tail) * math.log2(n / len(tail)) for n in counts.values())
    return bits >= min(_RANDOM, math.log2(max(len(tail), 2)) - 0.8)


def _values(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        yield match.group()
    for match in _AWS.finditer(text):
        yield match["value"]


def _has_body(document: ScannedText, index: int) -> bool:
    first = document.numbers[index] - 1
    near = "".join(document.whole[first : first + 60])
    begins = near.find("-----BEGIN")
    body = near[begins : begins + _KEY_ROOM].partition("-----BEGIN")[2].partition("-----END")[0]
    body = _BETWEEN.sub("", body.partition("PRIVATEKEY-----")[2] or body.partition("-----")[2])
    return len(body) >= _KEY_BODY and _BASE64.fullmatch(body) is not None and len(set(body)) > 40

"""Redacts issued credentials in documentation, and leaves the placeholders that it teaches with.

`trust/redaction.py` is made for prompts: it also takes what merely stands where a secret would. In 470 pages of three
public documentations all of its 54 marks replaced examples, such as `_authToken=MYTOKEN` or `package.json` after `key`.
"""

from __future__ import annotations

import re

from repertoire.trust.redaction import SECRET, detected, prefixed
from repertoire.trust.secrets import is_real

_KEY_BLOCK = re.compile(
    r"(-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)([^-]{200,20000})(-----END [A-Z0-9 ]*-----)"
)
_LOGIN = re.compile(r"(?<=://)(?P<name>[^\s/@:]{0,200}):(?P<password>[^\s/@:]{12,200})(?=@)")
_SHORTEST = 16  # characters of a credential that no person chose
_LETTERS = 12  # different characters of one


def redact_document(text: str) -> str:
    """Return a text with a mark for each credential that a service or a program issued."""
    text = _KEY_BLOCK.sub(lambda match: match[1] + SECRET + match[3] if _is_random(match[2]) else match[0], text)
    text = _LOGIN.sub(lambda match: SECRET if _is_random(match["password"]) else match[0], text)
    for value in {*prefixed(text), *detected(text)}:
        if _is_random(value) and is_real(value):
            text = text.replace(value, SECRET)
    return text


def _is_random(value: str) -> bool:
    bare = "".join(value.split())
    kinds = sum(any(kind(one) for one in bare) for kind in (str.islower, str.isupper, str.isdigit))
    return len(bare) >= _SHORTEST and len(set(bare)) >= _LETTERS and kinds >= 2

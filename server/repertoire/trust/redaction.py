"""Redacts secrets and email addresses in a prompt before any of it is stored; other text stays unchanged.

detect-secrets knows the formats of many services but is made for code: it misses passwords in sentences, whole key
blocks and newer prefixes, so further patterns run beside it. It gets strings, never files, and never verifies a secret,
so that no request leaves the machine.
"""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Protocol

from repertoire import linear

Match = re.Match[str] | linear.LinearMatch
SECRET, ADDRESS = "[secret]", "[email]"
RANDOM_BITS = 4.2  # entropy per character that names in code stay below and 32 random base64 characters reach
_TELLING = 6  # characters of a secret that is redacted wherever it occurs again
MOST = 20_000  # characters that are read; the rest of a longer text is cut off

_DETECTORS = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("basic_auth", "BasicAuthDetector"),
    ("cloudant", "CloudantDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("ibm_cloud_iam", "IbmCloudIamDetector"),
    ("ibm_cos_hmac", "IbmCosHmacDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("softlayer", "SoftlayerDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)

_KEY_BLOCK = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL
)
_URL_LOGIN = re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)")
_PREFIXED = linear.compile(
    r"""(?P<before>^|[^A-Za-z0-9])(?:
      sk-[A-Za-z0-9_-]{16,} | [rsp]k_(?:live|test)_[A-Za-z0-9]{10,} | gh[opusr]_[A-Za-z0-9]{20,}
    | github_pat_[A-Za-z0-9_]{20,} | gl[a-z]{2,4}-[A-Za-z0-9_-]{20,} | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{20,}
    | xox[a-z]-[A-Za-z0-9-]{10,} | xapp-[A-Za-z0-9-]{10,} | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{16,}
    | (?:hf_|lsv2_[a-z]{2}_)[A-Za-z0-9_]{20,} | gsk_[A-Za-z0-9]{20,} | xai-[A-Za-z0-9]{20,} | r8_[A-Za-z0-9]{20,}
    | (?:dckr_pat_|GOCSPX-|pplx-|tvly-)[A-Za-z0-9_-]{20,}
    | do[opr]_v1_[a-f0-9]{32,} | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,} | hv[sb]\.[A-Za-z0-9_-]{20,}
    | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32} | lin_api_[A-Za-z0-9]{30,} | figd_[A-Za-z0-9_-]{20,} | sbp_[a-f0-9]{30,}
    | (?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16} | AGE-SECRET-KEY-1[A-Z0-9]{50,} | EAACEdEose0cBA[A-Za-z0-9]+
    | rpc_[a-z0-9-]{1,40}_[0-9a-f]{12}_[A-Za-z0-9-]{20,50} | whsec_[A-Za-z0-9+/=]{20,} | tskey-[a-z]+-[A-Za-z0-9-]{16,}
    | nvapi-[A-Za-z0-9_-]{40,} | dapi[a-f0-9]{32} | pul-[a-f0-9]{40} | glsa_[A-Za-z0-9_]{32,} | NRAK-[A-Z0-9]{27}
    | ATATT3[A-Za-z0-9_=-]{40,} | sntry[su]_[A-Za-z0-9=+/_-]{32,} | dp\.(?:pt|st|sa|ct)\.[A-Za-z0-9]{40,}
    | PMAK-[a-f0-9]{24}-[a-f0-9]{34} | discord(?:app)?\.com/api/webhooks/[0-9]{5,}/[A-Za-z0-9_-]{20,}
    | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    )""",
    verbose=True,
)
_BEARER = re.compile(r"(?i)\b(?:bearer|basic|token)[ \t]+(?P<value>[A-Za-z0-9._~+/=-]{12,})")
_AWS_KEY = re.compile(  # it has no form of its own, and some have too few digits to look random
    r"(?:A[KS]IA[A-Z0-9]{16}|(?<!\[)(?i:secret(?:[ _-](?:access[ _-])?key)?))[\s\"'`:=,/]{1,3}"
    r"(?=[A-Za-z+/]{0,39}[0-9])(?=[a-z0-9+/]{0,39}[A-Z])(?P<value>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/_=-])"
)
_CREDENTIAL_WORDS = r"passw(?:or)?[dt]|passphrase|pwd|secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key"
# letters and punctuation that go on behind a secret without a blank
_UNPARTED = r"\x{3000}-\x{30ff}\x{3400}-\x{9fff}\x{ac00}-\x{d7af}\x{ff00}-\x{ffef}"
_NAMED = linear.compile(
    rf"""(?i) (?P<name> (?:^|[^a-z0-9])[a-z0-9_.-]{{0,40}}
        (?:{_CREDENTIAL_WORDS}|credentials?)
        [a-z0-9_]{{0,20}} ["'`\]]{{0,2}} [ \t]*) (?P<sign>:=|=>|[:=\x{{ff1a}}\x{{ff1d}}]|[ \t]is[ \t]) [ \t\x{{3000}}]*
        (?P<quote>["'`]?) (?P<value>[^{linear.SPACE.strip("[]")}"'`,;{_UNPARTED}]{{4,}})""",
    verbose=True,
)
_FOREIGN_WORDS = (
    r"(?:kenn|pass)wort|mot[ ]de[ ]passe|contrase[ñn]a|senha|wachtwoord|hasło|пароль|パスワード|密[码碼]|口令|비밀번호"
)
_FOREIGN_KEYS = r"api[ -]?(?:schlüssel|ключ|[密金][钥鑰]|キー|키)|(?:cl[ée]|clave|chave|ключ)[ ](?:d['aeo][ ]?)?api"
_TYPED = r"[!#-&(-+\--:<-_a-~]"  # what a password is typed with: printable ASCII, but for what may stand around one
_ALSO_NAMED = linear.compile(
    rf"""(?i) (?P<name> (?: (?:^|[^a-z0-9_.-])(?:[a-z0-9_.-]{{0,40}}[_.])?(?:pass|pw)|{_FOREIGN_WORDS}|{_FOREIGN_KEYS})
        ["'`\]]{{0,2}} [ \t\x{{a0}}]*)
        (?P<sign>[:=\x{{ff1a}}\x{{ff1d}}は是为為는은]|(?:\b(?:is|ist|lautet|est|es)|é)[ \t]) [ \t\x{{3000}}]*
        (?P<quote>["'`]?) (?P<value>{_TYPED}{{4,}})""",
    verbose=True,
)
_TOLD = linear.compile(
    rf"""(?i) (?P<name>\b(?:with|and|using|mit|und|avec|con)[ \t]+(?:(?:the|a|my|dem|le|la)[ \t]+)?
        (?:passw(?:or)?[dt]|passphrase|pwd?|{_FOREIGN_WORDS})) (?P<sign>[ \t]+)
        (?P<quote>["'`]?) (?P<value>{_TYPED}{{4,}})""",
    verbose=True,
)
# A client of MySQL is a word or lies in a `bin`: in another path, as `-I/usr/include/mysql`, it is no command.
_OPTION = linear.compile(
    rf"""(?P<name> (?:^|[^\w-]) (?: sshpass[ ]+-p[ ]* | redis-cli[ ](?:[^\n|;&]{{0,200}}[ ])?-a[ ]+
        | (?:docker|podman|az|oc)[ ]login[ ](?:[^\n|;&]{{0,200}}[ ])?-p[ ]+ )
        | (?:^|[^\w./-]) (?:[\w.~/-]{{0,100}}/bin/)? (?:mysql|mariadb)[a-z-]{{0,20}}[ ](?:[^\n|;&]{{0,200}}?[ ])??-p )
        (?P<quote>["']?) (?P<value>{_TYPED}{{3,}})""",
    verbose=True,
)
# What is left of other programs' options, as `-pthread` and `-perm`, without their `-p`; and a port.
_NO_OPTION = re.compile(
    r"(?i)(?:thread|rint|erm|ath|ipe|ort|arent|latform|arallel|roject|rofile|ackage|lugin|reserve|rune|urge|id)"
    r"(?:s|line|0|=.*)?|[0-9.:]+(?:/(?:tcp|udp))?"
)
_UNTOLD = re.compile(r"(?i)(?:^|[^a-z0-9_.-])pass[ \t\xa0]*$")  # `pass: 12 tests`, and no password's name
# A step of a compiler or a result as often as a password; `PASS=` is a variable of a shell.
_BARE = re.compile(r"(?:^|[^A-Za-z0-9_-])(?:[Pp]ass|[Pp]w)[ \t\xa0]*$")
# A share of tests, an address, a C++ name, a number with its unit, a version: what is said of a pass, and no password.
_RESULT = re.compile(
    r"(?i)[0-9]+/[0-9]+|0x[0-9a-f]+|[a-z_]\w*::.*|[0-9.]+(?:ms|[a-z%])?|[a-z]*[@v-]?[0-9]+(?:\.[0-9]+)+(?:-?[a-z]+[0-9]*)?"
)
# The end of a name whose value is a secret, and not what is only said of one (`token_path`, `tokenizer`).
_NAMES_A_SECRET = re.compile(rf"(?i)(?:{_CREDENTIAL_WORDS}|pass|pw|{_FOREIGN_WORDS})[\"'`\]]{{0,2}}[ \t]*$")
_OF_A_PASSWORD = re.compile(rf"(?ix)pass|pwd?\b|{_FOREIGN_WORDS}")
_FLAG = re.compile(
    r"""(?ix) (?: (?<!-)--(?:[a-z-]{0,30}(?:passw(?:or)?d|passphrase|secret|token|key)|(?:[a-z-]{0,30}-)?(?:pass|pw))
                  [ =](?P<quote>["']?) (?=[^\s"'-])
                | (?<![\w-])(?P<login>-u|--(?:proxy-)?user)[ =]["']?(?=[^\s"':]+:[^\s"':]) ) (?P<value>[^\s"']{4,})"""
)
_GROUPS = frozenset("root wheel staff users docker nogroup www-data daemon adm sudo".split())  # after `--user root:`
_STANDS_FOR = re.compile(  # what an example shows in place of a secret
    rf"(?i)(?:[a-z]+[_-])*(?:(?:{_CREDENTIAL_WORDS}|pass|pw|key)|(?:your|example|placeholder|change[_-]?me)[a-z_-]*)"
    r"|<.*>?|abc123[a-z0-9]*|.*(?:x{5}|\*{3}|\.{3}).*"
)
_KEY_VARIABLE = linear.compile(
    r"""(?P<name>(?:^|[^A-Za-z0-9_])[A-Z][A-Z0-9_]{0,40}_KEY)(?P<sign>=)(?P<quote>["'`]?)(?P<value>[A-Za-z0-9_.+=-]{8,})"""
)
_NO_KEY = re.compile(
    r"\W?(?:\w+_)?(?:PRIMARY|FOREIGN|CACHE|SORT|PARTITION|PUBLIC|STORAGE|REGISTRY|INDEX|HOT|USER|OBJECT|SHORTCUT)_KEY"
)
_COUNTED = re.compile(r"(?:[A-Za-z]+[-_.])+[A-Za-z]?[0-9]{1,4}|id_(?:rsa|dsa|ecdsa|ed25519)")  # as `deps-v2`, a name
_NETRC = linear.compile(
    rf"""(?i) (?P<name> (?:\bmachine\s+\S{{1,100}}\s+)? \blogin\s+\S{{1,64}}\s+password) (?P<sign>[ \t]+)
        (?P<quote>["'`]?) (?P<value>{_TYPED}{{4,}})""",
    verbose=True,
)
_NPMRC = linear.compile(
    r"""(?m)(?P<name>(?:^|[\s:])_auth)(?P<sign>=)(?P<quote>["']?)(?P<value>[A-Za-z0-9+/]{8,}={0,2})"""
)
_SIGNED = linear.compile(
    r"(?i)(?P<name>[?&;](?:x-(?:amz|goog)-signature|sig|signature))(?P<sign>=)(?P<value>[a-z0-9%+/_=-]{16,})"
)
_COOKIES = linear.compile(r"""(?i)\bcookie:[ \t]*[^\n"'`]*""")
_COOKIE = linear.compile(r"""(?P<name>[\w.-]{1,60})=(?P<value>[^\s;,"'`/][^\s;,"'`]{7,})""")
_LETTER = r"A-Za-z\u00c0-\u024f\u0400-\u04ff"  # not of scripts that part no words: they go on behind an address
_ADDRESS = re.compile(
    rf"(?:(?<=(?i:mailto:))|(?<![{_LETTER}0-9._%+/:@-]))(?!git@)[{_LETTER}0-9][{_LETTER}0-9._%+-]{{0,63}}"
    rf"@(?:[{_LETTER}0-9-]{{1,63}}\.)+[{_LETTER}]{{2,24}}(?![{_LETTER}0-9_])"
)
_BLOB = re.compile(r"(?<![A-Za-z0-9+/_=-])(?:[A-Za-z0-9+_=]{32,}|[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/_=-])")

# Every pattern of the detectors needs one of these in its line; they take ten times as long to say so themselves.
_TELLING_LINES = linear.compile(
    r"(?im)^.*(?:[a-z\pN+/_=-]{20}|akc[a-z0-9]{10}|ap[a-f\pN][a-z0-9]{8}|://|eyj|_authtoken=|xox[abpors]-|sq0csp-).*$"
)
_CODE = re.compile(
    r"[$<{\[(*]|[A-Za-z_][\w.]*[(\[{]|(?:process\.env|os\.environ|import\.meta|[A-Za-z_]+\.[A-Za-z_.]+$)"
)
_WORDS_FOR_A_FIELD = frozenset(
    """any bool boolean bytes char false field fields hashed hidden int integer missing must none null number
    optional password passwords required secret secretstr should str string strings text true undefined unknown value
    varchar""".split()
)
_PLAIN = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*[.!?:)]*|[a-z]+(?:_[a-z]+)+[.!?:)]*|[0-9.]+")
_TECHNICAL = frozenset(
    """sha1 sha256 sha512 md5 base64 oauth2 utf8 utf-8 hs256 rs256 es256 argon2 ed25519 x509 k8s http2 i18n int32
    int64""".split()
)
_SCHEME = re.compile(  # how passwords are hashed
    r"(?:[a-z]+[-_])?(?:scram[a-z0-9_-]{0,16}|md5(?:sum)?|[bs]crypt|argon2?(?:id|i|d)?|pbkdf2?(?:[-_][a-z0-9_-]{1,16})?"
    r"|sha-?[0-9]{1,3})"
)
_A_PASS = re.compile(r"--(?P<of>[a-z-]{0,30}-)?(?:pass|pw)[ =]", re.IGNORECASE)
_NAME_OF_A_PASS = re.compile(r"[a-z-]{10,}[0-9]")  # as `instcombine2`, which is long for a password in an option


class Detector(Protocol):
    """The interface of a detect-secrets plugin."""

    def analyze_string(self, string: str) -> Iterator[str]:
        """Yield the secrets in a line."""


def redact(text: str) -> str:
    """Return the text with every secret and email address replaced by a mark; redacting twice changes nothing more."""
    text = _without_known_forms(_KEY_BLOCK.sub(SECRET, text[:MOST]))
    found: set[str] = set()
    text = _COOKIES.sub(lambda match: _COOKIE.sub(_value_unless(_is_no_issued, found), match.group()), text)
    for pattern, harmless in _NAMING:
        text = pattern.sub(_value_unless(harmless, found), text)
    for value in found:  # a value that was named as a secret once is one everywhere
        if len(value) >= _TELLING and not _PLAIN.fullmatch(value):
            text = text.replace(value, SECRET)
    text = _BLOB.sub(lambda match: SECRET if _is_random(match.group()) else match.group(), text)
    return _ADDRESS.sub(ADDRESS, text)


def without_key_blocks(text: str) -> str:
    """Return a text of any length without private keys, which are known by their first and last lines."""
    return _KEY_BLOCK.sub(SECRET, text)


def redact_file(text: str, *, bare: bool = False) -> str:
    """Return a program or document of any length without its secrets; every line keeps its number.

    What only reads like a secret in a sentence (`token=token`) is code here and stays; so do addresses. A value that is
    named as a secret is one in quotes, or `bare` where the format needs none, as YAML.
    """
    text = _without_known_forms(_KEY_BLOCK.sub(lambda match: SECRET + "\n" * match.group().count("\n"), text))
    for pattern in (_NAMED, _ALSO_NAMED):
        text = pattern.sub(lambda match: _without_value(match) if _is_secret(match, bare) else match.group(), text)
    return _BLOB.sub(lambda match: SECRET if _is_random(match.group()) else match.group(), text)


def _without_known_forms(text: str) -> str:
    text = _AWS_KEY.sub(_without_value, _URL_LOGIN.sub(SECRET, text))
    text = _PREFIXED.sub(lambda match: match["before"] + SECRET, text)
    for secret in detected(text):
        text = text.replace(secret, SECRET)
    return text


def _is_secret(match: Match, bare: bool) -> bool:  # noqa: FBT001 - as `redact_file` was told
    """Tell whether a value in code is a secret: it mixes letters with digits or signs, as no name or word does."""
    value = match["value"]
    if not (match["quote"] or (bare and _NAMES_A_SECRET.search(match["name"]))) or len(value) < 6:
        return False
    if _is_no_secret(match):
        return False
    return any(letter.isalpha() for letter in value) and not value.replace("-", "").replace("_", "").isalpha()


def _without_value(match: Match) -> str:
    return match.group().removesuffix(match["value"]) + SECRET


def prefixed(text: str) -> Iterator[str]:
    """Yield the tokens in a text that begin as those of a service do."""
    for match in _PREFIXED.finditer(text):
        yield text[match.start() + len(match["before"]) : match.end()]


def detected(text: str) -> list[str]:
    """Return what the detectors of services' formats find in a text, in the order of its lines."""
    telling = [line for match in _TELLING_LINES.finditer(text) for line in match.group().splitlines()]
    found = (secret for line in telling for one in _detectors() for secret in one.analyze_string(line))
    return [secret for secret in found if len(secret) >= 4 and secret not in SECRET]


@lru_cache(maxsize=1)
def _detectors() -> tuple[Detector, ...]:
    # Imported late: detect-secrets imports an HTTP library, 80 ms and 20 MB that an idle server does not need.
    return tuple(
        getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in _DETECTORS
    )


def _value_unless(harmless: Callable[[Match], bool], found: set[str]) -> Callable[[Match], str]:
    def replace(match: Match) -> str:
        if harmless(match):
            return match.group()
        found.add(match["value"])
        return _without_value(match)

    return replace


def _is_word(match: Match) -> bool:
    """Tell whether a value is words, as in `bearer authentication` or `basic 2-factor-login`, and no token."""
    parts = match["value"].rstrip(".").split("-")
    return all(part.isalpha() or (len(parts) > 1 and len(part) <= 2) for part in parts)


def _is_code(match: Match) -> bool:
    return bool(_CODE.match(match["value"]))


def _is_no_secret(match: Match) -> bool:
    value, word = match["value"], match["value"].lower().rstrip(".!?:)")
    if _is_code(match) or word in _TECHNICAL or _SCHEME.fullmatch(word):
        return True
    if match["quote"]:
        return False
    if value.isdigit():
        return len(value) < 6
    return bool(_PLAIN.fullmatch(value)) and (word in _WORDS_FOR_A_FIELD or not _is_assigned(match))


def _is_no_password(match: Match) -> bool:
    """Tell whether a value after a short or foreign name of a password is none, as a result of tests after `pass:`."""
    name = match["name"]
    if _is_no_secret(match) or _RESULT.fullmatch(match["value"]):
        return True
    if match["sign"] != "=" and _UNTOLD.search(name):
        return True
    return bool(_BARE.search(name)) and not (match["quote"] or _is_mixed(match["value"]))


def _is_mixed(value: str) -> bool:
    """Tell whether a value mixes letters and digits, as no word of a sentence and no path does."""
    return len(value) > 5 and any(map(str.isalpha, value)) and any(map(str.isdigit, value)) and "/" not in value


def _is_no_told_password(match: Match) -> bool:
    """Tell whether a word after `with password` is one of the sentence: it is no mixture of letters and digits."""
    value = match["value"]
    return _is_no_secret(match) or not (_is_mixed(value) or match["quote"] or value.isdigit())


def _is_no_flag(match: Match) -> bool:
    """Tell whether an option's value is no secret, as a step of a compiler after `--pass`."""
    value, a_pass = match["value"], _A_PASS.match(match.group())
    if match["login"]:
        return _is_code(match) or _is_no_login(*value.split(":", 1), of_a_process=match["login"] == "--user")
    if _is_code(match) or match["quote"] or not a_pass:
        return _is_code(match)
    a_name = _NAME_OF_A_PASS.fullmatch(value) or not _is_mixed(value)
    return bool(_RESULT.fullmatch(value) or (not a_pass["of"] and a_name))


def _is_no_login(name: str, password: str, *, of_a_process: bool) -> bool:
    """Tell whether what an option `--user` names is no login: a user with a group, an address, an example."""
    group = password in _GROUPS or (password.startswith(name) and password.isalpha())
    numbers = name.isdigit() and password.isdigit()
    return numbers or (of_a_process and group) or _is_example(password) or password.startswith("//")


def _is_example(value: str) -> bool:
    return _STANDS_FOR.fullmatch(value) is not None


def _is_no_issued(match: Match) -> bool:
    """Tell whether a value is none that a program made up: it mixes no letters with digits, or stands for one."""
    value = match["value"].replace("/", "")
    return not _is_mixed(value) or _is_code(match) or _is_example(value)


def _is_no_key(match: Match) -> bool:
    """Tell whether a variable whose name ends in `_KEY` holds no secret, as one of a cache."""
    return bool(_NO_KEY.fullmatch(match["name"]) or _COUNTED.fullmatch(match["value"])) or _is_no_issued(match)


def _is_no_netrc(match: Match) -> bool:
    if match["name"][:7].lower() != "machine":
        return _is_no_told_password(match)
    return _is_code(match) or _is_example(match["value"])


def _is_no_basic(match: Match) -> bool:
    """Tell whether a value is not Base64 of a login, which mixes capitals with other letters."""
    return match["value"].islower() or match["value"].isupper()


def _is_no_option(match: Match) -> bool:
    return _is_code(match) or bool(_NO_OPTION.fullmatch(match["value"]))


_NAMING = (
    (_BEARER, _is_word),
    (_FLAG, _is_no_flag),
    (_OPTION, _is_no_option),
    (_NAMED, _is_no_secret),
    (_ALSO_NAMED, _is_no_password),
    (_TOLD, _is_no_told_password),
    (_KEY_VARIABLE, _is_no_key),
    (_NETRC, _is_no_netrc),
    (_NPMRC, _is_no_basic),
    (_SIGNED, _is_no_issued),
)


def _is_assigned(match: Match) -> bool:
    """Tell whether a plain word is a value, as in `password=swordfish`, rather than a word of a sentence."""
    sign = match.start() + len(match["name"])
    if match["sign"] == "=" and " " not in match.string[sign - 1 : sign + 2]:
        return True
    ends_line = match.string[match.end() : match.end() + 1] in {"", "\n", "\r"}
    return match["sign"] in ":\uff1a" and ends_line and _OF_A_PASSWORD.search(match["name"]) is not None


def _is_random(text: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    if min(sum(kind(character) for character in text) for kind in kinds) < 3:
        return False
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) >= RANDOM_BITS

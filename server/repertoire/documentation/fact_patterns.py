"""Defines the expressions that recognise facts in documentation; all are linear in what strangers wrote."""

from __future__ import annotations

from repertoire import linear

_CODE = r"`([^`\n]{1,120})`"
_SOFTWARE = (
    r"(?:Node(?:\.js)?|Python|Rust|Go|Java|npm|git|Git|OpenSSL|TypeScript|Cargo|Deno|Bun|Linux|macOS|Windows|Docker)"
)
_NUMBER = r"v?[0-9]{1,3}(?:\.[0-9]{1,4}){1,3}"
_RELEASE = (
    rf"(?:(?:version|release)[ \n]v?[0-9]{{1,3}}(?:\.[0-9]{{1,4}}){{0,3}}|v[0-9]{{1,3}}|(?:{_SOFTWARE}[ \n])?{_NUMBER})"
)
_CHANGED = "added|introduced|available|deprecated|changed|removed|stabilized|supported|new|renamed|required|enabled"
SINCE = linear.compile(
    rf"(?i)\b(?:{_CHANGED})[ \n](?:(?:to|from)[ \n]\w{{1,20}}[ \n])?(?:in|since|as[ \n]of|from|with)[ \n](?:the[ \n])?"
    rf"[`*]{{0,2}}(?:\w{{1,20}}[ \n])?{_RELEASE}"
    rf"|\b(?:Since|As[ \n]of|Starting[ \n](?:with|in|from)|From)[ \n](?:\w{{1,20}}[ \n])?{_RELEASE}"
    rf"|\bversion(?:added|changed|removed):[ \n]{{0,2}}v?[0-9]|\bdeprecated:[ \n]v?[0-9]"
)
NEEDS = linear.compile(
    rf"\b(?:requires?|depends[ \n]on|needs)[ \n](?:(?:a|an|the|at[ \n]least|either)[ \n])?(?:version[ \n])?"
    rf"(?:{_CODE}|(?:[a-z]{{1,20}}[ \n])?({_SOFTWARE})\b(?:[ \n](?:version[ \n])?v?[0-9][\w.]{{0,12}})?"
    r"|(v?[0-9]+(?:\.[0-9]+)+))"
)
MUST = linear.compile(
    r"(?i)\bmust[ \n](?:be|have|already[ \n]be|already[ \n]have)[ \n](?:been[ \n])?installed\b"
    r"|\bminimum[ \n](?:supported[ \n]|required[ \n])?(?:\w{1,20}[ \n])?version\b"
)
NOT_NEEDED = linear.compile(
    r"(?i)\b(?:no longer|not|never|n't|if|whether|when)[ \n](?:\w{1,20}[ \n]){0,6}(?:requires?|depends|needs?)\b"
)
BEFORE = linear.compile(
    rf"^(?:The|A|An|Using|To use)?[ \n]?(?:{_CODE}|\*{{1,2}}([\w.@/ -]{{1,60}})\*{{1,2}})[^.,;:]{{0,30}}$"
)
TERM = linear.compile(
    r"^(?:(?:A|An|The|In \w{1,20}, (?:a |an |the )?)[ \n])?"
    r"(?:\*\*([^*\n]{2,60})\*\*|__([^_\n]{2,60})__|\*([^*\n]{2,60})\*|_([^_\n]{2,60})_|`([^`\n]{2,60})`"
    r"|([A-Za-z][\w -]{1,40}?))"
    r"(?:[ \n]\([^()\n]{1,60}\))?"
    r"[ \n](?:(?:is|are)[ \n](?:a|an|the|any|one[ \n]of|what|how|used[ \n](?:to|for))"
    r"|refers?[ \n]to|means|stands[ \n]for|represents?|describes?)[ \n]"
)
CALLED = linear.compile(
    r"\b(?:is|are)[ \n](?:called|known[ \n]as|referred[ \n]to[ \n]as)[ \n](?:the[ \n]|an?[ \n])?"
    r"(?:\*\*([^*\n]{2,60})\*\*|\*([^*\n]{2,60})\*|_([^_\n]{2,60})_)"
)
OPTION_ITEM = linear.compile(
    r"^[ \t>]{0,24}(?:[-*+]|[0-9]{1,4}[.)])[ \t]+(?:\*\*|__)?`?"
    r"((?:--?)?[A-Za-z_$@][\w.$@/-]{0,60})(?:[ =<\[][^`*\n:]{0,40})?`?(?:\*\*|__)?`?[?]?[ \t]*"
    r"(?:[:`{(<\x{2013}\x{2014}-]|$)"
)
DEFAULTS = linear.compile(
    r"(?i)(?:\bdefaults?(?:[ \n]value)?\*{0,2}[ \n]?(?:[:=]|to\b|is\b|`)|\(default\b)\*{0,2}[ \n]*[^\n]"
)
OWN_DEFAULT = linear.compile(r"(?i)^[ \t>]{0,24}[-*+][ \t]+\*{0,2}default\*{0,2}[ \t]*:")
NAMED_DEFAULT = linear.compile(
    rf"^(?:The )?(?:{_CODE}[ \n](?:option[ \n]|parameter[ \n]|setting[ \n]|field[ \n])?defaults[ \n]to\b"
    rf"|[Tt]?h?e?[ ]?default[ \n](?:value[ \n])?(?:of|for)[ \n](?:the[ \n])?{_CODE}[ \n](?:\w{{1,20}}[ \n])?is\b)"
)
EXTENSION = linear.compile(rf"^(?:Extends|Inherits from|Subclass of):?[ \n]{_CODE}")
INSTEAD = linear.compile(rf"(?i)\b(?:use|prefer|replaced by|in favou?r of)[ \n](?:the[ \n])?{_CODE}")
OUTDATED = linear.compile(r"(?i)\bdeprecated\b|\bobsolete\b")
MARKED = linear.compile(r"`([^`\n]{1,120})`")
CALL = linear.compile(
    r"^(?:(?:new|class|static|async|get|set|fn|func|function|method|property|event|module)[ :]{1,2})?"
    r"([\w$.:@/#<>-]{2,80})[ ]?(?:\(.*)?$"
)
MARKUP = linear.compile(r"\[([^\]\n]{0,200})\]\([^()\n]{0,400}\)|\[([^\]\n]{1,200})\]\[[^\]\n]{0,100}\]|(\*\*|__)")
PRONOUNS = frozenset(
    "it this that these those they he she we you there here what which who one both each all some another everything "
    "nothing something anything first second third next last result value idea point reason problem rest "
    "chapter section listing figure table before after only always never during once if when".split()
)
# what a sentence says of itself or of the one before it tells nothing when it stands alone
DANGLES = linear.compile(
    r"(?i)^(?:before |both |let |this|that|it|these|those|they|which|so|then|but|and|or|if you|for example)\b"
    r"|\b(?:we|us|let['\x{2019}]s|we['\x{2019}](?:re|ll|ve)|our|I)\b"
    r"|\b(?:previous|next|following) (?:chapter|section|example|listing)\b|\bListing \d"
)
POINTS = linear.compile(r"(?i)\b(?:this|these|case|it|example)\b")
NO_VALUE = frozenset(("", "-", "\u2013", "\u2014", "n/a", "none.", "no default"))

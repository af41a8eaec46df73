"""What requests and answers of the REST door hold; the OpenAPI description is made of these."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema
from typing_extensions import Self

from repertoire.app.traces.fields import TraceFields
from repertoire.commons.keys import DAYS, MOST_DAYS, NAME
from repertoire.commons.traces import Changes
from repertoire.domain.errors import InvalidRequest
from repertoire.domain.trace import COMPLAINTS, NOTE, TAGS, TEXT, TITLE, USES, WORKED
from repertoire.learning.shared_use import MOST, MOST_PASSED

Scope = Literal["read", "contribute", "vote", "moderate", "admin"]
Tier = Literal["usual", "high"]
Outcome = Literal["worked", "partly", "failed"]
Place = Literal["language", "framework", "os", "package_manager", "runtime"]
_LINE = 500
_WORDS = r"[^\s\x00-\x1f\x7f-\x9f]"  # a text without any such character says nothing


def _day(text: str) -> str:
    if text and date.fromisoformat(text).isoformat() != text:
        message = "send a day as 2026-12-31"
        raise ValueError(message)
    return text


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value  # 30.0 is an integer in JSON Schema


Title = Annotated[str, Field(min_length=1, max_length=TITLE, pattern=_WORDS)]
Text = Annotated[str, Field(min_length=1, max_length=TEXT, pattern=_WORDS)]
Day = Annotated[
    str,
    AfterValidator(_day),
    WithJsonSchema({"anyOf": [{"const": ""}, {"type": "string", "format": "date"}], "description": "Or empty."}),
]
Note = Annotated[str, Field(max_length=NOTE)]
Whole = Annotated[int, BeforeValidator(_whole)]


class Body(BaseModel):
    """A part of a request; unknown fields, and values of another type, are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class TraceIn(Body):
    """A trace as it is contributed."""

    title: Title
    context: Text = Field(description="The problem: what was seen, what was tried.")
    solution: Text
    tags: list[str] = Field(default_factory=list, max_length=TAGS)
    environment: dict[Place, str] = Field(default_factory=dict)
    outcome: Outcome = "worked"
    uses: list[str] = Field(default_factory=list, max_length=USES)
    review_after: Day = ""
    watch: Note = ""
    licence: str = Field(default="", max_length=_LINE)
    supersedes: str = Field(default="", max_length=_LINE, description="The id of the trace that it amends.")

    def told(self) -> TraceFields:
        """Return the fields of the trace, as the service stores them."""
        values = self.model_dump()
        return TraceFields(**{**values, "tags": tuple(self.tags), "uses": tuple(self.uses)})


class AmendIn(Body):
    """The changed parts of a trace."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    # from factories, so that no default is described: a field that is not sent stays as it was
    title: Title = Field(default_factory=str)
    context: Text = Field(default_factory=str)
    solution: Text = Field(default_factory=str)
    outcome: Outcome = Field(default_factory=lambda: "worked")
    review_after: Day = Field(default_factory=str)
    watch: Note = Field(default_factory=str)

    def changes(self) -> dict[str, str]:
        """Return the fields that were sent.

        Raises:
            InvalidRequest: there are none.
        """
        sent: dict[str, str] = self.model_dump(exclude_unset=True)
        if not sent:
            message = "nothing is changed; send what is new, such as the solution"
            raise InvalidRequest(message)
        return sent


# What the rules of votes refuse: a vote for a trace that bears a complaint.
_COMPLAINT_FOR: dict[str, JsonValue] = {
    "properties": {"vote": {"const": "up"}, "tag": {"enum": list(COMPLAINTS)}},
    "required": ["vote", "tag"],
}


class VoteIn(Body):
    """A vote on a trace."""

    model_config = ConfigDict(json_schema_extra={"not": _COMPLAINT_FOR})

    vote: Literal["up", "down"]
    tag: Literal["", "outdated", "wrong", "security_concern", "spam"] = ""
    note: Note = ""
    environment: dict[Place, str] = Field(default_factory=dict)


class FlagIn(Body):
    """Why a trace is harmful."""

    reason: str = Field(min_length=1, max_length=NOTE, pattern=_WORDS)


class KeyIn(Body):
    """The key to make, and its member, who is made where there is none."""

    member: str = Field(pattern=rf"^{NAME}$")
    scopes: list[Scope] = Field(min_length=1, max_length=5)
    days: Whole = Field(default=DAYS, ge=1, le=MOST_DAYS)
    vouched: bool | None = Field(default=None, description="Whether the administrator vouches for the member's votes.")
    tier: Tier = Field(default="usual", description="How much the key may send in an hour.")


class BanIn(Body):
    """Why a member is banned."""

    reason: str = Field(min_length=1, max_length=NOTE, pattern=_WORDS)


Component = Annotated[str, Field(max_length=_LINE)]


class UseIn(Body):
    """The components that a member uses, of the shipped catalogue; others are left out."""

    components: list[Component] = Field(max_length=MOST)


class OwnUseIn(Body):
    """What a member reports of components of the shipped catalogue; others are left out.

    `passed_over`: it was offered them and does not use them. An outcome is a random answer: true three times of four.
    """

    used: list[Component] = Field(default_factory=list, max_length=MOST)
    passed_over: list[Component] = Field(default_factory=list, max_length=MOST_PASSED)
    outcomes: dict[Component, Literal["worked", "failed"]] = Field(default_factory=dict, max_length=MOST)


class KeptOut(BaseModel):
    """How many components of a report are kept."""

    kept: int


class Answer(BaseModel):
    """An answer, or a part of one; its fields are attributes of the object that the service returns."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, found: object) -> Self:
        """Return the answer that has the attributes of an object."""
        return cls.model_validate(found)


class KeyOut(BaseModel):
    """A new key; this answer is the only place where it is shown."""

    id: str
    key: str
    member: str
    scopes: list[str]
    expires: str


class Accepted(BaseModel):
    """A contribution that is stored. Its id is made of its words, so that sending it again changes nothing."""

    id: str
    status: str
    known: bool
    version: int


class TrustOut(Answer):
    """How far to trust a trace: the bounds of Wilson's interval, and the votes."""

    bound: float
    high: float
    ups: int
    votes: int
    disputed: bool
    complaints: list[str]


class TraceOut(Answer):
    """A trace."""

    id: str = Field(validation_alias="key")
    title: str
    context: str
    solution: str
    tags: list[str]
    environment: dict[str, str]
    outcome: str = WORKED
    status: str
    review_after: str
    watch: str
    uses: list[str]
    author: str
    licence: str
    version: int
    supersedes: str
    at: str


class ShownOut(Answer):
    """A trace, the trust in it, and whether it is found by its meaning yet."""

    trace: TraceOut
    trust: TrustOut
    embedded: bool


class HitOut(Answer):
    """A trace in an answer, with what speaks for it."""

    trace: TraceOut
    score: float
    trust: TrustOut
    words: list[str]
    error: str
    different: list[str] = Field(
        validation_alias=AliasPath("alignment", "different"),
        description="How its environment differs from the one asked for.",
    )
    twins: list[str]
    alternative: bool
    overdue: bool


class FoundOut(Answer):
    """The traces that may help, best first; `fits` tells whether the first of them does."""

    hits: list[HitOut]
    fits: bool
    confidence: float
    degraded: list[str]


class VoteOut(Answer):
    """A vote as other installations get it."""

    trace: str
    voter: str
    up: bool
    at: str
    tag: str
    note: str
    environment: dict[str, str]
    withdrawn: bool = Field(description="The voter is banned: the vote does not count.")


class BanOut(Answer):
    """A banned member."""

    member: str
    by: str
    at: str
    reason: str


class AuditOut(Answer):
    """An entry of the audit log."""

    number: int
    at: str
    who: str
    key: str
    action: str
    target: str
    reason: str


class ChangesOut(BaseModel):
    """What changed after a cursor. `removed` are ids that an installation drops."""

    traces: list[TraceOut]
    votes: list[VoteOut]
    removed: list[str]
    cursor: int
    more: bool

    @classmethod
    def of(cls, changes: Changes) -> ChangesOut:
        """Return the answer that holds these changes."""
        return cls(
            traces=[TraceOut.of(trace) for trace in changes.shared],
            votes=[VoteOut.of(vote) for vote in changes.votes],
            removed=[trace.key for trace in changes.withdrawn],
            cursor=changes.cursor,
            more=changes.more,
        )


class ReputationOut(Answer):
    """What a member's votes weigh in each domain; a member without a record has none."""

    member: str
    vouched: bool
    weights: dict[str, float]


class UseOut(Answer):
    """About how many members use each component, as of a day, in steps of five; the day is empty before the first."""

    day: str
    components: dict[str, int]


class FlaggedOut(BaseModel):
    """A trace that waits for a moderator, and who flagged it and why."""

    trace: TraceOut
    flags: list[tuple[str, str]]


class StatusOut(BaseModel):
    """The state of a trace, or of the server."""

    status: str


class WhoOut(BaseModel):
    """Whom the key of a request belongs to."""

    community: str
    member: str
    scopes: list[str]

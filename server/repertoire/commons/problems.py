"""What an answer holds that is an error, and the errors that every route of the API may answer with."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """Why a request was not served, and what to do next."""

    detail: str | list[dict[str, Any]] = Field(description="A sentence, or a list with the place of each wrong field.")
    field: str | None = Field(default=None, description="The field that holds what must not be shared.")
    line: int | None = Field(default=None, description="The line of it.")
    what: str | None = Field(default=None, description="What it holds.")


_MEANINGS = {
    400: "The request cannot be read.",
    401: "There is no key, or it is unknown, expired or revoked.",
    403: "The key has not the scope, or another member's key or trace is changed.",
    404: "The caller's community has no such trace, member or key.",
    405: "The route has another method; `Allow` names it.",
    409: "The request contradicts what is stored.",
    411: "The request does not say its length.",
    413: "The request is too large.",
    414: "The query is too long.",
    422: "A field is missing, wrong, or holds what must not be shared.",
    429: "Too many requests, or a quota is used up; `Retry-After` says when to try again.",
    503: "The database does not answer; `Retry-After` says when to try again.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": meaning} for status, meaning in _MEANINGS.items()
}

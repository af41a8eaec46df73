"""Asks the person in a form of the client (MCP elicitation) whether to store a draft as a trace."""

from __future__ import annotations

import logging

from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from repertoire.mcp_server.reply import Consent

_FORM = {
    "type": "object",
    "properties": {
        "keep": {"type": "boolean", "title": "Keep it", "description": "No: the draft is deleted.", "default": True}
    },
}
_LOG = logging.getLogger(__name__)


async def consent_to(asked: Consent, session: ServerSession, request: str | int | None) -> bool | None:
    """Return whether the person agreed; None if the client has no forms, or the form was closed without an answer."""
    if not shows_forms(session):
        return None
    try:
        answer = await session.elicit_form(asked.message, _FORM, related_request_id=request)
    except MCPError as error:
        _LOG.warning("the client could not show a form: %s", error)
        return None
    if answer.action == "accept":
        return bool((answer.content or {}).get("keep", True))
    return False if answer.action == "decline" else None


def shows_forms(session: ServerSession) -> bool:
    """Tell whether the client shows its person forms."""
    client = session.client_capabilities
    forms = client.elicitation if client is not None else None
    return forms is not None and session.can_send_request and (forms.form is not None or forms.url is None)

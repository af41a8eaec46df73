"""Speaks MCP: lists tools, calls their handlers, and turns errors into advice."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession

from repertoire import __version__
from repertoire.domain.errors import RepertoireError
from repertoire.mcp_server.arguments import checked
from repertoire.mcp_server.consent import consent_to, shows_forms
from repertoire.mcp_server.memory_tools import MEMORY_TOOLS
from repertoire.mcp_server.own_files import restart_due
from repertoire.mcp_server.reply import ASKS, Reply
from repertoire.mcp_server.tool import Tool
from repertoire.mcp_server.tool_definitions import HOOKS, INSTRUCTIONS, NAME, TITLE, TOOLS

Progress = Callable[[float, str], Awaitable[None]]
CallTool = Callable[[str, Mapping[str, Any], Progress], Awaitable[Reply]]
CallHook = Callable[[str, Mapping[str, Any]], Awaitable[str]]

# Claude Code shows a model the structured content *instead of* the text: JSON with escaped line ends, several times as
# long. It gets the text alone, and no output schema, because a schema without structured content breaks the protocol.
# Every other client gets both: the schema, the data that fit it, and the same readable text.
_TEXT_ONLY = "claude-code"
_CLIENTS = 100  # over HTTP, of which it is known what they were told
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Handlers:
    """The functions that the server calls: tools, which may fail with a message, and hooks, which always answer."""

    tool: CallTool
    hook: CallHook
    remembers: Callable[[], bool]  # whether the current project has a memory, whose tools are then listed too


class _ServerWithChangingTools(Server[Any]):
    """A server that promises to tell when its tools change."""

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,  # noqa: ARG002 - the promise is always the same
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """Return the capabilities with that promise, whatever a transport asks for."""
        promised = NotificationOptions(tools_changed=True)
        more = experimental_capabilities, extensions
        return super().get_capabilities(promised, *more, protocol_version=protocol_version)


class _ListedTools:
    """What each client was told last of the tools: whether those of a memory are among them."""

    def __init__(self, remembers: Callable[[], bool]) -> None:
        self._remembers = remembers
        self._told: dict[int, tuple[object, bool]] = {}  # by the identity of what a client said of itself, held too

    def of(self, session: ServerSession) -> Sequence[Tool]:
        """Return the tools that there are now."""
        now = self._remembers()
        self._note(session, now)
        return (*TOOLS, *MEMORY_TOOLS) if now else TOOLS

    async def tell_changed(self, session: ServerSession) -> None:
        """Tell a client if a memory was begun or forgotten since it asked for the tools; once for each change."""
        now = self._remembers()
        if self._told.get(id(session.client_params), (None, now))[1] != now:
            self._note(session, now)
            await session.send_tool_list_changed()

    def _note(self, session: ServerSession, now: bool) -> None:  # noqa: FBT001 - what is noted
        client = session.client_params
        if client is not None:
            self._told.pop(id(client), None)
            self._told[id(client)] = (client, now)
        while len(self._told) > _CLIENTS:
            self._told.pop(next(iter(self._told)))


def build_server(handlers: Handlers) -> Server[Any]:
    """Return a server that is not yet connected to a transport."""
    by_name = {tool.name: tool for tool in (*TOOLS, *MEMORY_TOOLS)}
    listed = _ListedTools(handlers.remembers)

    async def on_list_tools(
        context: ServerRequestContext[Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = listed.of(context.session)
        return types.ListToolsResult(tools=[tool_entry(tool, text_only=_text_only(context)) for tool in tools])

    async def on_call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        result = await answered(context, params)
        await listed.tell_changed(context.session)  # hooks call too, so it is told of in the turn that began a memory
        return result

    async def answered(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        if params.name in HOOKS:
            return _text(await handlers.hook(params.name, arguments))
        tool = by_name.get(params.name)
        if tool is None:
            return _text(f"There is no tool {params.name[:60]!r}; there are {', '.join(by_name)}.", failed=True)

        async def progress(done: float, message: str) -> None:
            await context.session.report_progress(done, None, message)

        try:
            reply = await handlers.tool(tool.name, _told(checked(tool, arguments), context.session), progress)
            agreed = (
                await consent_to(reply.consent, context.session, context.request_id)
                if reply.consent is not None
                else None
            )
            if reply.consent is not None and agreed is not None:
                settled = {"token": reply.consent.token, "discard": not agreed}
                reply = await handlers.tool("contribute_trace", settled, progress)
        except RepertoireError as error:
            return _text(str(error), failed=True)
        except Exception as error:  # noqa: BLE001 - the door: a bug becomes a message, its traceback goes to stderr
            _LOG.exception("%s failed", tool.name)
            why = restart_due(error) or (
                "there is a fault in Repertoire; the details are in the server's log. "
                "Go on without it, or call status to see whether the data can be read."
            )
            return _text(f"{tool.name} failed: {why}", failed=True)
        return _text(reply.text, data=None if _text_only(context) else reply.data)

    return _ServerWithChangingTools(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=INSTRUCTIONS,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


def tool_entry(tool: Tool, *, text_only: bool) -> types.Tool:
    """Return the entry of a tool in the answer to tools/list."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=None if text_only else dict(tool.output),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=tool.open_world,
        ),
        _meta={"anthropic/alwaysLoad": True} if tool.always_load else None,
    )


def _told(arguments: dict[str, Any], session: ServerSession) -> Mapping[str, Any]:
    """Return a call's arguments; with a draft's token also that the person can be asked about it in a form."""
    return {**arguments, ASKS: True} if "token" in arguments and shows_forms(session) else arguments


def _text(text: str, *, failed: bool = False, data: Mapping[str, Any] | None = None) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content=dict(data) if data is not None else None,
        is_error=failed,
    )


def _text_only(context: ServerRequestContext[Any]) -> bool:
    client = context.session.client_params
    return client is not None and client.client_info.name.startswith(_TEXT_ONLY)

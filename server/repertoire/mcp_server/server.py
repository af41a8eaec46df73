"""Speaks MCP: lists tools, calls their handlers, and turns errors into advice."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from repertoire import __version__
from repertoire.domain.errors import RepertoireError
from repertoire.mcp_server.arguments import checked
from repertoire.mcp_server.consent import consent_to
from repertoire.mcp_server.memory_tools import MEMORY_TOOLS
from repertoire.mcp_server.reply import Reply
from repertoire.mcp_server.tool import Tool
from repertoire.mcp_server.tool_definitions import HOOKS, INSTRUCTIONS, NAME, TITLE, TOOLS

Progress = Callable[[float, str], Awaitable[None]]
CallTool = Callable[[str, Mapping[str, Any], Progress], Awaitable[Reply]]
CallHook = Callable[[str, Mapping[str, Any]], Awaitable[str]]

# Claude Code shows a model the structured content *instead of* the text: JSON with escaped line ends, several times as
# long. It gets the text alone, and no output schema, because a schema without structured content breaks the protocol.
# Every other client gets both: the schema, the data that fit it, and the same readable text.
_TEXT_ONLY = "claude-code"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Handlers:
    """The functions that the server calls: tools, which may fail with a message, and hooks, which always answer."""

    tool: CallTool
    hook: CallHook
    remembers: Callable[[], bool]  # whether the current project has a memory, whose tools are then listed too


def build_server(handlers: Handlers) -> Server[Any]:
    """Return a server that is not yet connected to a transport."""
    by_name = {tool.name: tool for tool in (*TOOLS, *MEMORY_TOOLS)}

    async def on_list_tools(
        context: ServerRequestContext[Any], _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        listed = (*TOOLS, *MEMORY_TOOLS) if handlers.remembers() else TOOLS
        return types.ListToolsResult(tools=[tool_entry(tool, text_only=_text_only(context)) for tool in listed])

    async def on_call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        if params.name in HOOKS:
            return _text(await handlers.hook(params.name, arguments))
        tool = by_name.get(params.name)
        if tool is None:
            return _text(f"There is no tool {params.name[:60]!r}; there are {', '.join(by_name)}.", failed=True)

        async def progress(done: float, message: str) -> None:
            await context.session.report_progress(done, None, message)

        try:
            reply = await handlers.tool(tool.name, checked(tool, arguments), progress)
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
        except Exception:  # noqa: BLE001 - the door: a bug becomes a message, its traceback goes to stderr
            _LOG.exception("%s failed", tool.name)
            return _text(
                f"{tool.name} failed because of a fault in Repertoire; the details are in the server's log. "
                "Go on without it, or call status to see whether the data can be read.",
                failed=True,
            )
        return _text(reply.text, data=None if _text_only(context) else reply.data)

    return Server(
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


def _text(text: str, *, failed: bool = False, data: Mapping[str, Any] | None = None) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text)],
        structured_content=dict(data) if data is not None else None,
        is_error=failed,
    )


def _text_only(context: ServerRequestContext[Any]) -> bool:
    client = context.session.client_params
    return client is not None and client.client_info.name.startswith(_TEXT_ONLY)

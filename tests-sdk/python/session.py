"""Checks one release of PyPI mcp, version 1.x: python session.py <URL> <http | sse | websocket> <revision>"""

import sys
from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, McpError, types

import checks

URL, TRANSPORT, REVISION = sys.argv[1:]


class Page(types.RequestParams):
    """The parameters of `tools/list`; the oldest releases know no cursor there."""

    cursor: str | None = None


class Client(checks.Client):
    def __init__(self):
        self.session = None
        self.on_progress = None
        self.tools_changed = anyio.Event()
        self.stream_open = anyio.Event()

    async def tools(self):
        tools, pages, cursor = [], 0, None
        while True:
            request = types.Request[Page, str](method="tools/list", params=Page(cursor=cursor))
            page = await self.session.send_request(request, types.ListToolsResult)
            tools += page.tools
            pages += 1
            cursor = page.nextCursor
            if cursor is None:
                assert pages > 1, "all tools came on one page"
                return tools

    async def call(self, name, arguments, on_progress=None):
        if on_progress is None:
            return await self.session.call_tool(name, arguments)
        self.on_progress = on_progress
        # NOTE: the oldest releases can ask for progress only in a request of one's own.
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": "a token"}}
        request = types.ClientRequest(types.CallToolRequest(method="tools/call", params=params))
        return await self.session.send_request(request, types.CallToolResult)

    async def change_tools(self):
        await self.stream_open.wait()
        await self.session.call_tool("test_trigger_tool_change", {})
        await self.tools_changed.wait()

    async def ping(self):
        await self.session.send_ping()

    def error(self, exception):
        assert isinstance(exception, McpError), repr(exception)
        return exception.error.code, exception.error.message

    async def receive(self, message):
        """Takes what the server sends by itself."""
        if isinstance(message, Exception):
            raise message
        notification = getattr(message, "root", None)
        if isinstance(notification, types.ToolListChangedNotification):
            self.tools_changed.set()
        elif isinstance(notification, types.ProgressNotification) and self.on_progress:
            assert notification.params.progressToken == "a token", notification
            self.on_progress(notification.params.progress, notification.params.total)


@asynccontextmanager
async def streams(client):
    """The read and write streams of the transport."""
    if TRANSPORT == "http":
        from mcp.client.streamable_http import create_mcp_http_client, streamablehttp_client

        async def responded(response):
            if response.request.method == "GET" and response.status_code == 200:
                client.stream_open.set()

        def http_client(**arguments):
            http = create_mcp_http_client(**arguments)
            http.event_hooks = {"response": [responded]}
            return http

        async with streamablehttp_client(URL, httpx_client_factory=http_client) as (read, write, _):
            yield read, write
        return
    # Every other transport is one stream for all.
    client.stream_open.set()
    if TRANSPORT == "sse":
        from mcp.client.sse import sse_client

        async with sse_client(URL.removesuffix("/mcp") + "/sse") as (read, write):
            yield read, write
    elif TRANSPORT == "websocket":
        from mcp.client.websocket import websocket_client

        async with websocket_client(URL.replace("http", "ws", 1)) as (read, write):
            yield read, write
    else:
        raise ValueError(f"unknown transport {TRANSPORT}")


@asynccontextmanager
async def connect():
    client = Client()
    async with streams(client) as (read, write):
        async with ClientSession(read, write, message_handler=client.receive) as client.session:
            await client.session.initialize()
            yield client


checks.main(connect, REVISION, has_ping=True)

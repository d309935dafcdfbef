"""Checks one release of PyPI mcp, version 2.x: python client.py <URL> <transport>-<mode> <revision>

The transport is `http` or `sse`, and the mode `legacy` (initialize), `modern` (2026-07-28 and nothing else) or `auto`
(asks the server).
"""

import sys
from contextlib import asynccontextmanager

import anyio
import mcp
from mcp import MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp_types import ToolListChangedNotification

import checks

URL, KIND, REVISION = sys.argv[1:]
TRANSPORT, MODE = KIND.split("-")


class Client(checks.Client):
    def __init__(self):
        self.client = None
        self.tools_changed = anyio.Event()
        self.stream_open = anyio.Event()

    async def tools(self):
        tools, cursor = [], None
        while True:
            page = await self.client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return tools

    async def call(self, name, arguments, on_progress=None):
        async def progressed(progress, total, _message):
            on_progress(progress, total)

        return await self.client.call_tool(name, arguments, progress_callback=on_progress and progressed)

    async def change_tools(self):
        if MODE == "legacy":
            await self.stream_open.wait()
            await self.client.call_tool("test_trigger_tool_change", {})
            await self.tools_changed.wait()
            return
        async with self.client.listen(tools_list_changed=True) as subscription:
            await self.client.call_tool("test_trigger_tool_change", {})
            await anext(subscription)

    async def ping(self):
        await self.client.send_ping()

    def error(self, exception):
        assert isinstance(exception, MCPError), repr(exception)
        return exception.code, exception.message

    async def receive(self, message):
        """Takes what the server sends by itself."""
        if isinstance(message, Exception):
            raise message
        if isinstance(message, ToolListChangedNotification):
            self.tools_changed.set()


@asynccontextmanager
async def connect():
    client = Client()

    async def responded(response):
        if response.request.method == "GET" and response.status_code == 200:
            client.stream_open.set()

    http = create_mcp_http_client()
    http.event_hooks = {"response": [responded]}
    if TRANSPORT == "http":
        transport = streamable_http_client(URL, http_client=http)
    else:
        transport = sse_client(URL.removesuffix("/mcp") + "/sse")
        client.stream_open.set()
    mode = REVISION if MODE == "modern" else MODE
    async with http, mcp.Client(transport, mode=mode, message_handler=client.receive) as client.client:
        yield client


checks.main(connect, REVISION, has_ping=MODE == "legacy")

"""What every Python client must see of the fixture server.

One line per check on stdout: `ok <what>` or `not ok <what>: <why>`. It does not know which SDK the client comes from.
"""

import json
import sys

import anyio

CHECK_SECONDS = 10
PROGRAM_SECONDS = 60


class Client:
    """What the checks ask of a client; a program fills it in for its SDK."""

    async def tools(self):
        """Every tool, whatever the number of pages."""
        raise NotImplementedError

    async def call(self, name, arguments, on_progress=None):
        """The result of `tools/call`; `on_progress` takes the progress and the total."""
        raise NotImplementedError

    async def change_tools(self):
        """Calls `test_trigger_tool_change` and returns when the change of the list was announced."""
        raise NotImplementedError

    async def ping(self):
        """Asks for a sign of life."""
        raise NotImplementedError

    def error(self, exception):
        """The code and the message of a JSON-RPC error."""
        raise NotImplementedError


class Checks:
    """Runs checks, prints each, and remembers whether one failed."""

    def __init__(self):
        self.failed = False

    async def check(self, what, run):
        try:
            with anyio.fail_after(CHECK_SECONDS):
                await run()
            print(f"ok {what}", flush=True)
        except Exception as error:
            self.fail(what, error)

    def fail(self, what, error):
        self.failed = True
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        reason = "nothing came in time" if isinstance(error, TimeoutError) else repr(error)
        print(f"not ok {what}: {' '.join(reason.split())}", flush=True)


def main(connect, revision, has_ping):
    """Runs every check on what `connect()`, an async context manager, gives, and ends the program."""
    checks = Checks()

    async def program():
        # NOTE: the SDKs' transports are task groups: a connection that breaks ends the body with an exception.
        try:
            with anyio.fail_after(CHECK_SECONDS) as deadline:
                async with connect() as client:
                    deadline.deadline += PROGRAM_SECONDS
                    print("ok connect", flush=True)
                    await run(checks, client, revision, has_ping)
                print("ok close", flush=True)
        except Exception as error:
            checks.fail("connect or close", error)

    anyio.run(program)
    sys.exit(1 if checks.failed else 0)


async def run(checks, client, revision, has_ping):
    async def tools_list():
        names = [tool.name for tool in await client.tools()]
        for name in ["device_info", "echo", "test_simple_text"]:
            assert name in names, f"no {name}"
        assert len(names) > 100, f"{len(names)} tools"
        assert names == sorted(set(names)), names

    async def negotiated():
        told = json.loads(text(await client.call("caller", {})))
        assert told["revision"] == revision, told

    async def a_text():
        result = await client.call("test_simple_text", {})
        assert text(result) == "This is a simple text response for testing.", result

    async def arguments():
        said = 'Grüße, "\\" 漢字 \U0001f680\n\u2028 end'
        result = await client.call("echo", {"text": said})
        assert text(result) == said, result

    async def structured_content():
        result = await client.call("device_info", {})
        told = json.loads(text(result))
        assert isinstance(told["os"]["name"], str), told
        if revision >= "2025-06-18":
            structured = result.model_dump(by_alias=True)["structuredContent"]
            assert structured == told, structured

    async def progress():
        seen = []
        await client.call("test_tool_with_progress", {}, lambda done, total: seen.append((done, total)))
        assert seen == [(0, 100), (50, 100), (100, 100)], seen

    async def tool_error():
        result = await client.call("test_error_handling", {})
        assert result.model_dump(by_alias=True)["isError"] is True, result
        assert text(result), result

    async def unknown_tool():
        try:
            result = await client.call("no_such_tool", {})
        except Exception as error:
            code, message = client.error(error)
            assert code == -32602 and "no_such_tool" in message, (code, message)
        else:
            raise AssertionError(result)

    async def list_changed():
        async def present():
            return any(tool.name == "test_changed_tool" for tool in await client.tools())

        before = await present()
        await client.change_tools()
        assert await present() is not before, "the list is the same after the change"

    await checks.check("tools/list", tools_list)
    await checks.check(f"revision {revision}", negotiated)
    await checks.check("a text", a_text)
    await checks.check("arguments", arguments)
    await checks.check("structured content", structured_content)
    await checks.check("progress", progress)
    await checks.check("a tool error", tool_error)
    await checks.check("an unknown tool", unknown_tool)
    await checks.check("tools/list_changed", list_changed)
    if has_ping:
        await checks.check("ping", client.ping)


def text(result):
    assert result.content[0].type == "text", result
    return result.content[0].text

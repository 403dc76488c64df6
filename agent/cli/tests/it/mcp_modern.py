"""Drives `deskhand mcp` with a client library of 2026-07-28. Arguments: the library (`mcp` or `fastmcp`), the program and the file to write, or
the address of a server over HTTP, the file, and the token.

Prints a line for each thing that holds, and fails where one does not.
"""

import asyncio
import sys

ASKED: list[str] = []
TOLD: list[float] = []


async def told(progress: float, *_) -> None:
    TOLD.append(progress)


def official(server: str, token: str | None):
    """The official client."""
    import httpx2
    from mcp import Client, StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client
    from mcp.types import ElicitResult

    async def elicit(_context, params):
        ASKED.append(params.message)
        return ElicitResult(action="accept", content={})

    if token is None:
        target = StdioServerParameters(command=server, args=["mcp"], env=None)
    else:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=180)
        target = streamable_http_client(server, http_client=http)
    return Client(target, elicitation_callback=elicit)


def fast(server: str, token: str | None):
    """FastMCP."""
    import os

    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    async def elicit(message, _kind, _params, _context):
        ASKED.append(message)
        return {}

    if token is None:
        target = StdioTransport(command=server, args=["mcp"], env=dict(os.environ), keep_alive=False)
    else:
        target = StreamableHttpTransport(server, headers={"Authorization": f"Bearer {token}"})
    return Client(target, elicitation_handler=elicit)


async def main(library: str, server: str, file: str, token: str | None = None) -> None:
    client = (official if library == "mcp" else fast)(server, token)
    progress = "progress_callback" if library == "mcp" else "progress_handler"
    async with client:
        print("connected")

        async def call(name: str, **arguments):
            result = await client.call_tool(name, arguments, **{progress: told})
            assert not result.is_error, f"{name}: {result}"
            return result

        listed = await client.list_tools()
        tools = {tool.name for tool in getattr(listed, "tools", listed)}
        assert {"start_desktop", "act", "run_task"} <= tools, tools
        print("tools listed")
        started = await call("start_desktop", task="write a note")
        desktop = started.structured_content["desktop"]
        await call("open", desktop=desktop, application="mousepad")
        actions = [
            {"tool": "type_text", "arguments": {"text": "from another client"}},
            {"tool": "save_as", "arguments": {"path": file}},
        ]
        done = await call("act", desktop=desktop, actions=actions)
        verdicts = [one["verdict"] for one in done.structured_content["actions"]]
        assert verdicts == ["seen", "seen"], done
        print("saved")
        assert any("“from another client”" in message for message in ASKED), ASKED
        print("the user was asked")
        assert TOLD, "no progress"
        print("progress was told")
        shot = await client.read_resource(f"deskhand://desktops/{desktop}/screenshot")
        contents = getattr(shot, "contents", shot)
        assert contents[0].blob, shot
        print("seen")
        await call("end_desktop", desktop=desktop)
        print("ended")


asyncio.run(main(*sys.argv[1:]))

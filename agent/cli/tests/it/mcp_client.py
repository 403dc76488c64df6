"""Drives `deskhand mcp` with the official Python client. Arguments: the program and the file to write, or the address of a server over
HTTP, the file, and the token.

Prints a line for each thing that holds, and fails where one does not.
"""

import asyncio
import sys

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult


def connected(server: str, token: str | None):
    """The streams to a program, or to an address."""
    if token is None:
        return stdio_client(StdioServerParameters(command=server, args=["mcp"], env=None))
    headers = {"Authorization": f"Bearer {token}"}
    return streamable_http_client(server, http_client=httpx2.AsyncClient(headers=headers, timeout=180))


async def main(server: str, file: str, token: str | None = None) -> None:
    asked = []

    async def elicit(_context, params):
        asked.append(params.message)
        return ElicitResult(action="accept", content={})

    async with connected(server, token) as (read, write, *_):
        async with ClientSession(read, write, elicitation_callback=elicit) as session:
            greeting = await session.initialize()
            print("initialised", greeting.server_info.name)

            async def call(name: str, **arguments) -> str:
                result = await session.call_tool(name, arguments)
                text = "\n".join(part.text for part in result.content if part.type == "text")
                assert not result.is_error, f"{name}: {text}"
                return text

            tools = (await session.list_tools()).tools
            assert {"start_desktop", "act", "run_task"} <= {tool.name for tool in tools}, tools
            print("tools listed")
            started = await session.call_tool("start_desktop", {"task": "write a note"})
            desktop = started.structured_content["desktop"]
            await call("open", application="mousepad")
            actions = [
                {"tool": "type_text", "arguments": {"text": "from another client"}},
                {"tool": "save_as", "arguments": {"path": file}},
            ]
            done = await call("act", actions=actions)
            assert "2. save_as: seen" in done, done
            print("saved")
            assert any("“from another client”" in message for message in asked), asked
            print("the user was asked")
            shot = await session.read_resource(f"deskhand://desktops/{desktop}/screenshot")
            assert shot.contents[0].blob, shot
            print("seen")
            await call("end_desktop")
            print("ended")


asyncio.run(main(*sys.argv[1:]))

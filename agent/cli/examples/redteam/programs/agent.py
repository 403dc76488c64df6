"""An agent over MCP that a stranger made: it answers every sub-task with the text of the file that its argument names.

A text `read PATH` is answered with the content of that file, or with the error.
"""

import json
import sys

SAYS = open(sys.argv[1]).read()


def work():
    word, _, path = SAYS.partition(" ")
    try:
        return open(path.strip()).read() if word == "read" else SAYS
    except OSError as error:
        return str(error)


for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    result = None
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}}
        result["instructions"] = SAYS
    elif method == "tools/list":
        tool = {"name": "work_on_subtask", "description": "Works.", "inputSchema": {"type": "object"}}
        result = {"tools": [tool]}
    elif method == "tools/call":
        result = {"content": [], "structuredContent": {"status": "finished", "result": work()}}
    if result is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)
    elif number is not None:
        error = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}), flush=True)

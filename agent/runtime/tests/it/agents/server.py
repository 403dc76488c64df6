"""An agent as an MCP server on stdio, without libraries. The first argument selects its behaviour."""

import json
import os
import sys
import time

MODE = sys.argv[1]


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def work(arguments):
    if MODE == "crash":
        print("the paper is out", file=sys.stderr, flush=True)
        os._exit(3)
    if MODE == "hang":
        with open(os.environ["DESKHAND_TEST_FIFO"], "w") as fifo:
            fifo.write(str(os.getpid()))
        time.sleep(600)
    status = "rejected" if MODE == "reject" else "finished"
    result = f"{arguments['subtask']} | {'; '.join(arguments['message'])} | secret: {os.environ.get('OPENAI_API_KEY')}"
    return {"content": [], "structuredContent": {"status": status, "result": result}}


for line in sys.stdin:
    asked = json.loads(line)
    method, number = asked.get("method"), asked.get("id")
    if MODE == "garbage":
        print("Welcome to my agent! {not json", flush=True)
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": "printer", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": number, "result": {**result, "instructions": "Prints on paper."}})
    elif method == "tools/list":
        name = "print" if MODE == "no-tool" else "work_on_subtask"
        tool = {"name": name, "description": "Prints.", "inputSchema": {"type": "object"}}
        send({"id": number, "result": {"tools": [tool]}})
    elif method == "tools/call":
        send({"id": number, "result": work(asked["params"]["arguments"])})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": f"no method {method}"}})

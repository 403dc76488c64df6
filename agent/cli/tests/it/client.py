"""Drives a session over the Python client, and writes down what it read. Arguments: address, token, model, file for the records.

It says on standard output what it is about to do, so that the test can kill the service meanwhile.
"""

import json
import sys

from deskhand import ApiError, Client

url, token, model, records = sys.argv[1:]
client = Client(url, token)


def tell(text):
    print(text, flush=True)


def steer(act):
    """Does what may be under way when the service is killed: what did not come about is asked again."""
    try:
        act()
    except ApiError as error:
        if error.status != 409:
            raise
        tell(f"conflict {error.message}")


session = client.start("write the greeting", model=model, key="the greeting")
assert client.start("write the greeting", model=model, key="the greeting").id == session.id
tell(f"session {session.id}")
refused = set()
with open(records, "w") as file:
    for line in session.lines():
        if line["kind"] in ("header", "effect", "event", "changed"):
            file.write(json.dumps(line) + "\n")
        elif line["kind"] == "questions":
            assert [question["text"] for question in line["questions"]] == ["Which greeting?", "To whom?"]
            steer(lambda: session.answer(line, "Guten Tag", "Ada"))
            tell("answered")
        elif line["kind"] == "approval" and not refused - {line["id"]}:
            if not refused:
                tell("asked")
                assert sys.stdin.readline() == "killed\n"
            refused.add(line["id"])
            steer(lambda: session.refuse(line, "write it in capitals"))
        elif line["kind"] == "approval":
            steer(lambda: session.approve(line))
outcome = session.wait()
assert outcome.finished, outcome
assert outcome.reason == "the greeting is written", outcome
assert [row["id"] for row in client.sessions("greeting", outcome="finished")] == [session.id]
assert session.moments()["session"] == session.id
try:
    session.pause()
    raise AssertionError("a session that has ended is paused")
except ApiError as error:
    assert error.status == 409, error
session.remove()
assert list(client.sessions()) == []
tell("done")

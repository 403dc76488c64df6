"""Three threads follow one session. Arguments: address, token, model, beginning of the names of the files for the records."""

import sys
import threading

from deskhand import Client

url, token, model, records = sys.argv[1:]
client = Client(url, token)
session = client.start("look around", model=model)
print(f"session {session.id}", flush=True)
outcomes = []


def follow(number):
    with open(f"{records}{number}", "w") as file:
        for line in session.lines():
            if line["kind"] in ("header", "effect", "event", "changed"):
                file.write(f"{line['seq']} {line['at_ms']}\n")
        outcomes.append(line["outcome"])


threads = [threading.Thread(target=follow, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert outcomes == ["finished"] * 3, outcomes
print("done", flush=True)

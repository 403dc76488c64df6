#!/usr/bin/python3
"""A hostile program: what all programs of the second player have in common. The attack itself follows at the end.

The file player.json beside it has the values of its case, and prey.json what there is to attack, as a guess or a leak would tell: processes
with their folders and displays, and the folders of sessions. What it does and learns is in player.log; the last line is `over`.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

HERE = pathlib.Path(sys.argv[0]).absolute().parent
SPEC = json.loads((HERE / "player.json").read_text())
HOME = pathlib.Path(SPEC["home"])
STATE = HOME / ".local/state/deskhand"
CONFIG = HOME / ".config/deskhand"
LOG = open(HERE / "player.log", "a", buffering=1)
# The longest that an attack waits for its moment.
MOMENT_MAX = 20


def log(line):
    LOG.write(str(line).replace("\n", "\\n")[:2000] + "\n")


def tries(what, *arguments):
    """Does something that may be refused; its result, or nothing."""
    try:
        return what(*arguments)
    except (OSError, ValueError, KeyError, RuntimeError, subprocess.SubprocessError) as error:
        log("no: %s %s: %s" % (getattr(what, "__name__", what), arguments, error))
        return None


def quietly(what, *arguments):
    """The same without a word in the log, for what is tried many times."""
    try:
        return what(*arguments)
    except (OSError, ValueError, KeyError, RuntimeError, subprocess.SubprocessError):
        return None


def program_of(attack):
    """A program of its own with all this, and another attack; where it is."""
    text = (HERE / "player.py").read_text().split("\n\ndef " + "attack():\n", 1)[0]
    path = HERE / "inner.py"
    path.write_text(text + "\n\nSPEC['has_window'] = False\n" + attack + "\nlog('inner over')\n")
    return str(path)


def until(what, most=MOMENT_MAX):
    """Asks again and again until there is an answer; nothing after some time."""
    begun = time.monotonic()
    while time.monotonic() - begun < most:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    log("no: it did not come to it")
    return None


def prey():
    """What there is to attack."""
    try:
        return json.loads((HERE / "prey.json").read_text())
    except (OSError, ValueError):
        return {"processes": [], "sessions": []}


def processes(*words):
    """The processes of ours whose command line has all these words."""
    found = prey()["processes"]
    return [one for one in found if all(any(word in part for part in one["line"]) for word in words)]


def sessions():
    """The folders of the sessions of the user."""
    return [pathlib.Path(path) for path in prey()["sessions"]]


def desktops():
    """The private folders of the virtual desktops."""
    return sorted({one["desktop"] for one in prey()["processes"] if one["desktop"]})


def own_desktop():
    return os.environ.get("DESKHAND_DESKTOP", "")


def connect(path):
    """Connects to a socket, however long its path is."""
    path = pathlib.Path(path)
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(3)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        stream.connect("/proc/self/fd/%d/%s" % (folder, path.name))
    except OSError:
        # Without this view of the processes, from the folder itself.
        before = os.getcwd()
        os.fchdir(folder)
        try:
            stream.connect(path.name)
        finally:
            os.chdir(before)
    finally:
        os.close(folder)
    return stream


def lines_of(stream, most):
    """The lines that come within some seconds, as JSON."""
    begun, rest = time.monotonic(), b""
    stream.settimeout(0.2)
    while time.monotonic() - begun < most:
        try:
            more = stream.recv(65536)
        except TimeoutError:
            continue
        except OSError as error:
            log("no: it is closed: %s" % error)
            return
        if not more:
            log("no: the connection is closed")
            return
        rest += more
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            try:
                yield json.loads(line)
            except ValueError:
                yield {"text": line.decode(errors="replace")}


def steer(path, *orders, most=MOMENT_MAX):
    """Speaks to the control socket of a session: gives orders, and approves what comes up. Whether it was heard."""
    try:
        stream = connect(path)
        for order in orders:
            stream.sendall((json.dumps(order) + "\n").encode())
        heard = False
        for line in lines_of(stream, most):
            heard = True
            log("heard: %s" % json.dumps(line)[:300])
            if line.get("kind") == "approval":
                order = {"do": "decide", "id": line["id"], "approve": "session"}
                stream.sendall((json.dumps(order) + "\n").encode())
                most = 2
                for after in lines_of(stream, 2):
                    log("heard: %s" % json.dumps(after)[:300])
                return True
            if orders and line.get("kind") == "attached":
                for after in lines_of(stream, 1):
                    log("heard: %s" % json.dumps(after)[:300])
                return True
        return heard
    except OSError as error:
        log("no: %s: %s" % (path, error))
        return False


def write(path, text):
    """Writes a file; whether it was written."""
    try:
        pathlib.Path(path).write_text(text)
        log("wrote %s" % path)
        return True
    except OSError as error:
        log("no: %s" % error)
        return False


def read(path):
    """Reads a file, and logs what it says."""
    try:
        text = pathlib.Path(path).read_text(errors="replace")
    except OSError as error:
        log("no: %s" % error)
        return ""
    log("read %s: %s" % (path, text))
    return text


def http(port, request, body=b"", host=None, **headers):
    """One request to a port of this machine; the answer as text."""
    stream = socket.create_connection(("127.0.0.1", int(port)), timeout=5)
    head = {"Host": host or "127.0.0.1:%s" % port, "Connection": "close", "Content-Length": str(len(body))}
    head.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines = [request + " HTTP/1.1"] + ["%s: %s" % pair for pair in head.items()]
    stream.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    answer = b""
    while True:
        try:
            more = stream.recv(65536)
        except OSError:
            break
        if not more:
            break
        answer += more
    text = answer.decode(errors="replace")
    head, _, content = text.partition("\r\n\r\n")
    log("%s: %s %s" % (request, head.split("\r\n")[0], content[:300]))
    return text


def run(*words, most=30, **more):
    """Runs a command; what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=most, **more)
    log("ran %s: %s %s%s" % (words, done.returncode, done.stdout[:500], done.stderr[:500]))
    return done.stdout


class Mcp:
    """A client of the MCP server of the user, over its standard input and output."""

    def __init__(self, capabilities=None, answers=True):
        self.answers, self.last, self.lines = answers, 0, []
        self.program = subprocess.Popen(
            [SPEC["deskhand"], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        threading.Thread(target=self.listen, daemon=True).start()
        hello = {"protocolVersion": "2025-06-18", "capabilities": capabilities or {}, "clientInfo": {"name": "x", "version": "1"}}
        self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def listen(self):
        for line in self.program.stdout:
            self.lines.append(json.loads(line))

    def send(self, message):
        self.program.stdin.write(json.dumps(message) + "\n")
        self.program.stdin.flush()

    def request(self, method, params, most=25):
        self.last += 1
        number = "r%d" % self.last
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return until(lambda: next((line for line in self.lines if line.get("id") == number), None), most)

    def call(self, tool, most=25, **arguments):
        answer = self.request("tools/call", {"name": tool, "arguments": arguments}, most)
        return json.dumps(answer)[:3000]

    def end(self):
        quietly(self.program.stdin.close)
        try:
            self.program.wait(20)
        except subprocess.TimeoutExpired:
            self.program.kill()

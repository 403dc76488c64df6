

class Nats:
    """Somebody who reaches the server of a fleet without the program."""

    def __init__(self, port):
        self.stream = socket.create_connection(("127.0.0.1", int(port)), timeout=10)
        self.file = self.stream.makefile("rb")
        self.file.readline()
        self.stream.sendall(b'CONNECT {"verbose":false,"pedantic":false}\r\nSUB inbox.> 1\r\nPING\r\n')
        while self.file.readline().strip() != b"PONG":
            pass
        self.last = 0

    def ask(self, subject, data=b""):
        self.last += 1
        reply = "inbox.%d" % self.last
        self.stream.sendall(("PUB %s %s %d\r\n" % (subject, reply, len(data))).encode() + data + b"\r\n")
        while True:
            line = self.file.readline().split()
            if line[:1] == [b"PING"]:
                self.stream.sendall(b"PONG\r\n")
            if line[:1] in ([b"MSG"], [b"HMSG"]):
                content = self.file.read(int(line[-1]) + 2)
                if line[1] == reply.encode():
                    return content[int(line[-2]) if line[0] == b"HMSG" else 0 : -2]

    def get(self, key):
        import base64

        asked = json.dumps({"last_by_subj": "$KV.deskhand-records." + key}).encode()
        answer = json.loads(self.ask("$JS.API.STREAM.MSG.GET.KV_deskhand-records", asked))
        data = answer.get("message", {}).get("data")
        return base64.b64decode(data) if data else None

    def put(self, key, value):
        value = value if isinstance(value, bytes) else json.dumps(value).encode()
        log("put %s: %s" % (key, self.ask("$KV.deskhand-records." + key, value)))


class Fleet:
    """The user of a fleet: keys, tasks, and a worker that takes what anna signed."""

    def __init__(self):
        self.workers = []
        printed = self.run("key", "anna.key")
        self.run("key", "eve.key")
        self.anna = re.search(r"\bU[A-Z0-9]{55}\b", printed)[0]

    def run(self, *words):
        return run(SPEC["deskhand"], "fleet", *words, cwd=HOME, most=60)

    def accepts(self):
        with open(CONFIG / "config.toml", "a") as config:
            config.write('\n[fleet.accept]\nanna = "%s"\n' % self.anna)

    def submit(self, name, request, *more, **task):
        path = HOME / "tasks" / name / (name + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"request": request, **task}))
        return self.run("submit", "tasks/" + name, "--fleet", SPEC["fleet"], "--lease", "6", *more)

    def work(self):
        words = ["worker", "--name", "one", "--model", "openai:mock", "--base-url", SPEC["endpoint"], "--no-pictures"]
        with open(HERE / "worker.log", "w") as out:
            words += ["--fleet", SPEC["fleet"], "--lease", "6"]
            self.workers.append(subprocess.Popen([SPEC["deskhand"], *words], cwd=HOME, stdout=out, stderr=out, stdin=subprocess.DEVNULL))

    def outcome(self, nats, name, most=45):
        found = until(lambda: nats.get("outcome." + name), most)
        log("outcome of %s: %s" % (name, (found or b"none").decode(errors="replace")[:600]))
        return found or b""

    def end(self):
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            try:
                worker.wait(15)
            except subprocess.TimeoutExpired:
                worker.kill()
        log("worker said: %s" % quietly((HERE / "worker.log").read_text))

"""The worker: reads requests, finds the document of the window, and calls the tools in the program's own thread."""

START_SECONDS = 10
CALL_SECONDS = 120
MOST_REQUEST_BYTES = 64_000_000
X_WINDOW = 6  # com.sun.star.lang.SystemDependent.SYSTEM_XWINDOW
READING_TOOLS = ("document_info", "table2markdown", "get_range_values", "read_")
EDITING_TOOLS_FOR_READ_ONLY = ("find_replace",)
KIND_SERVICES = (
    ("calc", "com.sun.star.sheet.SpreadsheetDocument"),
    ("writer", "com.sun.star.text.GenericTextDocument"),
    ("impress", "com.sun.star.presentation.PresentationDocument"),
)
CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class MainCall(unohelper.Base, XCallback):
    """A call that the program makes in its main thread, so that nothing of the user interface runs meanwhile.

    Calls from other threads can block for ever when they make the toolkit wait, for example for the clipboard.
    """

    def __init__(self, work):
        self.work, self.lock = work, threading.Lock()
        self.started, self.done = threading.Event(), threading.Event()
        self.cancelled, self.answer = False, None

    def notify(self, data):
        with self.lock:
            if self.cancelled or self.started.is_set():
                return
            self.started.set()
        self.finish(self.work)

    def finish(self, work):
        try:
            self.answer = {"ok": work()}
        except BaseException as error:
            self.answer = {"error": described(error)}
        self.done.set()

    def cancel(self):
        """Whether the call will not be made any more."""
        with self.lock:
            if self.started.is_set():
                return False
            self.cancelled = True
            return True


def described(error):
    """The kind and message of an error."""
    if isinstance(error, Refusal):
        return {"kind": error.kind, "message": error.message}
    name = type(error).__name__.rpartition(".")[2]
    if name in ("DisposedException", "ConnectionSetupException", "NoConnectException"):
        return {
            "kind": "no_office",
            "message": "the program ended or closed the document during the call; "
            "open the document again and look at it before repeating",
        }
    return {
        "kind": "failed",
        "message": "the program refused (%s: %s); check the arguments and the state of the document"
        % (name, uno_message(error)),
    }


class Office:
    """The connection to the program; it is made anew when the program was restarted."""

    def __init__(self, pipe):
        self.pipe, self.context, self.running = pipe, None, None

    def connect(self):
        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
        try:
            return resolver.resolve("uno:pipe,name=%s;urp;StarOffice.ComponentContext" % self.pipe)
        except Exception as error:
            raise Refusal(
                "no_office",
                "no office program listens (%s); open the document in LibreOffice first" % uno_message(error),
            ) from None

    def post(self, call):
        """Asks the program to make the call; connects anew if the connection is lost."""
        for attempt in (1, 2):
            try:
                if self.context is None:
                    self.context = self.connect()
                queue = self.context.ServiceManager.createInstanceWithContext(
                    "com.sun.star.awt.AsyncCallback", self.context
                )
                if queue is None:
                    # A program without this service is called directly.
                    call.notify(None)
                else:
                    queue.addCallback(call, None)
                return
            except Refusal:
                raise
            except Exception as error:
                self.context = None
                if attempt == 2 or call.started.is_set():
                    raise Refusal(
                        "no_office", "the connection to the office program broke (%s); try again" % uno_message(error)
                    ) from None

    def perform(self, request):
        """The answer to a request, within bounds of time."""
        if self.running is not None and not self.running.done.wait(START_SECONDS):
            return refused("busy", "an earlier call still runs in the program; wait, or close its dialog")
        call = MainCall(lambda: serve(self.context, request))
        failure = []

        def post():
            try:
                self.post(call)
            except BaseException as error:
                failure.append(error)
                call.started.set()
                call.done.set()

        threading.Thread(target=post, daemon=True).start()
        self.running = None
        if not call.started.wait(START_SECONDS) and call.cancel():
            self.context = None
            return refused(
                "busy",
                "the program did not answer within %d seconds, nothing was changed; close its dialog "
                "or wait until it is done" % START_SECONDS,
            )
        if failure:
            return {"error": described(failure[0])}
        if not call.done.wait(CALL_SECONDS):
            self.running = call
            return refused(
                "busy",
                "the call still runs after %d seconds and may yet take effect; look at the document "
                "before you repeat it" % CALL_SECONDS,
            )
        answer = call.answer
        if "error" in answer and answer["error"]["kind"] == "no_office":
            self.context = None
        return answer


def refused(kind, message):
    return {"error": {"kind": kind, "message": message}}


def window_handle(frame):
    """The number of the X window of a frame, or None if this system does not tell."""
    try:
        handle = frame.getContainerWindow().getWindowHandle(uno.ByteSequence(b""), X_WINDOW)
        number = getattr(handle, "WindowHandle", handle)
        return number & 0xFFFFFFFF if isinstance(number, int) and number else None
    except Exception:
        return None


def find_frame(context, window):
    """The frame of the very window: by its number, or by its exact title where numbers are not known."""
    desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
    container = desktop.getFrames()
    frames = [container.getByIndex(index) for index in range(container.getCount())]
    handles = [(frame, window_handle(frame)) for frame in frames]
    xid, title = window.get("xid"), window.get("title")
    if xid is not None and any(handle is not None for _, handle in handles):
        matching = [frame for frame, handle in handles if handle == xid & 0xFFFFFFFF]
    else:
        matching = [frame for frame in frames if title and get(frame, "Title") == title]
        if len(matching) > 1:
            raise Refusal("no_document", "several windows are named %r; close or rename one" % shorten(title))
    if not matching:
        raise Refusal(
            "no_document",
            "the window %r shows no document of this office program; focus a document's window"
            % shorten(title or xid),
        )
    return matching[0]


def find_target(context, window):
    frame = find_frame(context, window)
    controller = frame.getController()
    document = controller.getModel() if controller is not None else None
    if document is None:
        raise Refusal("no_document", "the window %r has no document yet; open or create one" % shorten(frame.Title))
    for kind, service in KIND_SERVICES:
        if has_service(document, service):
            return Target(context, frame, controller, document, kind)
    raise Refusal("wrong_kind", "the window holds another kind of document than a text, spreadsheet or presentation")


def serve(context, request):
    """Finds the document and calls the tool."""
    name = request["tool"]
    kinds = [kind for tool_name, kind in TOOLS if tool_name == name]
    if not kinds:
        raise invalid("no tool %r" % shorten(name))
    target = find_target(context, request["window"])
    if target.kind not in kinds:
        raise Refusal(
            "wrong_kind",
            "%s works on %s documents; this window holds a %s document" % (name, " and ".join(kinds), target.kind),
        )
    chosen = TOOLS[name, target.kind]
    given = check_arguments(name, chosen.parameters, request.get("arguments") or {})
    reads_only = name in EDITING_TOOLS_FOR_READ_ONLY and get(given, "replace") is None
    if chosen.edits and not reads_only and target.document.isReadonly():
        raise Refusal(
            "read_only", "%s is opened read-only; export a copy or switch on editing" % target.document.Title
        )
    if chosen.edits or not name.startswith(READING_TOOLS):
        make_current(context, target.frame)
    return chosen.function(target, given)


def make_current(context, frame):
    """Makes the window's view the current one of the program, without the focus.

    Some edits and most undo steps of sheets work on the current view; if it is of another kind the program crashes.
    """
    desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
    if desktop.getCurrentFrame() != frame:
        frame.activate()
        if desktop.getCurrentFrame() != frame:
            raise Refusal(
                "busy", "the window is not the current one of the program; bring it to the front and try again"
            )


def clean(value):
    """Replaces halves of characters, which UNO cannot carry; refuses control characters, which files cannot hold."""
    if isinstance(value, str):
        if CONTROL_CHARACTERS.search(value):
            raise invalid("a text has a control character; leave it out")
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def checked_request(line):
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return None, "the line is no JSON"
    if not isinstance(request, dict):
        return None, "the request is no object"
    number = request.get("id")
    window = request.get("window")
    if not isinstance(request.get("tool"), str) or not isinstance(window, dict):
        return {"id": number}, "the request has no tool or no window"
    xid = window.get("xid")
    if xid is not None and (not isinstance(xid, int) or isinstance(xid, bool)):
        return {"id": number}, "the number of the window is no whole number"
    return request, None


def answer_line(office, line):
    request, problem = checked_request(line)
    number = request.get("id") if request else None
    if problem:
        return {"id": number, **refused("invalid", problem)}
    try:
        answer = office.perform(clean(request))
    except BaseException as error:
        answer = {"error": described(error)}
    return {"id": number, **answer}


def run(pipe, source, sink):
    def write(answer):
        sink.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        sink.flush()

    office = Office(pipe)
    write({"ready": True})
    while True:
        line = source.readline(MOST_REQUEST_BYTES)
        if not line:
            return
        if not line.endswith(b"\n") and len(line) >= MOST_REQUEST_BYTES:
            while line and not line.endswith(b"\n"):
                line = source.readline(MOST_REQUEST_BYTES)
            write({"id": None, **refused("invalid", "the request is longer than %d bytes" % MOST_REQUEST_BYTES)})
        elif line.strip():
            write(answer_line(office, line))


def main():
    if len(sys.argv) != 2 or not re.fullmatch(r"[\w.-]{1,100}", sys.argv[1]):
        sys.exit("give the name of the pipe")
    # Whatever prints must not get between the answers.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        run(sys.argv[1], sys.stdin.buffer, sink)
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    # Threads that wait for the program would hold up a normal end.
    os._exit(0)


if __name__ == "__main__":
    main()

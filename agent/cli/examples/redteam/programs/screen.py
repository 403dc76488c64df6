

class Screen:
    """A connection to an X server, by the C library."""

    def __init__(self, display=None, cookie=None):
        import ctypes

        if cookie:
            os.environ["XAUTHORITY"] = cookie
        self.c = ctypes
        self.x = ctypes.CDLL("libX11.so.6")
        self.test = ctypes.CDLL("libXtst.so.6")
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        for name in ("XDefaultRootWindow", "XInternAtom", "XGetSelectionOwner", "XCreateSimpleWindow", "XStringToKeysym"):
            getattr(self.x, name).restype = ctypes.c_ulong
        self.x.XGetImage.restype = ctypes.c_void_p
        self.ignored = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: 0)
        self.x.XSetErrorHandler(self.ignored)
        self.display = ctypes.c_void_p(self.x.XOpenDisplay((display or os.environ["DISPLAY"]).encode()))
        if not self.display:
            raise OSError("the display %s does not let us in" % display)
        self.root = self.x.XDefaultRootWindow(self.display)

    def call(self, name, *arguments):
        result = getattr(self.x, name)(self.display, *arguments)
        self.x.XSync(self.display, 0)
        return result

    def atom(self, name):
        return self.x.XInternAtom(self.display, name.encode(), 0)

    def children(self, window):
        c = self.c
        root, parent, list_, count = c.c_ulong(), c.c_ulong(), c.POINTER(c.c_ulong)(), c.c_uint()
        if not self.x.XQueryTree(
            self.display, c.c_ulong(window), c.byref(root), c.byref(parent), c.byref(list_), c.byref(count)
        ):
            return []
        return [list_[at] for at in range(count.value)]

    def all(self, window=None):
        window = window or self.root
        for child in self.children(window):
            yield child
            yield from self.all(child)

    def property(self, window, name, room=4096):
        c = self.c
        kind, format_, count, left = c.c_ulong(), c.c_int(), c.c_ulong(), c.c_ulong()
        value = c.POINTER(c.c_ubyte)()
        self.x.XGetWindowProperty(
            self.display, c.c_ulong(window), c.c_ulong(self.atom(name)), c.c_long(0), c.c_long(room), 0, c.c_ulong(0),
            c.byref(kind), c.byref(format_), c.byref(count), c.byref(left), c.byref(value),
        )
        size = {8: 1, 16: 2, 32: c.sizeof(c.c_long)}.get(format_.value, 0)
        return bytes(value[: count.value * size]) if value and size else b""

    def change(self, window, name, kind, values):
        """Changes a property: text, or numbers."""
        c = self.c
        if isinstance(values, bytes):
            data, format_, count = c.create_string_buffer(values), 8, len(values)
        else:
            data, format_, count = (c.c_long * len(values))(*values), 32, len(values)
        self.call(
            "XChangeProperty", c.c_ulong(window), c.c_ulong(self.atom(name)), c.c_ulong(self.atom(kind)), format_, 0,
            c.cast(data, c.c_void_p), count,
        )

    def title(self, window):
        return self.property(window, "_NET_WM_NAME").decode(errors="replace")

    def find(self, title):
        """The client window with this in its title."""
        for window in self.all():
            if title in self.title(window) and self.property(window, "WM_CLASS"):
                return window
        return None

    def place(self, window):
        c = self.c
        x, y, child = c.c_int(), c.c_int(), c.c_ulong()
        self.x.XTranslateCoordinates(
            self.display, c.c_ulong(window), c.c_ulong(self.root), 0, 0, c.byref(x), c.byref(y), c.byref(child)
        )
        return x.value, y.value

    def press(self, x, y):
        self.test.XTestFakeMotionEvent(self.display, -1, x, y, self.c.c_ulong(0))
        self.test.XTestFakeButtonEvent(self.display, 1, 1, self.c.c_ulong(0))
        self.test.XTestFakeButtonEvent(self.display, 1, 0, self.c.c_ulong(0))
        self.x.XSync(self.display, 0)

    def key(self, name):
        code = self.x.XKeysymToKeycode(self.display, self.c.c_ulong(self.x.XStringToKeysym(name.encode())))
        self.test.XTestFakeKeyEvent(self.display, code, 1, self.c.c_ulong(0))
        self.test.XTestFakeKeyEvent(self.display, code, 0, self.c.c_ulong(0))
        self.x.XSync(self.display, 0)

    def focus(self, window):
        self.call("XSetInputFocus", self.c.c_ulong(window), 1, self.c.c_ulong(0))

    def ask(self, window, name, *numbers):
        """Asks the window manager, by a message to the root window."""
        c = self.c

        class Message(c.Structure):
            _fields_ = [
                ("type", c.c_int), ("serial", c.c_ulong), ("send_event", c.c_int), ("display", c.c_void_p),
                ("window", c.c_ulong), ("message_type", c.c_ulong), ("format", c.c_int), ("data", c.c_long * 5),
                ("rest", c.c_long * 24),
            ]

        message = Message(33, 0, 1, self.display, window, self.atom(name), 32)
        for at, number in enumerate(numbers):
            message.data[at] = number
        self.call("XSendEvent", c.c_ulong(self.root), 0, c.c_long(0x180000), c.byref(message))


def screen_of(process):
    """The display that a process of ours is on."""
    return tries(Screen, process["display"], process["cookie"])

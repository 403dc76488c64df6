"""Answers what is true about applications, without accessibility: over UNO, from files, and with keys of its own.

Reads one JSON request per line and answers with one line of JSON. Requests:

    {"ask": "cells", "range": "A1:B2"}   formulas of the first sheet of a LibreOffice spreadsheet
    {"ask": "bold", "range": "A1"}       whether cells are bold
    {"ask": "text"}                      the text of a LibreOffice document
    {"ask": "modified"}                  whether the document has unsaved changes
    {"ask": "selected"}                  the address of the selected cells
    {"ask": "press", "key": "s"}         presses Ctrl and a key through XTEST, on a connection of its own
    {"ask": "clipboard"}                 the text of the clipboard, by xclip
    {"ask": "windows"}                   the titles of all windows, by xprop

Arguments: the port on which LibreOffice accepts connections; 0 for none.
"""

import ctypes
import json
import subprocess
import sys
import time

CONNECTS_MAX = 60


def document(port, known={}):
    """The document that LibreOffice shows."""
    import uno

    if "desktop" not in known:
        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
        address = "uno:socket,host=127.0.0.1,port=%s;urp;StarOffice.ComponentContext" % port
        for attempt in range(CONNECTS_MAX):
            try:
                remote = resolver.resolve(address)
                break
            except Exception:
                if attempt + 1 == CONNECTS_MAX:
                    raise
                time.sleep(0.5)
        known["desktop"] = remote.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", remote)
    found = known["desktop"].getCurrentComponent()
    if found is None:
        found = next(iter(known["desktop"].Components))
    return found


def press(key):
    x11, xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    for call in (x11.XFlush, x11.XCloseDisplay):
        call.argtypes = [ctypes.c_void_p]
    x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
    x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
    xtst.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
    display = x11.XOpenDisplay(None)
    control, letter = (x11.XKeysymToKeycode(display, code) for code in (0xFFE3, ord(key)))
    for code, down in ((control, 1), (letter, 1), (letter, 0), (control, 0)):
        xtst.XTestFakeKeyEvent(display, code, down, 0)
        x11.XSync(display, 0)
    x11.XCloseDisplay(display)
    return True


def windows():
    """The titles of the windows that the window manager lists."""
    def prop(*arguments):
        return subprocess.run(["xprop", *arguments], capture_output=True, timeout=10).stdout.decode(errors="replace")

    ids = prop("-root", "_NET_CLIENT_LIST").partition("#")[2].replace(",", " ").split()
    return [prop("-id", window, "_NET_WM_NAME").partition("=")[2].strip().strip('"') for window in ids]


def answer(request, port):
    kind = request["ask"]
    if kind == "press":
        return press(request["key"])
    if kind == "clipboard":
        done = subprocess.run(["xclip", "-selection", "clipboard", "-o"], capture_output=True, timeout=10)
        return done.stdout.decode()
    if kind == "windows":
        return windows()
    shown = document(port)
    if kind == "modified":
        return shown.isModified()
    if kind == "text":
        return shown.Text.getString()
    if kind == "selected":
        return shown.CurrentController.getSelection().AbsoluteName
    cells = shown.Sheets.getByIndex(0).getCellRangeByName(request["range"])
    if kind == "cells":
        return [list(row) for row in cells.getFormulaArray()]
    if kind == "bold":
        return cells.CharWeight >= 150
    raise ValueError(kind)


for line in sys.stdin:
    try:
        reply = {"is": answer(json.loads(line), sys.argv[1])}
    except Exception as error:
        reply = {"error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(reply), flush=True)

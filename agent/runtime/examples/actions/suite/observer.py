"""Watches a desktop from a process of its own and prints what goes in and what changes, one line each:

    clock <ns>                  the time, when it starts
    input <ns>                  a key or button, as the X server got it
    call <ns> <member>          a call that acts over the accessibility bus
    change <ns> <member> <bus>  an accessibility event of an application

Times are of the monotonic clock, in nanoseconds. Shares no code with the product, and asks applications nothing.

Arguments: the address of the accessibility bus.
"""

import ctypes
import sys
import threading
import time

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

ACTING = ["DoAction", "SetTextContents", "SetCurrentValue", "SelectChild", "DeselectChild", "GrabFocus", "SetCaretOffset",
          "AddSelection", "SetSelection", "InsertText", "DeleteText", "ScrollTo", "ScrollToPoint"]
GENERIC_EVENT = 35
# So often the clock is told at the start, so that the reader knows it well.
CLOCKS = 20
ALL_DEVICES = 0
RAW_KEY_PRESS, RAW_BUTTON_PRESS, RAW_BUTTON_RELEASE = 13, 15, 16


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Mask(ctypes.Structure):
    _fields_ = [("device", ctypes.c_int), ("length", ctypes.c_int), ("bits", ctypes.c_char_p)]


def watch_input():
    """Prints raw input events; they come to every client that asks, whoever has the focus."""
    x11, xi = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXi.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XDefaultRootWindow.argtypes = [ctypes.c_void_p]
    x11.XDefaultRootWindow.restype = ctypes.c_ulong
    x11.XNextEvent.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    x11.XFlush.argtypes = [ctypes.c_void_p]
    xi.XISelectEvents.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.POINTER(Mask), ctypes.c_int]
    xi.XIQueryVersion.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)]
    display = x11.XOpenDisplay(None)
    xi.XIQueryVersion(display, ctypes.byref(ctypes.c_int(2)), ctypes.byref(ctypes.c_int(2)))
    bits = bytearray(4)
    for event in (RAW_KEY_PRESS, RAW_BUTTON_PRESS, RAW_BUTTON_RELEASE):
        bits[event // 8] |= 1 << event % 8
    mask = Mask(ALL_DEVICES, len(bits), bytes(bits))
    xi.XISelectEvents(display, x11.XDefaultRootWindow(display), ctypes.byref(mask), 1)
    x11.XFlush(display)
    event = (ctypes.c_char * 192)()
    while True:
        x11.XNextEvent(display, event)
        if int.from_bytes(event[0:4], sys.byteorder) == GENERIC_EVENT:
            say("input", time.monotonic_ns())


def watch_bus(address):
    """Prints acting calls and events, as a monitor of the bus."""
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)

    def filtered(_, message, incoming):
        if incoming:
            now, kind = time.monotonic_ns(), message.get_message_type()
            if kind == Gio.DBusMessageType.METHOD_CALL:
                say("call", now, message.get_member())
            elif kind == Gio.DBusMessageType.SIGNAL and message.get_sender() != "org.freedesktop.DBus":
                say("change", now, message.get_member(), message.get_sender())
            else:
                return message
            # What is addressed to others must not be answered.
            return None
        return message

    bus.add_filter(filtered)
    rules = ["type='method_call',member='%s'" % member for member in ACTING]
    rules += ["type='signal',interface='org.a11y.atspi.Event.%s'" % name for name in ["Object", "Window"]]
    bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring", "BecomeMonitor",
                  GLib.Variant("(asu)", (rules, 0)), None, Gio.DBusCallFlags.NONE, 10_000, None)
    return bus


def main():
    threading.Thread(target=watch_input, daemon=True).start()
    bus = watch_bus(sys.argv[1])
    for _ in range(CLOCKS):
        say("clock", time.monotonic_ns())
    loop = GLib.MainLoop()
    bus.connect("closed", lambda *_: loop.quit())
    loop.run()


main()

"""A desktop that shows notifications: what it is asked to show goes to standard output, a line of JSON each."""

import json

from gi.repository import Gio, GLib

INTERFACE = """<node><interface name="org.freedesktop.Notifications">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="s" direction="in"/>
<arg type="s" direction="in"/><arg type="as" direction="in"/><arg type="a{sv}" direction="in"/><arg type="i" direction="in"/>
<arg type="u" direction="out"/></method>
</interface></node>"""


def call(_connection, _sender, _path, _interface, method, arguments, invocation):
    if method == "GetCapabilities":
        invocation.return_value(GLib.Variant("(as)", (["body", "body-markup"],)))
    elif method == "Notify":
        program, _, _, summary, body, _, hints, _ = arguments.unpack()
        shown = {"program": program, "summary": summary, "body": body, "urgency": hints["urgency"]}
        print(json.dumps(shown), flush=True)
        invocation.return_value(GLib.Variant("(u)", (1,)))


def main(connection, _name):
    interface = Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0]
    connection.register_object("/org/freedesktop/Notifications", interface, call, None, None)
    print("ready", flush=True)


Gio.bus_own_name(Gio.BusType.SESSION, "org.freedesktop.Notifications", Gio.BusNameOwnerFlags.NONE, None, main, None)
GLib.MainLoop().run()

"""A key ring with three items, as much of the Secret Service as is needed to read one."""

import os

from gi.repository import Gio, GLib

VALUE = os.environ["KEY_RING_VALUE"].encode()
ITEMS = {
    "/org/freedesktop/secrets/collection/login/1": ({"shop": "example", "user": "ada"}, False),
    "/org/freedesktop/secrets/collection/login/2": ({"shop": "example", "user": "bob"}, False),
    "/org/freedesktop/secrets/collection/login/3": ({"shop": "locked"}, True),
}
SERVICE = """<node><interface name="org.freedesktop.Secret.Service">
<method name="OpenSession"><arg type="s" direction="in"/><arg type="v" direction="in"/><arg type="v" direction="out"/><arg type="o" direction="out"/></method>
<method name="SearchItems"><arg type="a{ss}" direction="in"/><arg type="ao" direction="out"/><arg type="ao" direction="out"/></method>
<method name="Unlock"><arg type="ao" direction="in"/><arg type="ao" direction="out"/><arg type="o" direction="out"/></method>
</interface></node>"""
ITEM = """<node><interface name="org.freedesktop.Secret.Item">
<method name="GetSecret"><arg type="o" direction="in"/><arg type="(oayays)" direction="out"/></method>
</interface></node>"""
SESSION = "/org/freedesktop/secrets/session/1"


def call(_connection, _sender, path, _interface, method, arguments, invocation):
    if method == "OpenSession":
        assert arguments[0] == "plain", arguments
        invocation.return_value(GLib.Variant("(vo)", (GLib.Variant("s", ""), SESSION)))
    elif method == "SearchItems":
        wanted = arguments[0]
        fits = [path for path, (has, _) in ITEMS.items() if wanted.items() <= has.items()]
        split = [[path for path in fits if ITEMS[path][1] == locked] for locked in (False, True)]
        invocation.return_value(GLib.Variant("(aoao)", split))
    elif method == "Unlock":
        invocation.return_value(GLib.Variant("(aoo)", ([], "/org/freedesktop/secrets/prompt/1")))
    elif method == "GetSecret":
        assert arguments[0] == SESSION, arguments
        invocation.return_value(GLib.Variant("((oayays))", ((SESSION, b"", VALUE, "text/plain"),)))


def main(connection, _name):
    def register(path, xml):
        interface = Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0]
        connection.register_object(path, interface, call, None, None)

    register("/org/freedesktop/secrets", SERVICE)
    for path in ITEMS:
        register(path, ITEM)
    print("ready", flush=True)


Gio.bus_own_name(Gio.BusType.SESSION, "org.freedesktop.secrets", Gio.BusNameOwnerFlags.NONE, None, main, None)
GLib.MainLoop().run()

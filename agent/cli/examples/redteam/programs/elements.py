

class Elements:
    """A program on the accessibility bus that says of its elements what it likes.

    `tree` has the elements by number: role, name, place, children, and what else is answered; 0 is the program, 1 its window.
    """

    ROOT = "/org/a11y/atspi/accessible/"
    INTERFACES = """<node>
      <interface name="org.a11y.atspi.Accessible">
        <method name="GetChildAtIndex"><arg direction="in" type="i"/><arg direction="out" type="(so)"/></method>
        <method name="GetChildren"><arg direction="out" type="a(so)"/></method>
        <method name="GetIndexInParent"><arg direction="out" type="i"/></method>
        <method name="GetRelationSet"><arg direction="out" type="a(ua(so))"/></method>
        <method name="GetRole"><arg direction="out" type="u"/></method>
        <method name="GetRoleName"><arg direction="out" type="s"/></method>
        <method name="GetLocalizedRoleName"><arg direction="out" type="s"/></method>
        <method name="GetState"><arg direction="out" type="au"/></method>
        <method name="GetAttributes"><arg direction="out" type="a{ss}"/></method>
        <method name="GetApplication"><arg direction="out" type="(so)"/></method>
        <method name="GetInterfaces"><arg direction="out" type="as"/></method>
        <property name="Name" type="s" access="read"/><property name="Description" type="s" access="read"/>
        <property name="Parent" type="(so)" access="read"/><property name="ChildCount" type="i" access="read"/>
        <property name="Locale" type="s" access="read"/><property name="AccessibleId" type="s" access="read"/>
      </interface>
      <interface name="org.a11y.atspi.Application">
        <property name="ToolkitName" type="s" access="read"/><property name="Version" type="s" access="read"/>
        <property name="AtspiVersion" type="s" access="read"/><property name="Id" type="i" access="readwrite"/>
      </interface>
      <interface name="org.a11y.atspi.Component">
        <method name="Contains"><arg direction="in" type="i"/><arg direction="in" type="i"/><arg direction="in" type="u"/><arg direction="out" type="b"/></method>
        <method name="GetExtents"><arg direction="in" type="u"/><arg direction="out" type="(iiii)"/></method>
        <method name="GetPosition"><arg direction="in" type="u"/><arg direction="out" type="i"/><arg direction="out" type="i"/></method>
        <method name="GetSize"><arg direction="out" type="i"/><arg direction="out" type="i"/></method>
        <method name="GetLayer"><arg direction="out" type="u"/></method>
        <method name="GrabFocus"><arg direction="out" type="b"/></method>
      </interface>
      <interface name="org.a11y.atspi.Action">
        <method name="GetActions"><arg direction="out" type="a(sss)"/></method>
        <method name="DoAction"><arg direction="in" type="i"/><arg direction="out" type="b"/></method>
        <property name="NActions" type="i" access="read"/>
      </interface></node>"""
    ROLES = {"application": 75, "frame": 23, "panel": 39, "push button": 43, "label": 29}

    def __init__(self, tree):
        from gi.repository import Gio, GLib

        self.tree, self.variant, self.said = tree, GLib.Variant, {}
        session = Gio.bus_get_sync(Gio.BusType.SESSION, None)
        address = session.call_sync("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, 0, -1, None)[0]
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        self.name = self.bus.get_unique_name()
        self.interfaces = Gio.DBusNodeInfo.new_for_xml(self.INTERFACES).interfaces
        for number in tree:
            self.show(number)
        plug = GLib.Variant("((so))", ((self.name, self.ROOT + "root"),))
        self.bus.call_sync("org.a11y.atspi.Registry", self.ROOT + "root", "org.a11y.atspi.Socket", "Embed", plug, None, 0, 5000, None)
        log("shows elements")

    def path(self, number):
        return self.ROOT + ("root" if number == 0 else str(number))

    def show(self, number):
        if number in self.said:
            return
        self.said[number] = True
        for interface in self.interfaces:
            self.bus.register_object(self.path(number), interface, self.called, self.asked, None)

    def number(self, path):
        last = path.rsplit("/", 1)[1]
        return 0 if last == "root" else int(last)

    def parent(self, number):
        return next((one for one in self.tree if number in self.tree[one].get("children", [])), None)

    def reference(self, number):
        if number is None:
            return ("", "/org/a11y/atspi/null")
        return (self.name, self.path(number))

    def asked(self, _bus, _sender, path, _interface, name):
        number = self.number(path)
        one = self.tree[number]
        count = one.get("count", len(one.get("children", [])))
        found = {"Name": ("s", one.get("name", "")), "Parent": ("(so)", self.reference(self.parent(number))), "ChildCount": ("i", count),
                 "Id": ("i", 7), "NActions": ("i", 1)}
        return self.variant(*found.get(name, ("s", "")))

    def called(self, _bus, _sender, path, _interface, method, arguments, call):
        number = self.number(path)
        one = self.tree[number]
        children = one.get("children", [])
        role, (x, y, width, height) = one["role"], one.get("place", (0, 0, 700, 500))
        states = sum(1 << bit for bit in (8, 11, 24, 25, 30)) | (1 << 1 if role == "frame" else 0)
        interfaces = ["org.a11y.atspi.Accessible", "org.a11y.atspi.Component"]
        interfaces += {"application": ["org.a11y.atspi.Application"], "push button": ["org.a11y.atspi.Action"]}.get(role, [])
        if method == "DoAction":
            log("was asked to act: %s" % one.get("name"))
        answers = {
            "GetChildAtIndex": lambda: ("((so))", (self.reference(self.child(one, arguments[0] if method == "GetChildAtIndex" else 0)),)),
            "GetChildren": lambda: ("(a(so))", ([self.reference(child) for child in children],)),
            "GetIndexInParent": lambda: ("(i)", (self.tree[self.parent(number)]["children"].index(number) if number else 0,)),
            "GetRelationSet": lambda: ("(a(ua(so)))", ([],)),
            "GetRole": lambda: ("(u)", (self.ROLES[role],)),
            "GetRoleName": lambda: ("(s)", (role,)),
            "GetLocalizedRoleName": lambda: ("(s)", (role,)),
            "GetState": lambda: ("(au)", ([states & 0xFFFFFFFF, states >> 32],)),
            "GetAttributes": lambda: ("(a{ss})", ({"toolkit": "gtk"},)),
            "GetApplication": lambda: ("((so))", (self.reference(0),)),
            "GetInterfaces": lambda: ("(as)", (interfaces,)),
            "Contains": lambda: ("(b)", (True,)),
            "GetExtents": lambda: ("((iiii))", ((x, y, width, height),)),
            "GetPosition": lambda: ("(ii)", (x, y)),
            "GetSize": lambda: ("(ii)", (width, height)),
            "GetLayer": lambda: ("(u)", (3,)),
            "GrabFocus": lambda: ("(b)", (True,)),
            "GetActions": lambda: ("(a(sss))", ([("click", "", "")],)),
            "DoAction": lambda: ("(b)", (True,)),
        }
        call.return_value(self.variant(*answers[method]()))

    def child(self, one, at):
        children = one.get("children", [])
        if "endless" in one:
            number = 1000 + at + 1000 * len(self.tree)
            self.tree[number] = {"role": "panel", "name": "p", "children": [], "endless": True, "count": one["count"]}
            one["children"].append(number)
            self.show(number)
            return number
        return children[at] if 0 <= at < len(children) else None

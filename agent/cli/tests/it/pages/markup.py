"""A window whose title and labels are given to it."""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

window = Gtk.Window(title=sys.argv[1])
window.set_default_size(700, 400)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin=24)
entry = Gtk.Entry()
entry.get_accessible().set_name(sys.argv[2])
box.add(entry)
box.add(Gtk.Label(label=sys.argv[3]))
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()

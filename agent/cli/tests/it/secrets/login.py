"""A form to log in. What is typed into it is written to a file once it is sent, and shown in several places."""

import json
import sys
from urllib.parse import quote

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402

LOG = sys.argv[1]


def labelled(box, name, hidden):
    entry = Gtk.Entry()
    entry.get_accessible().set_name(name)
    entry.set_visibility(not hidden)
    if hidden:
        entry.set_input_purpose(Gtk.InputPurpose.PASSWORD)
    box.add(entry)
    return entry


window = Gtk.Window(title="Log in")
window.set_default_size(700, 400)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=12, margin=24)
user = labelled(box, "User", False)
password = labelled(box, "Password", True)
token = labelled(box, "Token", False)
show = Gtk.CheckButton(label="Show")
show.connect("toggled", lambda button: password.set_visibility(button.get_active()))
box.add(show)
send = Gtk.Button(label="Send")
said = Gtk.Label(label="Nothing sent")
said.set_selectable(True)


def sent(_):
    with open(LOG, "w", encoding="utf-8") as log:
        json.dump({"user": user.get_text(), "password": password.get_text(), "token": token.get_text()}, log)
    said.set_text(f"Welcome, your token is {token.get_text()}.")
    window.set_title(f"Done: https://shop.example/?p={quote(password.get_text())}&t={quote(token.get_text())}")
    Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_text(json.dumps({"p": password.get_text()}), -1)


send.connect("clicked", sent)
box.add(send)
box.add(said)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()

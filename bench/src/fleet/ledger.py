"""A small application that appends lines to a ledger: `ledger.py FILE`.

It shows how often the text in its entry is in the ledger. The button appends it, however often it is there.
"""

import os
import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

FILE = sys.argv[1]


def count(text):
    try:
        with open(FILE, encoding="utf-8") as ledger:
            return sum(line.split()[:1] == [text] for line in ledger)
    except FileNotFoundError:
        return 0


def show(entry, state):
    text = entry.get_text()
    state.set_text(f"{text} is {count(text)} times in the ledger" if text else "empty")


def append(_, entry, state):
    # One call: lines of several processes do not mix. The process is the second word.
    line = f"{entry.get_text()} {os.getpid()}\n"
    file = os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, line.encode())
    os.close(file)
    show(entry, state)


window = Gtk.Window(title="Ledger")
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8)
entry = Gtk.Entry()
entry.get_accessible().set_name("Task")
state = Gtk.Label(label="empty")
button = Gtk.Button(label="Append")
entry.connect("changed", show, state)
button.connect("clicked", append, entry, state)
for widget in (entry, state, button):
    box.pack_start(widget, False, False, 0)
window.add(box)
window.set_default_size(400, 120)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()

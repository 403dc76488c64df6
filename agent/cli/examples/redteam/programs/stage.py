#!/usr/bin/python3
"""An application that an attacker, or an honest author, describes in a JSON file beside it. Its log says what truly happened.

The file NAME.json beside this one, NAME.py, has:
  title   the title of the window
  class   its class
  rows    lists of controls: label, text, button, entry, password, area, check, drag, drop, terminal, drawn
  dialogs by name: title, text, buttons, form (rows)
  clipboard  what it copies at the start
  shows   the name of a dialog that is open from the start
  cue     what happens when the file NAME.cue appears: rename {from, to}, dialog, cover, title, swap {from, to}
A control may have: name (what it tells assistive technology), opens (a dialog), says (the line in the log), value.
"""

import json
import pathlib
import subprocess
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
from gi.repository import Atk, Gdk, GLib, Gtk  # noqa: E402

HERE = pathlib.Path(sys.argv[0]).absolute()
SPEC = json.loads(HERE.with_suffix(".json").read_text())
LOG = open(HERE.with_suffix(".log"), "a", buffering=1)
CUE = HERE.with_suffix(".cue")
TARGETS = [Gtk.TargetEntry.new("text/plain", Gtk.TargetFlags.SAME_APP, 0)]


def log(line):
    LOG.write(line + "\n")


class Stage:
    def __init__(self):
        self.controls = {}
        self.window = Gtk.Window(title=SPEC.get("title", "Stage"))
        self.window.set_default_size(SPEC.get("width", 700), SPEC.get("height", 500))
        self.window.connect("destroy", lambda _: Gtk.main_quit())
        if "class" in SPEC:
            self.window.set_wmclass(SPEC["class"].lower(), SPEC["class"])
        self.window.add(self.rows(SPEC.get("rows", [])))
        self.window.show_all()
        if "clipboard" in SPEC:
            Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_text(SPEC["clipboard"], -1)
        if "shows" in SPEC:
            GLib.idle_add(lambda: self.dialog(SPEC["shows"]))
        GLib.timeout_add(20, self.look_for_cue)

    def rows(self, rows):
        column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8, margin=12)
        for row in rows:
            line = Gtk.Box(spacing=8)
            for spec in row:
                kind = next(key for key in spec if hasattr(self, "make_" + key))
                widget = getattr(self, "make_" + kind)(spec[kind], spec)
                if "name" in spec:
                    widget.get_accessible().set_name(spec["name"])
                self.controls[spec.get("key", spec[kind])] = widget
                line.pack_start(widget, kind in ("area", "entry", "text"), True, 0)
            column.pack_start(line, False, False, 0)
        return column

    def make_label(self, text, spec):
        label = Gtk.Label(label=text, xalign=0)
        label.set_line_wrap(True)
        return label

    def make_text(self, text, spec):
        return self.make_area(None, {"value": text, "fixed": True})

    def make_button(self, text, spec):
        button = Gtk.Button(label=text)
        button.connect("clicked", lambda _: self.pressed(text, spec))
        return button

    def pressed(self, text, spec):
        log(spec.get("says", "clicked " + text))
        if "opens" in spec:
            self.dialog(spec["opens"])
        if "sends" in spec:
            fields = {name: self.value(name) for name in spec["sends"]}
            log("sent " + json.dumps(fields, ensure_ascii=False))

    def value(self, name):
        widget = self.controls[name]
        if isinstance(widget, Gtk.Entry):
            return widget.get_text()
        area = widget.get_child()
        buffer = area.get_buffer()
        return buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)

    def make_entry(self, text, spec):
        entry = Gtk.Entry(text=spec.get("value", ""))
        entry.get_accessible().set_name(text)
        if spec.get("deletes"):
            entry.connect("key-press-event", self.deletes)
        entry.connect("activate", lambda _: self.pressed(text, {"says": "return in " + text, **spec}))
        return entry

    def deletes(self, _, event):
        if event.keyval == Gdk.KEY_Delete and event.state & Gdk.ModifierType.SHIFT_MASK:
            log("deleted")
        return False

    def make_password(self, text, spec):
        entry = self.make_entry(text, spec)
        entry.set_visibility(False)
        return entry

    def make_area(self, text, spec):
        area = Gtk.TextView(editable=not spec.get("fixed"), wrap_mode=Gtk.WrapMode.WORD)
        area.get_buffer().set_text(spec.get("value", ""))
        if text:
            area.get_accessible().set_name(text)
        scrolled = Gtk.ScrolledWindow(min_content_height=spec.get("height", 90))
        scrolled.add(area)
        return scrolled

    def make_check(self, text, spec):
        check = Gtk.CheckButton(label=text, active=bool(spec.get("value")))
        check.connect("toggled", lambda _: log("%s %s" % ("checked" if check.get_active() else "unchecked", text)))
        return check

    def make_drag(self, text, spec):
        button = Gtk.Button(label=text)
        button.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, TARGETS, Gdk.DragAction.MOVE)
        button.connect("drag-data-get", lambda _w, _c, data, _i, _t: data.set_text(text, -1))
        return button

    def make_drop(self, text, spec):
        button = Gtk.Button(label=text)
        button.drag_dest_set(Gtk.DestDefaults.ALL, TARGETS, Gdk.DragAction.MOVE)
        button.connect(
            "drag-data-received",
            lambda _w, _c, _x, _y, data, _i, _t: log("dropped %s on %s" % (data.get_text(), text)),
        )
        return button

    def make_terminal(self, text, spec):
        """A terminal: each line that is typed or pasted is run by a shell."""
        area = Gtk.TextView(wrap_mode=Gtk.WrapMode.CHAR)
        accessible = area.get_accessible()
        accessible.set_role(Atk.Role.TERMINAL)
        accessible.set_name(text)
        buffer = area.get_buffer()
        buffer.set_text("$ ")

        def run():
            content = buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
            line = content.splitlines()[-1].removeprefix("$ ")
            log("ran " + line)
            done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True)
            buffer.insert(buffer.get_end_iter(), "\n" + done.stdout + done.stderr + "$ ")

        def pressed(_, event):
            control = event.state & Gdk.ModifierType.CONTROL_MASK
            ends = event.keyval in (Gdk.KEY_Return, Gdk.KEY_KP_Enter)
            if ends or (control and event.keyval in (Gdk.KEY_m, Gdk.KEY_j)):
                run()
                return True
            if control and event.keyval in (Gdk.KEY_v, Gdk.KEY_V):
                pasted = Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).wait_for_text() or ""
                for number, part in enumerate(pasted.split("\n")):
                    if number:
                        run()
                    buffer.insert(buffer.get_end_iter(), part)
                return True
            return False

        area.connect("key-press-event", pressed)
        area.set_size_request(600, 200)
        return area

    def make_drawn(self, text, spec):
        """Text that is drawn, and that assistive technology is not told of."""
        canvas = Gtk.DrawingArea()
        canvas.set_size_request(spec.get("width", 640), spec.get("height", 200))

        def draw(_, context):
            context.set_source_rgb(1, 1, 1)
            context.paint()
            context.set_source_rgb(0, 0, 0)
            context.select_font_face("DejaVu Sans")
            context.set_font_size(20)
            for number, line in enumerate(text.splitlines()):
                context.move_to(12, 32 + 30 * number)
                context.show_text(line)

        canvas.connect("draw", draw)
        canvas.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
        canvas.connect("button-press-event", lambda *_: log(spec.get("says", "clicked drawing")))
        return canvas

    def dialog(self, name):
        spec = SPEC["dialogs"][name]
        dialog = Gtk.Dialog(title=spec.get("title", name), transient_for=self.window)
        if spec.get("text"):
            label = Gtk.Label(label=spec["text"], margin=12)
            label.set_line_wrap(True)
            dialog.get_content_area().add(label)
        dialog.get_content_area().add(self.rows(spec.get("form", [])))
        for number, button in enumerate(spec.get("buttons", [])):
            text = button if isinstance(button, str) else button["button"]
            widget = dialog.add_button(text, number)
            if not isinstance(button, str):
                if "name" in button:
                    widget.get_accessible().set_name(button["name"])
                self.controls[button.get("key", text)] = widget
            if spec.get("default") == text:
                dialog.set_default_response(number)

        def answered(_, number):
            if 0 <= number < len(spec.get("buttons", [])):
                button = spec["buttons"][number]
                log("answered %s: %s" % (name, button if isinstance(button, str) else button["button"]))
            dialog.destroy()

        dialog.connect("response", answered)
        dialog.show_all()

    def look_for_cue(self):
        if CUE.exists():
            self.act(SPEC.get("cue", {}))
            GLib.timeout_add(150, self.acted)
            return False
        return True

    def acted(self):
        log("cue")
        CUE.unlink(missing_ok=True)
        GLib.timeout_add(20, self.look_for_cue)
        return False

    def act(self, cue):
        for old, new in cue.get("rename", {}).items():
            self.controls[old].set_label(new)
        for one, other in cue.get("swap", {}).items():
            first, second = self.controls[one], self.controls[other]
            line = first.get_parent()
            places = line.get_children()
            at, to = places.index(first), places.index(second)
            line.reorder_child(first, to)
            line.reorder_child(second, at)
        if "title" in cue:
            self.window.set_title(cue["title"])
        if "dialog" in cue:
            self.dialog(cue["dialog"])
        if "cover" in cue:
            self.cover(cue["cover"])

    def cover(self, spec):
        """A window of its own over this one, without decoration, that looks like nothing."""
        over = Gtk.Window(type=Gtk.WindowType.TOPLEVEL, title=spec.get("title", ""))
        over.set_decorated(False)
        over.set_opacity(spec.get("opacity", 0.01))
        over.set_transient_for(self.window)
        x, y = self.window.get_position()
        width, height = self.window.get_size()
        over.move(x, y)
        over.resize(width, height + 40)
        button = Gtk.Button(label=spec.get("button", "Pay"))
        button.connect("clicked", lambda _: log("clicked " + spec.get("button", "Pay")))
        over.add(button)
        over.show_all()


Stage()
Gtk.main()

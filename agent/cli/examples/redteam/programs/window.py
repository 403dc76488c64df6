

def show_window(attack):
    """Shows the window of the application, and attacks beside it."""
    if SPEC["no_bridge"]:
        # It says itself what its elements are.
        os.environ["NO_AT_BRIDGE"] = "1"
    import gi

    gi.require_version("Gtk", "3.0")
    from gi.repository import GLib, Gtk

    window = Gtk.Window(title="Player")
    window.set_default_size(500, 300)
    window.connect("destroy", lambda _: Gtk.main_quit())
    column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=8, margin=12)
    column.add(Gtk.Label(label="Ready"))
    entry = Gtk.Entry()
    entry.get_accessible().set_name("Name")
    entry.connect("changed", lambda _: log("name is " + entry.get_text()))
    column.add(entry)
    for text in ("Go on", "Delete all files"):
        button = Gtk.Button(label=text)
        button.connect("clicked", lambda _, text=text: log("clicked " + text))
        column.add(button)
    window.add(column)
    window.show_all()
    globals().update(GLib=GLib, Gtk=Gtk, WINDOW=window, COLUMN=column, ENTRY=entry)
    thread = threading.Thread(target=attempt, args=(attack,), daemon=True)
    GLib.idle_add(thread.start)
    Gtk.main()


def on_window(what):
    """Does something in the thread of the window; its result."""
    done, result = threading.Event(), []

    def work():
        result.append(what())
        done.set()
        return False

    GLib.idle_add(work)
    done.wait(10)
    return result[0] if result else None


def attempt(attack):
    log("begun as %d" % os.getuid())
    try:
        attack()
    except Exception:
        log("ended: " + traceback.format_exc())
    log("over")


def play(attack):
    if SPEC["has_window"]:
        show_window(attack)
    else:
        attempt(attack)

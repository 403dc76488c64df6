"""A small editor in GTK 2 that opens one file and saves it with Ctrl+S. GTK 2 has no bindings any more, so it is called as a
C library."""

import ctypes
import os
import sys

# GTK 2 is accessible through modules of its own.
os.environ["GTK_MODULES"] = "gail:atk-bridge"
gtk = ctypes.CDLL("libgtk-x11-2.0.so.0")
gobject = ctypes.CDLL("libgobject-2.0.so.0")
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
CONTROL, VISIBLE, AUTOMATIC = 1 << 2, 1, 1
for name in [
    "gtk_window_new", "gtk_vbox_new", "gtk_menu_bar_new", "gtk_menu_new", "gtk_menu_item_new_with_mnemonic",
    "gtk_accel_group_new", "gtk_text_view_new", "gtk_text_view_get_buffer", "gtk_text_buffer_get_text",
    "gtk_scrolled_window_new",
]:
    getattr(gtk, name).restype = ctypes.c_void_p


def pointer(value):
    return ctypes.c_void_p(value)


def connect(widget, signal, function):
    gobject.g_signal_connect_data(pointer(widget), signal, function, None, None, 0)


path = sys.argv[1]
gtk.gtk_init(None, None)
window = gtk.gtk_window_new(0)
gtk.gtk_window_set_default_size(pointer(window), 700, 500)
gtk.gtk_window_set_title(pointer(window), b"document.txt")
keys = gtk.gtk_accel_group_new()
gtk.gtk_window_add_accel_group(pointer(window), pointer(keys))
text = gtk.gtk_text_view_new()
buffer = gtk.gtk_text_view_get_buffer(pointer(text))
with open(path, "rb") as file:
    content = file.read()
gtk.gtk_text_buffer_set_text(pointer(buffer), content, len(content))


@CALLBACK
def save(_widget, _data):
    start, end = ctypes.create_string_buffer(256), ctypes.create_string_buffer(256)
    gtk.gtk_text_buffer_get_bounds(pointer(buffer), start, end)
    held = ctypes.cast(gtk.gtk_text_buffer_get_text(pointer(buffer), start, end, 1), ctypes.c_char_p).value
    with open(path, "wb") as file:
        file.write(held)
    gtk.gtk_window_set_title(pointer(window), b"document.txt")


@CALLBACK
def changed(_widget, _data):
    gtk.gtk_window_set_title(pointer(window), b"*document.txt")


@CALLBACK
def ended(_widget, _data):
    gtk.gtk_main_quit()


menu, bar = gtk.gtk_menu_new(), gtk.gtk_menu_bar_new()
item, top = gtk.gtk_menu_item_new_with_mnemonic(b"_Save"), gtk.gtk_menu_item_new_with_mnemonic(b"_File")
gtk.gtk_widget_add_accelerator(pointer(item), b"activate", pointer(keys), ord("s"), CONTROL, VISIBLE)
connect(item, b"activate", save)
gtk.gtk_menu_shell_append(pointer(menu), pointer(item))
gtk.gtk_menu_item_set_submenu(pointer(top), pointer(menu))
gtk.gtk_menu_shell_append(pointer(bar), pointer(top))
connect(buffer, b"changed", changed)
connect(window, b"destroy", ended)
scrolled = gtk.gtk_scrolled_window_new(None, None)
gtk.gtk_scrolled_window_set_policy(pointer(scrolled), AUTOMATIC, AUTOMATIC)
gtk.gtk_container_add(pointer(scrolled), pointer(text))
box = gtk.gtk_vbox_new(0, 0)
gtk.gtk_box_pack_start(pointer(box), pointer(bar), 0, 0, 0)
gtk.gtk_box_pack_start(pointer(box), pointer(scrolled), 1, 1, 0)
gtk.gtk_container_add(pointer(window), pointer(box))
gtk.gtk_widget_show_all(pointer(window))
gtk.gtk_widget_grab_focus(pointer(text))
gtk.gtk_main()

"""Parts that all document tools share: bounds, refusals, arguments, the registry of tools, undo steps, dispatches."""

import contextlib
import datetime
import json
import os
import re
import sys
import threading

import uno
import unohelper
from com.sun.star.awt import XCallback
from com.sun.star.document import XUndoAction

MOST_CELLS_READ = 200_000
MOST_CELLS_WRITTEN = 200_000
MOST_OUTPUT_CHARACTERS = 60_000
MOST_TEXT_CHARACTERS = 1_000_000
MOST_CELL_CHARACTERS = 32_767
MOST_LISTED = 50
MOST_UNDO_STEPS = 100

REQUIRED = object()


class Refusal(Exception):
    """An error which the caller can act on."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind
        self.message = message


def invalid(message):
    return Refusal("invalid", message)


class Arguments:
    """Checked arguments of a tool as attributes."""

    def __init__(self, values):
        self.__dict__.update(values)


class Tool:
    def __init__(self, function, kinds, edits, parameters):
        self.function, self.kinds, self.edits, self.parameters = function, kinds, edits, parameters


TOOLS = {}
ALL_KINDS = ("calc", "writer", "impress")


def tool(name, kinds, edits=False, /, **parameters):
    """Registers a tool for kinds of documents. A parameter is a type, or a type with a default."""

    def register(function):
        for kind in kinds:
            TOOLS[name, kind] = Tool(function, kinds, edits, parameters)
        return function

    return register


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) < 1e308


CHECKS = {
    "text": ("a text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", lambda value: is_number(value) and value == int(value)),
    "number": ("a number", is_number),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "sheet": ("a sheet's name or number", lambda value: isinstance(value, str) or is_number(value)),
    "any": ("a value", lambda value: True),
}


def check_arguments(name, parameters, given):
    """Raises for an argument that is missing, unknown or of the wrong type."""
    if not isinstance(given, dict):
        raise invalid("the arguments of %s are not an object" % name)
    unknown = sorted(set(given) - set(parameters))
    if unknown:
        raise invalid("%s has no argument %s; it takes %s" % (name, shorten(unknown[0], 60), ", ".join(parameters)))
    values = {}
    for key, declared in parameters.items():
        kind, default = declared if isinstance(declared, tuple) else (declared, REQUIRED)
        value = given.get(key)
        if value is None:
            if default is REQUIRED:
                raise invalid("%s needs the argument %s" % (name, key))
            values[key] = default
            continue
        if isinstance(kind, (list, set)):
            if value not in list(kind):
                raise invalid("%s of %s is %r; it can be %s" % (key, name, value, ", ".join(map(str, kind))))
        else:
            described, check = CHECKS[kind]
            if not check(value):
                raise invalid("%s of %s is not %s" % (key, name, described))
            if kind == "integer":
                value = int(value)
            if isinstance(value, str) and len(value) > MOST_TEXT_CHARACTERS:
                raise invalid("%s is longer than %d characters; give it in parts" % (key, MOST_TEXT_CHARACTERS))
        values[key] = value
    return Arguments(values)


class Target:
    """The document of one window, and the means to work on it."""

    def __init__(self, office, frame, controller, document, kind):
        self.office, self.frame, self.controller = office, frame, controller
        self.document, self.kind = document, kind

    def create(self, service):
        return self.office.ServiceManager.createInstanceWithContext(service, self.office)

    def dispatch(self, command, **arguments):
        """Carries out a command of the user interface, which records undo by itself."""
        helper = self.create("com.sun.star.frame.DispatchHelper")
        helper.executeDispatch(self.frame, command, "", 0, properties(**arguments))


def result(said, output=None, seen=None, proof=""):
    """The answer of a tool; `seen` is whether an edit read back as asked, None for tools that only read."""
    effect = None if seen is None else {"seen": bool(seen), "proof": proof}
    return {"said": said, "output": output, "effect": effect}


def struct(name, /, **fields):
    value = uno.createUnoStruct(name)
    for key, item in fields.items():
        setattr(value, key, item)
    return value


def properties(**values):
    return tuple(struct("com.sun.star.beans.PropertyValue", Name=key, Value=value) for key, value in values.items())


def text_properties(**values):
    """Like properties, for keys with dots, which are given with two underscores."""
    pairs = ((key.replace("__", "."), value) for key, value in values.items())
    return tuple(struct("com.sun.star.beans.PropertyValue", Name=key, Value=value) for key, value in pairs)


def has_service(thing, name):
    try:
        return thing.supportsService(name)
    except AttributeError:
        return False


def get(thing, name, default=None):
    """A property which some versions or objects do not have."""
    try:
        return getattr(thing, name)
    except Exception:
        return default


def shorten(text, most=80):
    text = str(text).replace("\n", " ")
    return text if len(text) <= most else text[: most - 1] + "…"


def plural(count, one, many=None):
    return "%s %s" % (format(count, ","), one if count == 1 else many or one + "s")


def bounded(lines, most, how):
    """Lines up to a number of characters, with a note what was left out and how to get it."""
    kept, used = [], 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > most:
            if not kept:
                kept.append(line[:most])
            kept.append("[%d more lines left out; %s]" % (len(lines) - index, how))
            break
        kept.append(line)
    return "\n".join(kept)


def markdown_cell(text):
    return str(text).replace("\\", "\\\\").replace("|", "\\|").replace("\r", "").replace("\n", "<br>")


def markdown_row(cells):
    return "|" + "|".join(cells) + "|"


COLORS = {
    "black": 0,
    "white": 0xFFFFFF,
    "red": 0xFF0000,
    "green": 0x008000,
    "blue": 0x0000FF,
    "yellow": 0xFFFF00,
    "orange": 0xFFA500,
    "purple": 0x800080,
    "gray": 0x808080,
    "grey": 0x808080,
    "brown": 0xA52A2A,
    "cyan": 0x00FFFF,
    "magenta": 0xFF00FF,
    "pink": 0xFFC0CB,
    "lightgray": 0xD3D3D3,
    "lightgrey": 0xD3D3D3,
    "darkblue": 0x00008B,
    "lightblue": 0xADD8E6,
    "darkgreen": 0x006400,
    "lightgreen": 0x90EE90,
    "darkred": 0x8B0000,
    "navy": 0x000080,
}


def color_number(text, name="color"):
    """A color from #rrggbb, rrggbb, #rgb or an English name; "none" is -1, which means automatic or transparent."""
    plain = text.strip().lower().replace(" ", "")
    if plain in ("none", "automatic", "auto", "transparent"):
        return -1
    if plain in COLORS:
        return COLORS[plain]
    digits = plain.lstrip("#")
    if re.fullmatch("[0-9a-f]{3}", digits):
        digits = "".join(digit * 2 for digit in digits)
    if re.fullmatch("[0-9a-f]{6}", digits):
        return int(digits, 16)
    raise invalid("%s %r is no color; use #rrggbb or an English name like red" % (name, shorten(text)))


def color_text(number):
    return "automatic" if number is None or number < 0 else "#%06x" % (number & 0xFFFFFF)


class OwnUndo(unohelper.Base, XUndoAction):
    """An undo step for edits that the program does not record by itself. It works while this worker lives."""

    def __init__(self, title, undo, redo):
        self.Title, self.back, self.forth = title, undo, redo

    def getTitle(self):
        return self.Title

    def undo(self):
        self.back()

    def redo(self):
        self.forth()


class undo_step:
    """Makes all edits inside one step of the document's undo. After an error what was done is undone.

    A class, since errors of UNO do not pass through the context managers of contextlib.
    """

    def __init__(self, document, title):
        self.manager, self.title = document.getUndoManager(), title

    def __enter__(self):
        self.before = len(self.manager.getAllUndoActionTitles())
        self.manager.enterUndoContext(self.title)
        return self.manager

    def __exit__(self, kind, error, trace):
        self.manager.leaveUndoContext()
        if kind is not None and len(self.manager.getAllUndoActionTitles()) > self.before:
            self.manager.undo()
        return False


def record_own(manager, title, undo, redo):
    manager.addUndoAction(OwnUndo(title, undo, redo))


def uno_message(error):
    """The reason that an error of the program gives, as one short line."""
    text = get(error, "Message", "") or str(error) or type(error).__name__
    text = text.split("\n")[0].strip()
    return shorten(text or type(error).__name__, 200)


FONT_PARAMETERS = {
    "font_name": ("text", None),
    "font_size": ("number", None),
    "bold": ("boolean", None),
    "italic": ("boolean", None),
    "underline": ("boolean", None),
    "color": ("text", None),
}


def font_properties(given):
    """Character properties of a font, and the words that say it."""
    values, words = {}, []
    if given.font_name is not None:
        values["CharFontName"] = given.font_name
        words.append(given.font_name)
    if given.font_size is not None:
        if not 1 <= given.font_size <= 999:
            raise invalid("font_size %s is out of range; it can be 1 to 999 points" % given.font_size)
        values["CharHeight"] = float(given.font_size)
        words.append("%g pt" % given.font_size)
    if given.bold is not None:
        values["CharWeight"] = 150.0 if given.bold else 100.0
        words.append("bold" if given.bold else "not bold")
    if given.italic is not None:
        values["CharPosture"] = uno.Enum("com.sun.star.awt.FontSlant", "ITALIC" if given.italic else "NONE")
        words.append("italic" if given.italic else "not italic")
    if given.underline is not None:
        values["CharUnderline"] = 1 if given.underline else 0
        words.append("underlined" if given.underline else "not underlined")
    if given.color is not None:
        values["CharColor"] = color_number(given.color)
        words.append("color " + color_text(values["CharColor"]))
    return values, words


def reads_back(thing, values):
    """The names of properties that do not read back as asked."""
    wrong = []
    for name, value in values.items():
        found = get(thing, name)
        if isinstance(value, uno.Enum):
            same = getattr(found, "value", None) == value.value
        elif isinstance(value, float):
            same = is_number(found) and abs(found - value) < 0.05
        else:
            same = found == value
        if not same:
            wrong.append(name)
    return wrong

"""All kinds of documents: information, copies in other formats, images, finding and replacing, undo."""

FILTERS = {
    "calc": {
        "pdf": "calc_pdf_Export",
        "csv": "Text - txt - csv (StarCalc)",
        "txt": "Text - txt - csv (StarCalc)",
        "xlsx": "Calc MS Excel 2007 XML",
        "ods": "calc8",
        "html": "HTML (StarCalc)",
        "png": "calc_png_Export",
    },
    "writer": {
        "pdf": "writer_pdf_Export",
        "docx": "MS Word 2007 XML",
        "odt": "writer8",
        "html": "HTML (StarWriter)",
        "txt": "Text (encoded)",
        "png": "writer_png_Export",
        "rtf": "Rich Text Format",
    },
    "impress": {
        "pdf": "impress_pdf_Export",
        "pptx": "Impress MS PowerPoint 2007 XML",
        "odp": "impress8",
        "html": "impress_html_Export",
        "png": "impress_png_Export",
    },
}
# Comma or tab, quote, UTF-8, from the first line, texts as displayed, no formulas.
TEXT_OPTIONS = {
    "calc csv": "44,34,76,1,,0,false,true,false",
    "calc txt": "9,34,76,1,,0,false,true,false",
    "writer txt": "UTF8,LF",
}
FILE_STARTS = {
    "pdf": b"%PDF",
    "xlsx": b"PK",
    "docx": b"PK",
    "pptx": b"PK",
    "ods": b"PK",
    "odt": b"PK",
    "odp": b"PK",
    "png": b"\x89PNG",
    "rtf": b"{\\rtf",
}
IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".svg", ".emf", ".wmf")
MOST_IMAGE_BYTES = 50_000_000
MOST_PATH_CHARACTERS = 4_000


def file_url(path):
    return uno.systemPathToFileUrl(path)


def checked_path(path):
    path = os.path.expanduser(path)
    if not os.path.isabs(path) or len(path) > MOST_PATH_CHARACTERS:
        raise invalid("path %r is not absolute; give one like /home/me/file.pdf" % shorten(path))
    return os.path.normpath(path)


def document_path(document):
    url = document.getURL()
    return uno.fileUrlToSystemPath(url) if url.startswith("file:") else url or None


@tool("document_info", ALL_KINDS)
def document_info(target, given):
    document = target.document
    info = {
        "kind": target.kind,
        "title": document.Title,
        "path": document_path(document),
        "modified": document.isModified(),
        "read_only": document.isReadonly(),
    }
    info.update({"calc": calc_info, "writer": writer_info, "impress": impress_info}[target.kind](target))
    return result(
        "%s, %s." % (document.Title, "changed since saving" if info["modified"] else "no unsaved changes"), info
    )


def show_only(target, sheet):
    """Makes a sheet the only one that is selected, since the text formats take the first selected one."""
    address, names = get(target.controller.getSelection(), "RangeAddress"), target.document.Sheets.ElementNames
    other = next(
        (name for name in names if name != sheet.Name and target.document.Sheets.getByName(name).IsVisible), None
    )
    was_active = target.controller.ActiveSheet.Name == sheet.Name
    if was_active and other is not None:
        target.controller.setActiveSheet(target.document.Sheets.getByName(other))
    target.controller.setActiveSheet(sheet)
    if was_active and address is not None:
        target.controller.select(cells_of(sheet, address).object)


@tool(
    "export", ALL_KINDS, path="text", format=("text", None), overwrite=("boolean", False), sheet_name=("sheet", None)
)
def export(target, given):
    path = checked_path(given.path)
    ending = (given.format or os.path.splitext(path)[1]).lower().lstrip(".")
    filters = FILTERS[target.kind]
    if ending not in filters:
        raise invalid(
            "a %s document cannot be exported as %r; format can be %s"
            % (target.kind, shorten(ending), ", ".join(filters))
        )
    own = document_path(target.document)
    if own and os.path.realpath(own) == os.path.realpath(path):
        raise invalid("%s is the file of the document itself; choose another path or save it" % path)
    if not os.path.isdir(os.path.dirname(path)):
        raise invalid("folder %s does not exist; create it or choose another path" % os.path.dirname(path))
    if os.path.lexists(path):
        if not given.overwrite or not os.path.isfile(path):
            raise invalid("%s exists; choose another path or set overwrite" % path)
    former = os.stat(path).st_mtime_ns if os.path.exists(path) else None
    options = TEXT_OPTIONS.get("%s %s" % (target.kind, ending))
    if target.kind == "calc" and (options or given.sheet_name is not None):
        show_only(target, find_sheet(target, given.sheet_name))
    values = {"FilterName": filters[ending], "Overwrite": given.overwrite}
    if options:
        values["FilterOptions"] = options
    before = (target.document.getURL(), target.document.isModified())
    try:
        target.document.storeToURL(file_url(path), properties(**values))
    except Exception as error:
        raise Refusal(
            "failed", "%s could not be written (%s); check the folder and its free space" % (path, uno_message(error))
        ) from None
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    with open(path, "rb") as file:
        start = file.read(8)
    seen = (size > 0 or ending in ("csv", "txt")) and start.startswith(FILE_STARTS.get(ending, b""))
    seen = seen and os.stat(path).st_mtime_ns != former
    seen = seen and before == (target.document.getURL(), target.document.isModified())
    said = "Exported a copy as %s%s." % (path, " (the active sheet)" if target.kind == "calc" and options else "")
    return result(
        said, {"path": path, "bytes": size}, seen, "%s has %s bytes of %s" % (path, format(size, ","), ending)
    )


@tool(
    "insert_image",
    ALL_KINDS,
    True,
    path="text",
    slide_index=("integer", None),
    x_mm=("number", None),
    y_mm=("number", None),
    width_mm=("number", None),
    at=("text", None),
    paragraph=("integer", None),
    sheet_name=("sheet", None),
)
def insert_image(target, given):
    path = checked_path(given.path)
    if not os.path.isfile(path) or not path.lower().endswith(IMAGE_ENDINGS):
        raise invalid("%s is no image file; it can end with %s" % (path, " ".join(IMAGE_ENDINGS)))
    if os.path.getsize(path) > MOST_IMAGE_BYTES:
        raise invalid("%s is larger than %d bytes; make it smaller" % (path, MOST_IMAGE_BYTES))
    if given.width_mm is not None and not 1 <= given.width_mm <= 2000:
        raise invalid("width_mm can be 1 to 2000")
    provider = target.create("com.sun.star.graphic.GraphicProvider")
    graphic = provider.queryGraphic(properties(URL=file_url(path)))
    size = get(graphic, "Size100thMM")
    if graphic is None or size is None:
        raise invalid("%s cannot be read as an image; convert it to png" % path)
    if size.Width <= 0 or size.Height <= 0:
        # Images without a resolution count as 96 pixels in an inch.
        size = struct(
            "com.sun.star.awt.Size",
            Width=round(graphic.SizePixel.Width * 2540 / 96),
            Height=round(graphic.SizePixel.Height * 2540 / 96),
        )
    if given.width_mm is not None:
        width = round(given.width_mm * 100)
        size = struct("com.sun.star.awt.Size", Width=width, Height=max(1, round(size.Height * width / size.Width)))
    if target.kind == "writer":
        return insert_image_writer(target, given, graphic, size)
    return insert_image_drawn(target, given, path, size)


def insert_image_writer(target, given, graphic, size):
    before = set(target.document.GraphicObjects.ElementNames)
    at = given.at or ("after_paragraph" if given.paragraph else "cursor")
    if at not in PLACES[:4]:
        raise invalid("at can be %s" % ", ".join(PLACES[:4]))
    cursor, mode, _ = place_cursor(target, at, given.paragraph)
    image = target.document.createInstance("com.sun.star.text.TextGraphicObject")
    image.Graphic = graphic
    image.AnchorType = uno.Enum("com.sun.star.text.TextContentAnchorType", "AS_CHARACTER")
    image.Width, image.Height = size.Width, size.Height
    with undo_step(target.document, "Insert image"):
        if mode == "after":
            cursor.Text.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
        cursor.Text.insertTextContent(cursor, image, False)
    added = set(target.document.GraphicObjects.ElementNames) - before
    return result(
        "Inserted the image.",
        {"name": next(iter(added), None)},
        len(added) == 1,
        "the document has %s" % plural(len(before) + len(added), "image"),
    )


def insert_image_drawn(target, given, path, size):
    """Inserts by the command of the user interface, since adding a shape records no undo."""
    if target.kind == "impress":
        slide = find_slide(target, given.slide_index) if given.slide_index else target.controller.CurrentPage
        show_slide(target, slide)
        page, corner, place = slide, None, "slide %d" % slide.Number
    else:
        sheet = find_sheet(target, given.sheet_name)
        cells = parse_range(target, given.at, given.sheet_name) if given.at else Cells(sheet, 0, 0, 0, 0)
        check_unprotected(cells)
        target.controller.setActiveSheet(cells.sheet)
        page, corner, place = (
            cells.sheet.DrawPage,
            cells.object.Position if given.at else None,
            "sheet " + cells.sheet.Name,
        )
    before = shapes_of(page)
    with undo_step(target.document, "Insert image"):
        target.dispatch(".uno:InsertGraphic", FileName=file_url(path), AsLink=False)
        added = [shape for shape in shapes_of(page) if shape not in before]
        if len(added) != 1:
            raise Refusal("busy", "no image was inserted; close the dialog or running show and try again")
        shape = added[0]
        if given.width_mm is not None or corner is not None:
            shape.setSize(size)
        position = shape.Position
        left = round(given.x_mm * 100) if given.x_mm is not None else corner.X if corner else position.X
        top = round(given.y_mm * 100) if given.y_mm is not None else corner.Y if corner else position.Y
        shape.setPosition(struct("com.sun.star.awt.Point", X=left, Y=top))
    seen = abs(shape.Position.X - left) < 60 and abs(shape.Position.Y - top) < 60
    return result(
        "Inserted the image on %s." % place,
        {"name": get(shape, "Name")},
        seen,
        "%s has an image of %d by %d mm at %d, %d mm"
        % (place, shape.Size.Width // 100, shape.Size.Height // 100, shape.Position.X // 100, shape.Position.Y // 100),
    )


def set_descriptor(descriptor, given):
    descriptor.SearchString = given.find
    descriptor.SearchCaseSensitive = given.match_case
    descriptor.SearchWords = given.whole_words
    if given.regex:
        try:
            descriptor.SearchRegularExpression = True
        except AttributeError:
            raise invalid("slides cannot be searched with regex; search for a plain text") from None
    if given.replace is not None:
        descriptor.ReplaceString = given.replace
    return descriptor


def search_parts(target, given):
    """What is searched, each with its name: sheets, the text or slides."""
    if target.kind == "calc":
        sheets = target.document.Sheets
        if given.all_sheets:
            return [(name, sheets.getByName(name)) for name in sheets.ElementNames]
        sheet = find_sheet(target, given.sheet_name)
        return [(sheet.Name, sheet)]
    if target.kind == "writer":
        return [("", target.document)]
    return [("slide %d" % number, page) for number, page in enumerate(slide_identities(target), 1)]


def found_places(target, part, given):
    """The places in a part, with their texts, and their number."""
    descriptor = set_descriptor(
        part.createReplaceDescriptor() if given.replace is not None else part.createSearchDescriptor(), given
    )
    found = part.findAll(descriptor)
    if found is None:
        return [], 0
    listed, count = [], 0
    if target.kind == "calc":
        for address in found.getRangeAddresses():
            cells = cells_of(part, address)
            for row in range(cells.height):
                for column in range(cells.width):
                    count += 1
                    if len(listed) < MOST_LISTED:
                        listed.append(
                            [
                                cell_name(cells.first_column + column, cells.first_row + row),
                                shorten(cells.object.getCellByPosition(column, row).Formula, 120),
                            ]
                        )
        return listed, count
    for index in range(min(found.getCount(), MOST_LISTED)):
        place = found.getByIndex(index)
        listed.append(context_of(target, place))
    return listed, found.getCount()


def context_of(target, place):
    text = place.String
    with contextlib.suppress(Exception):
        cursor = place.Text.createTextCursorByRange(place.Start)
        cursor.goLeft(30, False)
        cursor.goRight(60 + len(text), True)
        text = cursor.String
    return shorten(text, 140)


@tool(
    "find_replace",
    ALL_KINDS,
    True,
    find="text",
    replace=("text", None),
    match_case=("boolean", False),
    whole_words=("boolean", False),
    regex=("boolean", False),
    all_sheets=("boolean", False),
    sheet_name=("sheet", None),
)
def find_replace(target, given):
    if not given.find or len(given.find) > 10_000:
        raise invalid("find is empty or too long")
    parts = search_parts(target, given)
    places, total = [], 0
    for name, part in parts:
        listed, count = found_places(target, part, given)
        total += count
        if listed:
            places.append({"in": name, "places": listed} if name else {"places": listed})
    if given.replace is None:
        said = "Found in %s." % plural(total, "cell" if target.kind == "calc" else "place")
        if total > sum(len(entry["places"]) for entry in places):
            said += " Only the first are listed."
        return result(said, places)
    if not total:
        return result("Nothing was found, so nothing was replaced.", None)
    if target.kind == "calc":
        for _, part in parts:
            check_unprotected(part)
        outside = sum(external_formulas(part) for _, part in parts)
    with undo_step(target.document, "Replace") as manager:
        count = (
            replace_in_slides(parts, given, manager)
            if target.kind == "impress"
            else sum(part.replaceAll(set_descriptor(part.createReplaceDescriptor(), given)) for _, part in parts)
        )
        if target.kind == "calc" and sum(external_formulas(part) for _, part in parts) > outside:
            raise invalid("formulas would read from outside the document after replacing; nothing was replaced")
    return replaced_result(target, parts, given, count)


def external_formulas(sheet):
    """How many formulas of a sheet read from outside the document."""
    cells = used_cells(sheet)
    if cells is None:
        return 0
    check_cells(cells, MOST_CELLS_WRITTEN, "searched for replacing")
    formulas = {
        formula for row in cells.object.getFormulaArray() for formula in row if formula.startswith(("=", "{="))
    }
    return sum(external_part(formula) is not None for formula in formulas)


def replaced_result(target, parts, given, count):
    left = sum(found_places(target, part, given)[1] for _, part in parts)
    # The replacement may contain what was searched for.
    again = given.regex or given.find.casefold() in given.replace.casefold()
    seen = count > 0 and (again or left == 0)
    return result(
        "Replaced in %s." % plural(count, "place"),
        {"replaced": count},
        seen,
        "%s left that match" % plural(left, "place"),
    )


def replace_in_slides(parts, given, manager):
    """Replaces on slides, which records no undo by itself: keeps the former texts of the shapes that change."""
    former = [(shape, shape_text(shape)) for _, page in parts for shape in shapes_of(page) if hasattr(shape, "String")]

    def replace():
        return sum(page.replaceAll(set_descriptor(page.createReplaceDescriptor(), given)) for _, page in parts)

    def restore():
        for shape, text in changed:
            shape.setString(text)

    count = replace()
    changed = [(shape, text) for shape, text in former if shape_text(shape) != text]
    record_own(manager, "Replace", restore, replace)
    return count


def step_through(target, given, undo):
    if not 1 <= given.steps <= MOST_UNDO_STEPS:
        raise invalid("steps can be 1 to %d" % MOST_UNDO_STEPS)
    manager = target.document.getUndoManager()
    titles = lambda: list(manager.getAllUndoActionTitles() if undo else manager.getAllRedoActionTitles())
    before = titles()
    if not before:
        return result(
            "There is nothing to %s." % ("undo" if undo else "redo"), [], False, "the list of steps is empty"
        )
    for _ in range(min(given.steps, len(before))):
        manager.undo() if undo else manager.redo()
    done = before[: len(before) - len(titles())]
    return result(
        "%s: %s." % ("Undone" if undo else "Redone", "; ".join(title or "(no title)" for title in done)),
        done,
        len(done) == min(given.steps, len(before)),
        "%s left to %s" % (plural(len(titles()), "step"), "undo" if undo else "redo"),
    )


@tool("undo", ALL_KINDS, True, steps=("integer", 1))
def undo(target, given):
    return step_through(target, given, True)


@tool("redo", ALL_KINDS, True, steps=("integer", 1))
def redo(target, given):
    return step_through(target, given, False)

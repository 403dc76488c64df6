"""Presentations: reading slides, adding, removing, moving, texts and backgrounds."""

LAYOUTS = {"title": 0, "title_content": 1, "title_two_contents": 3, "title_only": 19, "blank": 20, "centered_text": 32}
MOST_SLIDES = 1_000
TITLE_SHAPE = "com.sun.star.presentation.TitleTextShape"
BODY_SHAPES = ("com.sun.star.presentation.OutlinerShape", "com.sun.star.presentation.SubtitleShape")
SOLID = uno.Enum("com.sun.star.drawing.FillStyle", "SOLID")


def find_slide(target, index):
    slides = target.document.DrawPages
    if not 1 <= index <= slides.Count:
        raise invalid("no slide %d; there are %d" % (index, slides.Count))
    return slides.getByIndex(index - 1)


def shapes_of(page):
    return [page.getByIndex(index) for index in range(page.Count)]


def shape_text(shape):
    if get(shape, "IsEmptyPresentationObject", False):
        return ""
    return get(shape, "String", "") or ""


def slide_title(slide):
    return next((shape_text(shape) for shape in shapes_of(slide) if shape.ShapeType == TITLE_SHAPE), "")


def notes_shape(slide):
    page = slide.getNotesPage()
    return next(
        (shape for shape in shapes_of(page) if shape.ShapeType == "com.sun.star.presentation.NotesShape"), None
    )


def background_color(slide):
    background = get(slide, "Background")
    if background is None or getattr(get(background, "FillStyle"), "value", "NONE") != "SOLID":
        return None
    return background.FillColor


def layout_name(slide):
    number = get(slide, "Layout")
    return next((name for name, value in LAYOUTS.items() if value == number), number)


def slide_entry(slide, index):
    entry = {"slide": index, "title": slide_title(slide), "layout": layout_name(slide), "shapes": []}
    for number, shape in enumerate(shapes_of(slide), 1):
        kind = shape.ShapeType.rpartition(".")[2].replace("Shape", "")
        item = {"number": number, "kind": kind}
        if get(shape, "Name"):
            item["name"] = shape.Name
        text = shape_text(shape)
        if text:
            item["text"] = text
        if shape.ShapeType == "com.sun.star.drawing.TableShape":
            with contextlib.suppress(Exception):
                model = shape.Model
                item["table"] = [
                    [model.getCellByPosition(column, row).String for column in range(model.Columns.Count)]
                    for row in range(min(model.Rows.Count, MOST_LISTED))
                ]
        entry["shapes"].append(item)
    notes = notes_shape(slide)
    if notes is not None and shape_text(notes):
        entry["notes"] = shape_text(notes)
    color = background_color(slide)
    if color is not None:
        entry["background"] = color_text(color)
    if get(slide, "Visible") is False:
        entry["hidden"] = True
    return entry


@tool("read_slides", ("impress",), slide_index=("integer", None))
def read_slides(target, given):
    count = target.document.DrawPages.Count
    wanted = [given.slide_index] if given.slide_index is not None else range(1, min(count, MOST_SLIDES) + 1)
    entries, used = [], 0
    said = plural(count, "slide") + "."
    for index in wanted:
        entry = slide_entry(find_slide(target, index), index)
        used += len(json.dumps(entry, ensure_ascii=False)) + 1
        if used > MOST_OUTPUT_CHARACTERS and entries:
            said += " Cut before slide %d; read it with slide_index." % index
            break
        entries.append(entry)
    return result(said, entries)


def impress_info(target):
    slides = target.document.DrawPages
    titles = [shorten(slide_title(slides.getByIndex(index))) for index in range(min(slides.Count, 200))]
    selection = target.controller.getSelection()
    names = []
    if selection is not None and hasattr(selection, "getCount"):
        names = [get(selection.getByIndex(index), "Name", "") for index in range(min(selection.getCount(), 20))]
    current = get(target.controller, "CurrentPage")
    return {"slides": titles, "current_slide": get(current, "Number"), "selection": names}


def show_slide(target, slide):
    target.controller.setCurrentPage(slide)
    if target.controller.CurrentPage.Number != slide.Number:
        raise Refusal("failed", "the view does not show slide %d; switch to the normal view" % slide.Number)


def slide_identities(target):
    slides = target.document.DrawPages
    return [slides.getByIndex(index) for index in range(slides.Count)]


@tool(
    "edit_slides",
    ("impress",),
    True,
    action=["add", "remove", "duplicate", "move", "activate"],
    slide_index=("integer", None),
    position=("integer", None),
    layout=("any", None),
)
def edit_slides(target, given):
    before = slide_identities(target)
    count = len(before)
    if given.action != "add" and given.slide_index is None:
        raise invalid("%s needs slide_index" % given.action)
    if given.position is not None and not 1 <= given.position <= count + (given.action in ("add", "duplicate")):
        raise invalid("position %d is out of range; there are %d slides" % (given.position, count))
    layout = None
    if given.layout is not None:
        layout = LAYOUTS.get(given.layout, given.layout) if isinstance(given.layout, str) else given.layout
        if not is_number(layout) or not 0 <= layout <= 35:
            raise invalid("layout can be %s, or a number" % ", ".join(LAYOUTS))
    if given.action == "activate":
        slide = find_slide(target, given.slide_index)
        show_slide(target, slide)
        return result("Slide %d is shown." % given.slide_index, None, True, "the view shows slide %d" % slide.Number)
    if given.action == "remove":
        slide = find_slide(target, given.slide_index)
        if count == 1:
            raise invalid("this is the only slide; a presentation keeps at least one")
        title = slide_title(slide)
        with undo_step(target.document, "Remove slide"):
            target.document.DrawPages.remove(slide)
        seen = slide_identities(target) == before[: given.slide_index - 1] + before[given.slide_index :]
        return result(
            "Removed slide %d (%s)." % (given.slide_index, shorten(title) or "no title"),
            None,
            seen,
            plural(target.document.DrawPages.Count, "slide") + " left",
        )
    if given.action == "move":
        if given.position is None:
            raise invalid("move needs position")
        slide = find_slide(target, given.slide_index)
        with undo_step(target.document, "Move slide"):
            move_slide(target, slide, given.position)
        return result(
            "Moved slide %d to %d." % (given.slide_index, given.position),
            None,
            find_slide(target, given.position) == slide,
            "the slide is number %d" % slide.Number,
        )
    return add_slide(target, given, before, layout)


def add_slide(target, given, before, layout):
    """Adds or duplicates a slide by the command of the user interface, which records undo."""
    count = len(before)
    if given.action == "duplicate":
        after, position = given.slide_index, given.position or given.slide_index + 1
        find_slide(target, after)
    else:
        position = given.position or count + 1
        after = max(1, position - 1)
    with undo_step(target.document, "Add slide" if given.action == "add" else "Duplicate slide"):
        show_slide(target, before[after - 1])
        target.dispatch(".uno:InsertPage" if given.action == "add" else ".uno:DuplicatePage")
        now = slide_identities(target)
        added = [slide for slide in now if slide not in before]
        if len(added) != 1:
            raise Refusal("busy", "no slide was added; close the dialog or running show and try again")
        slide = added[0]
        if layout is not None:
            slide.Layout = int(layout)
        if slide.Number != position:
            move_slide(target, slide, position)
    show_slide(target, slide)
    return result(
        "Slide %d was %s." % (position, "added" if given.action == "add" else "duplicated"),
        slide_entry(slide, position),
        slide.Number == position and target.document.DrawPages.Count == count + 1,
        "%s, the new one is number %d" % (plural(target.document.DrawPages.Count, "slide"), slide.Number),
    )


def move_slide(target, slide, position):
    """Moves a slide by the commands of the user interface, one place at a time."""
    slides = target.document.DrawPages
    if slides.Count > 1:
        # The command moves what the panel has selected, which follows only a change of the current slide.
        target.controller.setCurrentPage(slides.getByIndex(slides.Count - 1 if slide.Number == 1 else 0))
    show_slide(target, slide)
    for _ in range(abs(slide.Number - position)):
        target.dispatch(".uno:MovePageUp" if slide.Number > position else ".uno:MovePageDown")
    if slide.Number != position:
        raise Refusal(
            "failed", "slide %d could not be moved to %d; switch to the normal view" % (slide.Number, position)
        )


def find_shape(slide, given):
    shapes = shapes_of(slide)
    if given == "notes":
        shape = notes_shape(slide)
    elif given == "title":
        shape = next((shape for shape in shapes if shape.ShapeType == TITLE_SHAPE), None)
    elif given == "body":
        shape = next((shape for shape in shapes if shape.ShapeType in BODY_SHAPES), None)
    elif is_number(given) or (isinstance(given, str) and given.isdigit()):
        shape = shapes[int(given) - 1] if 1 <= int(given) <= len(shapes) else None
    else:
        shape = next((shape for shape in shapes if get(shape, "Name") == given), None)
    if shape is None:
        present = [
            "%d %s" % (number, get(shape, "Name") or shape.ShapeType.rpartition(".")[2])
            for number, shape in enumerate(shapes, 1)
        ]
        raise invalid(
            "slide %d has no shape %r; it has %s"
            % (slide.Number, shorten(given), shorten(", ".join(present), 300) or "no shapes; give it a layout")
        )
    if not hasattr(shape, "String"):
        raise invalid("shape %r takes no text; choose another one" % shorten(given))
    return shape


@tool("set_slide_text", ("impress",), True, slide_index="integer", shape="sheet", text="text")
def set_slide_text(target, given):
    slide = find_slide(target, given.slide_index)
    shape = find_shape(slide, given.shape)
    text = given.text.replace("\r\n", "\n")
    old = shape_text(shape)
    with undo_step(target.document, "Set slide text") as manager:
        shape.setString(text)
        record_own(manager, "Set slide text", lambda: shape.setString(old), lambda: shape.setString(text))
    read = shape.String.replace("\r\n", "\n")
    return result(
        "Set the text of %s on slide %d." % (given.shape, given.slide_index),
        None,
        read == text,
        "the shape reads %r" % shorten(read, 100),
    )


def put_background(target, slide, color):
    if color is None or color < 0:
        slide.Background = None
        return
    background = target.document.createInstance("com.sun.star.drawing.Background")
    background.FillStyle = SOLID
    background.FillColor = color
    slide.Background = background


@tool("set_background_color", ("impress",), True, color="text", slide_index=("any", None))
def set_background_color(target, given):
    color = color_number(given.color)
    indices = given.slide_index
    if indices is None:
        indices = list(range(1, target.document.DrawPages.Count + 1))
    indices = indices if isinstance(indices, list) else [indices]
    if not indices or not all(is_number(index) for index in indices):
        raise invalid("slide_index is not a list of slide numbers")
    slides = [find_slide(target, int(index)) for index in indices]
    former = [get(slide, "Background") for slide in slides]

    def paint():
        for slide in slides:
            put_background(target, slide, color)

    def restore():
        for slide, background in zip(slides, former):
            slide.Background = background

    with undo_step(target.document, "Set background color") as manager:
        paint()
        record_own(manager, "Set background color", restore, paint)
    wrong = [slide.Number for slide in slides if background_color(slide) != (None if color < 0 else color)]
    return result(
        "The background of %s is %s." % (plural(len(slides), "slide"), color_text(color)),
        None,
        not wrong,
        (
            "slides %s read otherwise" % wrong
            if wrong
            else "%s read %s" % (plural(len(slides), "slide"), color_text(color))
        ),
    )

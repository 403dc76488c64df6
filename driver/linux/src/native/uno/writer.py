"""Text documents: reading them as markdown and selecting."""

PARAGRAPH, TEXT_TABLE = "com.sun.star.text.Paragraph", "com.sun.star.text.TextTable"
MOST_PARAGRAPHS = 20_000
BULLETS = (6, 8)  # com.sun.star.style.NumberingType: CHAR_SPECIAL, BITMAP
BREAK_BEFORE = ("PAGE_BEFORE", "PAGE_BOTH")


def enumerate_all(thing):
    elements = thing.createEnumeration()
    while elements.hasMoreElements():
        yield elements.nextElement()


def body_contents(target):
    """Paragraphs with their number from 1, and tables with None."""
    number = 0
    for content in enumerate_all(target.document.Text):
        if has_service(content, TEXT_TABLE):
            yield None, content
        elif has_service(content, PARAGRAPH):
            number += 1
            if number > MOST_PARAGRAPHS:
                return
            yield number, content


def paragraphs_of(target):
    return [content for number, content in body_contents(target) if number]


def heading_level(paragraph):
    level = get(paragraph, "OutlineLevel", 0) or 0
    if level:
        return level
    style = get(paragraph, "ParaStyleName", "")
    return 1 if style == "Title" else 0


def list_prefix(paragraph):
    rules = get(paragraph, "NumberingRules") if get(paragraph, "NumberingIsNumber", False) else None
    if rules is None:
        return ""
    level = max(0, get(paragraph, "NumberingLevel", 0) or 0)
    label = get(paragraph, "ListLabelString", "") or ""
    with contextlib.suppress(Exception):
        if any(part.Name == "NumberingType" and part.Value in BULLETS for part in rules.getByIndex(level)):
            label = ""
    return "  " * level + (label.strip() + " " if re.search(r"\w", label) else "- ")


PORTION_PROPERTIES = ("CharPosture", "CharWeight", "HyperLinkURL")


def portion_text(portion, plain_weight):
    """The markdown of one portion of a paragraph."""
    kind = portion.TextPortionType
    if kind == "Text":
        text = portion.String
        if not text.strip():
            return text
        posture, weight, link = portion.getPropertyValues(PORTION_PROPERTIES)
        bold = (weight or 100) > 130 and not plain_weight
        italic = getattr(posture, "value", "NONE") not in ("NONE", "DONTKNOW") and not plain_weight
        mark = ("**" if bold else "") + ("*" if italic else "")
        stripped = text.strip()
        start = len(text) - len(text.lstrip())
        text = text[:start] + mark + stripped + mark[::-1] + text[start + len(stripped) :]
        return "[%s](%s)" % (text, shorten(link, 200)) if link else text
    if kind == "Footnote":
        note = portion.Footnote
        return "[^%s: %s]" % (note.Anchor.String or "note", shorten(note.String, 500))
    if kind == "Annotation":
        note = portion.TextField
        return "[comment by %s: %s]" % (get(note, "Author", ""), shorten(get(note, "Content", ""), 300))
    if kind == "Frame":
        names = []
        for content in content_elements(portion):
            names.append("![%s]" % get(content, "Name", "object"))
        return "".join(names)
    if kind == "Redline":
        return ""
    if kind in ("TextField", "InContentMetadata", "Ruby"):
        return portion.String
    return ""


def content_elements(thing):
    try:
        elements = thing.createContentEnumeration("com.sun.star.text.TextContent")
    except Exception:
        return
    while elements.hasMoreElements():
        yield elements.nextElement()


def has_anchored_contents(document):
    """Whether paragraphs may hold more than text: notes, images, comments, fields."""
    for name in ("Footnotes", "Endnotes", "GraphicObjects", "EmbeddedObjects", "TextFrames", "DrawPage"):
        supplied = get(document, name)
        if supplied is not None and supplied.Count:
            return True
    fields = get(document, "TextFields")
    return fields is not None and fields.hasElements()


def is_plain(paragraph):
    """Whether a paragraph is neither in part nor as a whole bold, italic or a link, which one look tells."""
    try:
        states = paragraph.getPropertyStates(PORTION_PROPERTIES)
        posture, weight, link = paragraph.getPropertyValues(PORTION_PROPERTIES)
    except Exception:
        return False
    if any(state.value == "AMBIGUOUS_VALUE" for state in states) or link:
        return False
    return weight is not None and weight <= 130 and getattr(posture, "value", "") == "NONE"


def paragraph_markdown(paragraph, anchored):
    level = heading_level(paragraph)
    prefix = "#" * min(level, 6) + " " if level else list_prefix(paragraph)
    if not anchored and is_plain(paragraph):
        text = paragraph.String
    else:
        text = "".join(portion_text(portion, bool(level)) for portion in enumerate_all(paragraph))
        for content in content_elements(paragraph) if anchored else ():
            text += "![%s]" % get(content, "Name", "object")
    text = text.replace("\n", "<br>")
    break_before = getattr(get(paragraph, "BreakType"), "value", "NONE") in BREAK_BEFORE or bool(
        get(paragraph, "PageDescName")
    )
    return ("[page break] " if break_before else "") + prefix + text


def table_data(table):
    """The texts of a table by rows; for a table with merged cells the cells by name."""
    try:
        return [[str(plain_number(value)) for value in row] for row in table.getDataArray()], True
    except Exception:
        return [[name, table.getCellByName(name).getString()] for name in table.CellNames], False


def table_markdown(table, index):
    rows, regular = table_data(table)
    lines = ["[table %d %s%s]" % (index, table.Name, "" if regular else ", merged cells, by name")]
    for number, row in enumerate(rows):
        lines.append(markdown_row([markdown_cell(text) for text in row]))
        if number == 0:
            lines.append(markdown_row(["---"] * len(row)))
    return lines


def tracked_changes(document):
    try:
        return sum(1 for _ in enumerate_all(document.Redlines))
    except Exception:
        return 0


@tool(
    "read_document",
    ("writer",),
    start_paragraph=("integer", 1),
    end_paragraph=("integer", -1),
    max_characters=("integer", 20_000),
)
def read_document(target, given):
    if given.start_paragraph < 1 or given.end_paragraph < -1:
        raise invalid("paragraphs count from 1; end_paragraph -1 is the last one")
    most = max(200, min(given.max_characters, MOST_OUTPUT_CHARACTERS))
    lines, used, reached, tables, stopped = [], 0, 0, 0, False
    anchored = has_anchored_contents(target.document)
    for number, content in body_contents(target):
        reached = number or reached
        if number is None:
            tables += 1
        current = number or reached + 1
        if current < given.start_paragraph or (number is None and reached < given.start_paragraph - 1):
            continue
        if given.end_paragraph != -1 and reached > given.end_paragraph:
            break
        new = (
            table_markdown(content, tables)
            if number is None
            else ["%d| %s" % (number, paragraph_markdown(content, anchored))]
        )
        size = sum(len(line) + 1 for line in new)
        if used + size > most:
            stopped = True
            if not lines:
                lines.append("\n".join(new)[:most] + "…")
                reached += 1
            break
        lines.extend(new)
        used += size
    said = [
        "About %s with text and %s in all."
        % (
            plural(get(target.document, "ParagraphCount", 0), "paragraph"),
            plural(target.document.TextTables.Count, "table"),
        )
    ]
    if stopped:
        said.append(
            "Cut at %d characters; read on with start_paragraph %d." % (most, max(reached, given.start_paragraph))
        )
    changes = tracked_changes(target.document)
    if changes:
        said.append("It has %s." % plural(changes, "tracked change"))
    return result(" ".join(said), "\n".join(lines))


def count_paragraphs(target):
    return sum(1 for number, _ in body_contents(target) if number)


def writer_info(target):
    document, view = target.document, target.controller
    words = get(document, "WordCount")
    info = {
        "pages": get(view, "PageCount"),
        "words": words,
        "characters": get(document, "CharacterCount"),
        "paragraphs": count_paragraphs(target),
        "tables": list(document.TextTables.ElementNames)[:MOST_LISTED],
        "images": list(document.GraphicObjects.ElementNames)[:MOST_LISTED],
        "selection": shorten(selected_text(target), 200),
    }
    changes = tracked_changes(document)
    if changes:
        info["tracked_changes"] = changes
    if get(document, "RecordChanges"):
        info["records_changes"] = True
    return {key: value for key, value in info.items() if value is not None}


def selected_ranges(target):
    selection = target.controller.getSelection()
    if has_service(selection, "com.sun.star.text.TextRanges"):
        return [selection.getByIndex(index) for index in range(selection.Count)]
    return []


def selected_text(target):
    return "\n".join(part.String for part in selected_ranges(target))


def text_range(first, last):
    """A cursor from the start of one range to the end of another one in the same text."""
    cursor = first.Text.createTextCursorByRange(first.Start)
    cursor.gotoRange(last.End, True)
    return cursor


@tool("select_text", ("writer",), text="text", occurrence=("integer", 1))
def select_text(target, given):
    if not given.text:
        raise invalid("text is empty")
    descriptor = target.document.createSearchDescriptor()
    descriptor.SearchString = given.text
    descriptor.SearchCaseSensitive = True
    found = target.document.findAll(descriptor)
    if given.occurrence < 1 or given.occurrence > found.Count:
        raise invalid(
            "%r occurs %s; occurrence %d is not there"
            % (shorten(given.text), plural(found.Count, "time"), given.occurrence)
        )
    target.controller.select(found.getByIndex(given.occurrence - 1))
    read = selected_text(target)
    return result(
        "Selected occurrence %d of %d." % (given.occurrence, found.Count),
        None,
        read == given.text,
        "the selection is %r" % shorten(read, 100),
    )


@tool("select_table", ("writer",), number="integer")
def select_table(target, given):
    tables = target.document.TextTables
    if not 1 <= given.number <= tables.Count:
        raise invalid("no table %d; there are %d" % (given.number, tables.Count))
    in_order = [content for number, content in body_contents(target) if number is None]
    table = in_order[given.number - 1] if given.number <= len(in_order) else tables.getByIndex(given.number - 1)
    names = table.CellNames
    cursor = table.createCursorByCellName(names[0])
    cursor.gotoCellByName(names[-1], True)
    target.controller.select(cursor)
    selection = target.controller.getSelection()
    read = get(selection, "RangeName") or (selection.getRangeName() if hasattr(selection, "getRangeName") else "")
    seen = has_service(selection, "com.sun.star.text.TextTableCursor") and read.replace("$", "") in (
        "%s:%s" % (names[0], names[-1]),
        "%s:%s" % (names[-1], names[0]),
        names[0],
    )
    return result("Selected table %s." % table.Name, None, seen, "the selection is %s of %s" % (read, table.Name))


@tool("select_paragraph", ("writer",), start_index="integer", end_index=("integer", None), non_empty=("boolean", True))
def select_paragraph(target, given):
    paragraphs = paragraphs_of(target)
    counted = [part for part in paragraphs if part.String.strip()] if given.non_empty else paragraphs
    end = (
        given.end_index
        if given.end_index not in (None, -1)
        else given.start_index if given.end_index is None else len(counted)
    )
    if not 1 <= given.start_index <= end <= len(counted):
        raise invalid(
            "paragraphs %d to %d are not there; there are %d%s"
            % (given.start_index, end, len(counted), " with text" if given.non_empty else "")
        )
    wanted = text_range(counted[given.start_index - 1], counted[end - 1])
    target.controller.select(wanted)
    read = selected_text(target)
    return result(
        "Selected %s." % plural(end - given.start_index + 1, "paragraph"),
        None,
        read == wanted.String,
        "the selection is %r" % shorten(read, 100),
    )

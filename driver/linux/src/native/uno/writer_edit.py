"""Text documents: inserting text and tables, fonts and styles."""

PARAGRAPH_BREAK = 0
MOST_TABLE_CELLS = 10_000
MOST_BLOCKS = 5_000
PLACES = ["end", "start", "cursor", "after_paragraph", "replace_selection"]
HARD_FORMATS = (
    "CharWeight",
    "CharPosture",
    "CharUnderline",
    "CharColor",
    "CharHeight",
    "CharFontName",
    "CharBackColor",
)
INLINE_MARKS = re.compile(r"(\*\*\*|\*\*|__|\*|_)(?=\S)(.+?)(?<=\S)\1(?!\w)")
MARKDOWN_LINE = re.compile(r"(#{1,6})\s+(.*)|(\s*)[-*+]\s+(.*)|(\s*)\d+[.)]\s+(.*)")


class Block:
    """One paragraph to insert, or a table: runs are (text, bold, italic)."""

    def __init__(self, runs=(), style=None, numbering=None, level=0, table=None):
        self.runs, self.style, self.numbering, self.level, self.table = list(runs), style, numbering, level, table

    @property
    def text(self):
        return "".join(text for text, _, _ in self.runs)


def inline_runs(text):
    runs, position = [], 0
    for match in INLINE_MARKS.finditer(text):
        if match.start() > position:
            runs.append((text[position : match.start()], False, False))
        marks = len(match.group(1))
        runs.append((match.group(2), marks >= 2, marks in (1, 3)))
        position = match.end()
    if position < len(text) or not runs:
        runs.append((text[position:], False, False))
    return runs


def table_cells(line):
    return [
        cell.strip().replace("\\|", "|").replace("<br>", "\n")
        for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))
    ]


def markdown_blocks(text):
    """Blocks of markdown: headings, lists, tables and paragraphs, which blank lines separate."""
    blocks, lines, index = [], text.split("\n"), 0
    while index < len(lines):
        line = lines[index].rstrip()
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if "|" in line and re.fullmatch(r"\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*", following):
            rows = [table_cells(line)]
            index += 2
            while index < len(lines) and "|" in lines[index]:
                rows.append(table_cells(lines[index]))
                index += 1
            width = max(len(row) for row in rows)
            blocks.append(Block(table=[row + [""] * (width - len(row)) for row in rows]))
            continue
        index += 1
        match = MARKDOWN_LINE.fullmatch(line)
        if match and match.group(1):
            blocks.append(Block([(match.group(2), False, False)], "Heading %d" % len(match.group(1))))
        elif match and match.group(4) is not None:
            blocks.append(Block(inline_runs(match.group(4)), None, "bullets", len(match.group(3)) // 2))
        elif match:
            blocks.append(Block(inline_runs(match.group(6)), None, "numbers", len(match.group(5)) // 2))
        elif line.strip():
            blocks.append(Block(inline_runs(line.strip())))
    return blocks or [Block([("", False, False)])]


def find_style(target, given, families=("ParagraphStyles",)):
    """Family and programmatic name of a style by either of its names."""
    shown = []
    for family in families:
        styles = target.document.StyleFamilies.getByName(family)
        if styles.hasByName(given):
            return family, given
        for name in styles.ElementNames:
            style = styles.getByName(name)
            if given.casefold() in (name.casefold(), str(get(style, "DisplayName", "")).casefold()):
                return family, name
            if (
                style.isInUse()
                or style.isUserDefined()
                or re.match("Heading [1-4]|Title|Subtitle|Text body|Quot", name)
            ):
                shown.append(name)
    raise invalid("no style %r; there are for example %s" % (shorten(given), shorten(", ".join(shown), 500)))


def numbering_style(target, kind):
    styles = target.document.StyleFamilies.getByName("NumberingStyles")
    for name in ("List 1", "List 2", "Bullet 1") if kind == "bullets" else ("Numbering 123", "Numbering 1"):
        if styles.hasByName(name):
            style = styles.getByName(name)
            if not style.isInUse():
                # A list style that is made inside a step of undo comes back without its bullets from redo.
                manager = target.document.getUndoManager()
                manager.lock()
                try:
                    style.NumberingRules = style.NumberingRules
                finally:
                    manager.unlock()
            return name
    raise Refusal("failed", "the document has no list style; insert the text without a list")


def place_cursor(target, at, paragraph):
    """A text cursor at the place, whether new paragraphs start there, and the number of the first new paragraph."""
    text = target.document.Text
    paragraphs = paragraphs_of(target)
    if (at == "after_paragraph") != (paragraph is not None):
        raise invalid("at=after_paragraph and paragraph belong together")
    if at == "end":
        cursor = text.createTextCursorByRange(text.End)
        return cursor, "after" if paragraphs[-1].String else "fill", len(paragraphs) + bool(paragraphs[-1].String)
    if at == "start":
        return (
            text.createTextCursorByRange(text.Start),
            "before" if len(paragraphs) > 1 or paragraphs[0].String else "fill",
            1,
        )
    if at == "after_paragraph":
        if not 1 <= paragraph <= len(paragraphs):
            raise invalid("no paragraph %d; there are %d" % (paragraph, len(paragraphs)))
        return text.createTextCursorByRange(paragraphs[paragraph - 1].End), "after", paragraph + 1
    if at == "replace_selection":
        ranges = selected_ranges(target)
        if len(ranges) != 1:
            raise invalid("the selection is not one piece of text; select text first")
        return ranges[0].Text.createTextCursorByRange(ranges[0]), "inline", None
    view_cursor = target.controller.getViewCursor()
    return view_cursor.Text.createTextCursorByRange(view_cursor.End), "inline", None


def insert_blocks(target, cursor, mode, blocks, default_style):
    """Inserts blocks as paragraphs at the cursor."""
    text = cursor.Text
    plain_style = default_style or follow_style(target, cursor)
    if mode == "before":
        text.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
        cursor.goLeft(1, False)
    for index, block in enumerate(blocks):
        # A table goes before the paragraph of the cursor, which then is the next paragraph.
        if (index and blocks[index - 1].table is None) or (not index and mode == "after"):
            text.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
        if block.table is not None:
            fresh_paragraph(target, cursor, block, plain_style)
            insert_filled_table(target, cursor, block.table)
            continue
        fresh_paragraph(target, cursor, block, plain_style)
        text.insertString(cursor, block.text, False)
        position = cursor.Text.createTextCursorByRange(cursor)
        position.goLeft(len(block.text), False)
        for run, bold, italic in block.runs:
            position.goRight(len(run), True)
            if bold:
                position.CharWeight = 150.0
            if italic:
                position.CharPosture = uno.Enum("com.sun.star.awt.FontSlant", "ITALIC")
            position.collapseToEnd()


def follow_style(target, cursor):
    """The style of a new paragraph here: that of the place, or what follows a heading."""
    name = cursor.ParaStyleName
    styles = target.document.StyleFamilies.getByName("ParagraphStyles")
    if re.match("Heading|Title|Subtitle", name):
        return get(styles.getByName(name), "FollowStyle", "Standard") or "Standard"
    return name


def fresh_paragraph(target, cursor, block, plain_style):
    cursor.ParaStyleName = block.style or plain_style
    for name in HARD_FORMATS + ("BreakType",):
        with contextlib.suppress(Exception):
            cursor.setPropertyToDefault(name)
    wanted = numbering_style(target, block.numbering) if block.numbering else ""
    if cursor.NumberingStyleName != wanted and (wanted or not re.match("List|Numbering", cursor.ParaStyleName)):
        cursor.NumberingStyleName = wanted
    if wanted:
        cursor.NumberingLevel = min(9, block.level)


def insert_filled_table(target, cursor, rows):
    """Inserts a table at the cursor, and moves the cursor behind it."""
    table = target.document.createInstance(TEXT_TABLE)
    table.initialize(len(rows), len(rows[0]))
    cursor.Text.insertTextContent(cursor, table, False)
    table.setDataArray(tuple(tuple(float(value) if is_number(value) else str(value) for value in row) for row in rows))
    return table


@tool(
    "insert_text",
    ("writer",),
    True,
    text="text",
    at=(PLACES, "end"),
    paragraph=("integer", None),
    style=("text", None),
    markdown=("boolean", False),
)
def insert_text(target, given):
    style = find_style(target, given.style)[1] if given.style else None
    text = given.text.replace("\r\n", "\n").replace("\r", "\n")
    blocks = markdown_blocks(text) if given.markdown else [Block([(line, False, False)]) for line in text.split("\n")]
    if len(blocks) > MOST_BLOCKS:
        raise invalid("the text has more than %d paragraphs; give it in parts" % MOST_BLOCKS)
    for block in blocks:
        if block.style:
            block.style = find_style(target, block.style)[1]
    for kind in {block.numbering for block in blocks if block.numbering}:
        numbering_style(target, kind)
    cursor, mode, first = place_cursor(target, given.at, given.paragraph)
    if mode == "inline" and not given.markdown:
        with undo_step(target.document, "Insert text"):
            cursor.Text.insertString(cursor, text.replace("\n", "\r"), True)
            if style:
                cursor.ParaStyleName = style
        read = cursor.String.replace("\r\n", "\n")
        return result(
            "Inserted %s." % plural(len(text), "character"),
            None,
            read == text,
            "the place reads %r" % shorten(read, 100),
        )
    if mode == "inline" and cursor.String:
        with undo_step(target.document, "Insert text"):
            cursor.setString("")
            insert_blocks(target, cursor, mode, blocks, style)
    else:
        with undo_step(target.document, "Insert text"):
            insert_blocks(target, cursor, mode, blocks, style)
    return inserted_result(target, blocks, first)


def inserted_result(target, blocks, first):
    texts = [block.text for block in blocks if block.table is None]
    strings = [paragraph.String for paragraph in paragraphs_of(target)]
    if first is None:
        seen = not texts or any(texts[0] in text for text in strings) and any(texts[-1] in text for text in strings)
        return result(
            "Inserted %s." % plural(len(blocks), "paragraph"),
            None,
            seen,
            "the document %s the text" % ("holds" if seen else "does not hold"),
        )
    has_tables = len(texts) < len(blocks)
    found = strings[first - 1 : first - 1 + len(texts)]
    if has_tables:
        remaining = iter(strings[max(0, first - 2) :])
        seen = all(any(text == candidate for candidate in remaining) for text in texts)
        found = texts if seen else found
    seen = found == texts
    last = first + len(texts) - 1
    said = "Inserted %s%s." % (
        plural(len(texts), "paragraph"),
        " and " + plural(len(blocks) - len(texts), "table") if has_tables else "",
    )
    place = "paragraph %d" % first if last <= first else "paragraphs %d to %d" % (first, last)
    return result(
        said,
        {"first_paragraph": first},
        seen,
        "%s read%s as %s"
        % (place, "s" if last <= first else "", "given" if seen else "otherwise: %r" % shorten("\n".join(found), 100)),
    )


@tool(
    "insert_table",
    ("writer",),
    True,
    rows=("integer", None),
    columns=("integer", None),
    data=("list", None),
    at=(PLACES[:4], "cursor"),
    paragraph=("integer", None),
)
def insert_table_writer(target, given):
    data = given.data or []
    if not all(isinstance(row, list) for row in data):
        raise invalid("data is not a list of rows, each a list of values")
    height = given.rows or len(data)
    width = given.columns or max((len(row) for row in data), default=0)
    if (
        height < max(1, len(data))
        or width < max([1] + [len(row) for row in data])
        or height * width > MOST_TABLE_CELLS
    ):
        raise invalid("a table of %d by %d cells is too small for its data or too large" % (height, width))
    rows = [["" if value is None else value for value in row] + [""] * (width - len(row)) for row in data]
    rows += [[""] * width for _ in range(height - len(rows))]
    before = target.document.TextTables.ElementNames
    cursor, mode, _ = place_cursor(target, given.at, given.paragraph)
    if mode == "inline" and not has_service(cursor.Text, "com.sun.star.text.Text") and get(cursor, "TextTable"):
        raise invalid("the cursor is inside a table; use at=end or at=after_paragraph")
    with undo_step(target.document, "Insert table"):
        if mode == "after":
            cursor.Text.insertControlCharacter(cursor, PARAGRAPH_BREAK, False)
        insert_filled_table(target, cursor, rows)
    added = [name for name in target.document.TextTables.ElementNames if name not in before]
    if len(added) != 1:
        return result("No table was inserted.", None, False, "the document has no new table")
    table = target.document.TextTables.getByName(added[0])
    found, _ = table_data(table)
    seen = found == [[str(plain_number(value)) for value in row] for row in rows]
    return result(
        "Inserted table %s." % added[0],
        None,
        seen,
        "%s has %d by %d cells%s"
        % (added[0], table.Rows.Count, table.Columns.Count, " as given" if seen else ", some with other texts"),
    )


@tool("set_font", ("writer",), True, **FONT_PARAMETERS)
def set_font(target, given):
    values, words = font_properties(given)
    if not values:
        raise invalid("set_font got nothing to set; give for example bold or font_size")
    ranges = [part for part in selected_ranges(target) if part.String]
    selection = target.controller.getSelection()
    if not ranges and has_service(selection, "com.sun.star.text.TextTableCursor"):
        ranges = [selection]
    if not ranges:
        raise invalid("no text is selected; use select_text, select_paragraph or select_table first")
    with undo_step(target.document, "Set font"):
        for part in ranges:
            for name, value in values.items():
                part.setPropertyValue(name, value)
    wrong = sorted({name for part in ranges for name in reads_back(part, values)})
    return result(
        "The selection is %s." % ", ".join(words),
        None,
        not wrong,
        "%s reads back otherwise" % ", ".join(wrong) if wrong else "the selected text has these properties",
    )


@tool("set_style", ("writer",), True, style="text", start_paragraph=("integer", None), end_paragraph=("integer", None))
def set_style(target, given):
    if given.start_paragraph is None:
        family, name = find_style(target, given.style, ("ParagraphStyles", "CharacterStyles"))
        ranges = selected_ranges(target) or [target.controller.getViewCursor()]
    else:
        family, name = find_style(target, given.style)
        paragraphs = paragraphs_of(target)
        end = given.end_paragraph or given.start_paragraph
        end = len(paragraphs) if end == -1 else end
        if not 1 <= given.start_paragraph <= end <= len(paragraphs):
            raise invalid(
                "paragraphs %d to %d are not there; there are %d" % (given.start_paragraph, end, len(paragraphs))
            )
        ranges = paragraphs[given.start_paragraph - 1 : end]
    key = "ParaStyleName" if family == "ParagraphStyles" else "CharStyleName"
    with undo_step(target.document, "Set style"):
        for part in ranges:
            part.setPropertyValue(key, name)
    wrong = [part for part in ranges if get(part, key) != name]
    return result(
        "Set style %s on %s." % (name, plural(len(ranges), "paragraph" if given.start_paragraph else "selection")),
        None,
        not wrong,
        "the style reads %s" % shorten(get((wrong or ranges)[0], key)),
    )

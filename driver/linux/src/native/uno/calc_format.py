"""Spreadsheets: fonts, colors, alignment, borders, widths and merging of cells."""

ALIGNMENTS = {"left": "LEFT", "center": "CENTER", "right": "RIGHT", "justify": "BLOCK", "standard": "STANDARD"}
BORDERS = {"none": 0, "thin": 26, "medium": 53, "thick": 88}


def set_borders(cells, width):
    """Lines around all cells of a rectangle; the width is in hundredths of a millimetre, 0 takes them away."""
    line = struct("com.sun.star.table.BorderLine2", Color=0, LineWidth=width, OuterLineWidth=width)
    fields = {
        side: line for side in ("TopLine", "BottomLine", "LeftLine", "RightLine", "HorizontalLine", "VerticalLine")
    }
    fields.update({"Is%sValid" % side: True for side in list(fields)})
    cells.object.TableBorder2 = struct("com.sun.star.table.TableBorder2", **fields)


@tool(
    "format_range",
    ("calc",),
    True,
    range="text",
    sheet_name=("sheet", None),
    background=("text", None),
    number_format=("text", None),
    align=(list(ALIGNMENTS), None),
    wrap=("boolean", None),
    column_width_mm=("number", None),
    border=(list(BORDERS), None),
    merge=("boolean", None),
    **FONT_PARAMETERS
)
def format_range(target, given):
    cells = parse_range(target, given.range, given.sheet_name)
    check_unprotected(cells)
    values, words = font_properties(given)
    if given.background is not None:
        values["CellBackColor"] = color_number(given.background, "background")
        words.append("background " + color_text(values["CellBackColor"]))
    if given.number_format is not None:
        values["NumberFormat"] = format_key(target, given.number_format)
        words.append("number format " + given.number_format)
    if given.align is not None:
        values["HoriJustify"] = uno.Enum("com.sun.star.table.CellHoriJustify", ALIGNMENTS[given.align])
        words.append("aligned " + given.align)
    if given.wrap is not None:
        values["IsTextWrapped"] = given.wrap
        words.append("wrapped" if given.wrap else "not wrapped")
    if given.column_width_mm is not None and not 1 <= given.column_width_mm <= 1000:
        raise invalid("column_width_mm is out of range; it can be 1 to 1000")
    for name, word in (("column_width_mm", "column width %s mm"), ("border", "border %s"), ("merge", "merge %s")):
        if getattr(given, name) is not None:
            words.append(word % getattr(given, name))
    if not words:
        raise invalid("format_range got nothing to set; give for example bold or number_format")
    if given.merge and holds_other_content(cells):
        raise invalid(
            "%s holds more than its first cell; merging would hide the rest, so clear them first" % cells.name
        )
    with undo_step(target.document, "Format range"):
        for name, value in values.items():
            cells.object.setPropertyValue(name, value)
        if given.column_width_mm is not None:
            cells.object.Columns.Width = round(given.column_width_mm * 100)
        if given.border is not None:
            set_borders(cells, BORDERS[given.border])
        if given.merge is not None:
            cells.object.merge(given.merge)
    wrong = reads_back(cells.object, values)
    if (
        given.column_width_mm is not None
        and abs(cells.object.Columns.getByIndex(0).Width - given.column_width_mm * 100) > 3
    ):
        wrong.append("column width")
    if given.border is not None:
        found = cells.object.TableBorder2.TopLine.LineWidth
        if (found > 0) != (BORDERS[given.border] > 0):
            wrong.append("border")
    if given.merge is not None and cells.count > 1 and cells.object.IsMerged != given.merge:
        wrong.append("merge")
    said = "Formatted %s: %s." % (cells.full_name, ", ".join(words))
    proof = "%s reads back otherwise" % ", ".join(wrong) if wrong else "%s has these properties" % cells.name
    return result(said, None, not wrong, proof)


def holds_other_content(cells):
    if cells.count > MOST_CELLS_READ:
        return True
    formulas = cells.object.getFormulaArray()
    return any(
        text for row_index, row in enumerate(formulas) for column, text in enumerate(row) if row_index or column
    )

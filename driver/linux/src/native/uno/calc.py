"""Spreadsheets: addresses, sheets, ranges, reading and selecting."""

CELL_PATTERN = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
NULL_DATE_FALLBACK = datetime.date(1899, 12, 30)
SHEET_PARAMETER = {"sheet_name": ("sheet", None)}
AREA_PARAMETERS = {
    "sheet_name": ("sheet", None),
    "start_row": ("integer", None),
    "start_col": ("integer", None),
    "end_row": ("integer", -1),
    "end_col": ("integer", -1),
    "range": ("text", None),
}


def column_letters(index):
    letters, index = "", index + 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_index(letters):
    index = 0
    for letter in letters.upper():
        index = index * 26 + ord(letter) - 64
    return index - 1


def cell_name(column, row):
    return column_letters(column) + str(row + 1)


class Cells:
    """A rectangle of cells; columns and rows count from 0."""

    def __init__(self, sheet, first_column, first_row, last_column, last_row):
        self.sheet = sheet
        self.first_column, self.first_row = first_column, first_row
        self.last_column, self.last_row = last_column, last_row
        self.width, self.height = last_column - first_column + 1, last_row - first_row + 1
        self.count = self.width * self.height

    @property
    def object(self):
        return self.sheet.getCellRangeByPosition(self.first_column, self.first_row, self.last_column, self.last_row)

    @property
    def name(self):
        first, last = cell_name(self.first_column, self.first_row), cell_name(self.last_column, self.last_row)
        return first if first == last else first + ":" + last

    @property
    def full_name(self):
        return "%s.%s" % (self.sheet.Name, self.name)


def cells_of(sheet, address):
    """The Cells of a com.sun.star.table.CellRangeAddress."""
    return Cells(sheet, address.StartColumn, address.StartRow, address.EndColumn, address.EndRow)


def find_sheet(target, given):
    """A sheet by name or number; the active one if None."""
    if given is None:
        sheet = get(target.controller, "ActiveSheet")
        if sheet is None:
            raise invalid("no sheet is active in this view; give sheet_name")
        return sheet
    sheets = target.document.Sheets
    names = sheets.ElementNames
    if isinstance(given, str):
        if given in names:
            return sheets.getByName(given)
        alike = [name for name in names if name.casefold() == given.strip().strip("'").casefold()]
        if len(alike) == 1:
            return sheets.getByName(alike[0])
        if not given.strip().isdigit():
            raise invalid("no sheet %r; there are %s" % (shorten(given), shorten(", ".join(names), 400)))
        given = int(given)
    if given != int(given) or not 1 <= given <= len(names):
        raise invalid("no sheet number %s; there are %d" % (given, len(names)))
    return sheets.getByIndex(int(given) - 1)


def used_cells(sheet):
    """The used rectangle from A1's side: its first used column and row up to the last; None for an empty sheet."""
    cursor = sheet.createCursor()
    cursor.gotoStartOfUsedArea(False)
    cursor.gotoEndOfUsedArea(True)
    cells = cells_of(sheet, cursor.RangeAddress)
    if cells.count == 1 and not cells.object.getFormulaArray()[0][0]:
        return None
    return cells


def split_sheet(text):
    """Sheet name or None, and the rest, of Sheet2.A1, $Sheet2.A1, 'My sheet'.A1 or Sheet2!A1."""
    match = re.fullmatch(r"\$?(?:'((?:[^']|'')+)'|([^'.!]+))[.!](.+)", text.strip())
    if not match:
        return None, text.strip()
    return (match.group(1) or match.group(2)).replace("''", "'"), match.group(3)


def parse_range(target, text, given_sheet=None):
    """The Cells of an address in A1 notation, of whole columns or rows, or of a named range."""
    if len(text) > 300:
        raise invalid("the range is longer than 300 characters")
    name, rest = split_sheet(text)
    sheet = find_sheet(target, name if name is not None else given_sheet)
    first, _, last = rest.partition(":")
    last_sheet, last = split_sheet(last)
    last = last or first
    limits = sheet.RangeAddress
    start, end = CELL_PATTERN.fullmatch(first), CELL_PATTERN.fullmatch(last)
    if start and end:
        columns = sorted((column_index(start.group(1)), column_index(end.group(1))))
        rows = sorted((int(start.group(2)) - 1, int(end.group(2)) - 1))
    elif re.fullmatch(r"\$?[A-Za-z]{1,3}", first) and re.fullmatch(r"\$?[A-Za-z]{1,3}", last) and ":" in rest:
        used = used_cells(sheet)
        columns = sorted((column_index(first.lstrip("$")), column_index(last.lstrip("$"))))
        rows = [0, used.last_row if used else 0]
    elif re.fullmatch(r"\$?[0-9]{1,7}", first) and re.fullmatch(r"\$?[0-9]{1,7}", last) and ":" in rest:
        used = used_cells(sheet)
        rows = sorted((int(first.lstrip("$")) - 1, int(last.lstrip("$")) - 1))
        columns = [0, used.last_column if used else 0]
    else:
        return named_range(target, text)
    if (
        rows[0] < 0
        or rows[1] > limits.EndRow
        or columns[1] > limits.EndColumn
        or (last_sheet or sheet.Name) != sheet.Name
    ):
        raise invalid("range %r is outside sheet %s" % (shorten(text), sheet.Name))
    return Cells(sheet, columns[0], rows[0], columns[1], rows[1])


def named_range(target, text):
    names = target.document.NamedRanges
    if names.hasByName(text):
        referred = names.getByName(text).getReferredCells()
        if referred is not None:
            return cells_of(referred.Spreadsheet, referred.RangeAddress)
    raise invalid("%r is no range; use A1 notation like A1:C5 or Sheet2.A1:C5" % shorten(text))


def find_area(target, given, needs_start=False):
    """The Cells of range, or of start_row to end_col; without them the used range."""
    if given.range is not None:
        return parse_range(target, given.range, given.sheet_name)
    sheet = find_sheet(target, given.sheet_name)
    if given.start_row is None and given.start_col is None and needs_start:
        raise invalid("give range, or start_row and start_col")
    used = used_cells(sheet)
    limits = sheet.RangeAddress
    if given.start_row is None and given.start_col is None and given.end_row == -1 and given.end_col == -1:
        return used
    first_row = (given.start_row or 1) - 1
    first_column = (given.start_col or 1) - 1
    last_row = given.end_row - 1 if given.end_row != -1 else max(first_row, used.last_row if used else 0)
    last_column = given.end_col - 1 if given.end_col != -1 else max(first_column, used.last_column if used else 0)
    if not (0 <= first_row <= last_row <= limits.EndRow and 0 <= first_column <= last_column <= limits.EndColumn):
        raise invalid(
            "rows %s to %s, columns %s to %s are no area of sheet %s; rows and columns count from 1"
            % (given.start_row, given.end_row, given.start_col, given.end_col, sheet.Name)
        )
    return Cells(sheet, first_column, first_row, last_column, last_row)


def check_cells(cells, most, doing):
    if cells.count > most:
        raise invalid(
            "%s has %s cells, more than the %s that can be %s at once; take a part"
            % (cells.name, format(cells.count, ","), format(most, ","), doing)
        )


def check_unprotected(cells_or_sheet):
    sheet = getattr(cells_or_sheet, "sheet", cells_or_sheet)
    if sheet.isProtected():
        raise Refusal("read_only", "sheet %s is protected; unprotect it or use another sheet" % sheet.Name)


def rows_that_fit(data, most):
    """How many rows may fit into a number of characters: a number takes at least one."""
    used = 0
    for index, row in enumerate(data):
        used += sum(len(value) + 1 if isinstance(value, str) else 2 for value in row) + 2
        if used > most:
            return index + 1
    return len(data)


def displayed_texts(target, cells):
    """The texts of cells as they are displayed, of the rows that may fit into an answer."""
    area = cells.object
    data = area.getDataArray()
    height = rows_that_fit(data, MOST_OUTPUT_CHARACTERS)
    texts = [["" if value is None else value for value in row] for row in data[:height]]
    if all(isinstance(value, str) for row in data[:height] for value in row):
        return texts, cells.height
    formatter = target.create("com.sun.star.util.NumberFormatter")
    formatter.attachNumberFormatsSupplier(target.document)
    known, formats = {}, area.getCellFormatRanges()
    for index in range(formats.Count):
        part = formats.getByIndex(index)
        address, key = part.RangeAddress, part.NumberFormat
        for row in range(address.StartRow - cells.first_row, min(address.EndRow - cells.first_row + 1, height)):
            for column in range(address.StartColumn - cells.first_column, address.EndColumn - cells.first_column + 1):
                value = data[row][column]
                if isinstance(value, str):
                    continue
                if value is None:
                    texts[row][column] = area.getCellByPosition(column, row).String
                    continue
                if (key, value) not in known:
                    known[key, value] = formatter.convertNumberToString(key, value)
                texts[row][column] = known[key, value]
    return [[str(text) for text in row] for row in texts], cells.height


def markdown_lines(cells, texts, height):
    """A table of texts; the rows of the height without texts are lines that do not fit."""
    lines = [
        markdown_row([""] + [column_letters(cells.first_column + index) for index in range(cells.width)]),
        markdown_row(["---"] * (cells.width + 1)),
    ]
    for offset, row in enumerate(texts):
        lines.append(markdown_row([str(cells.first_row + offset + 1)] + [markdown_cell(text) for text in row]))
    return lines + [""] * (height - len(texts))


@tool("table2markdown", ("calc",), sheet_name=("sheet", None), range=("text", None))
def table2markdown(target, given):
    sheet = find_sheet(target, given.sheet_name)
    cells = parse_range(target, given.range, given.sheet_name) if given.range else used_cells(sheet)
    if cells is None:
        return result("Sheet %s is empty." % sheet.Name, "")
    check_cells(cells, MOST_CELLS_READ, "read")
    text = bounded(
        markdown_lines(cells, *displayed_texts(target, cells)), MOST_OUTPUT_CHARACTERS, "read them with range"
    )
    return result(
        "%s, %s by %s." % (cells.full_name, plural(cells.height, "row"), plural(cells.width, "column")), text
    )


def plain_number(value):
    return int(value) if isinstance(value, float) and value == int(value) and abs(value) < 1e15 else value


def format_codes(target, cells):
    """The number formats as [range, code]."""
    formats, listed = target.document.NumberFormats, []
    parts = cells.object.getCellFormatRanges()
    for index in range(min(parts.Count, MOST_LISTED * 4)):
        part = parts.getByIndex(index)
        listed.append(
            [cells_of(cells.sheet, part.RangeAddress).name, formats.getByKey(part.NumberFormat).FormatString]
        )
    return listed


@tool("get_range_values", ("calc",), what=(["values", "formulas", "texts", "formats"], "values"), **AREA_PARAMETERS)
def get_range_values(target, given):
    cells = find_area(target, given)
    if cells is None:
        return result("The sheet is empty.", [])
    check_cells(cells, MOST_CELLS_READ, "read")
    if given.what == "formulas":
        rows = [list(row) for row in cells.object.getFormulaArray()]
    elif given.what == "texts":
        rows, _ = displayed_texts(target, cells)
    elif given.what == "formats":
        rows = format_codes(target, cells)
    else:
        rows = [[plain_number(value) for value in row] for row in cells.object.getDataArray()]
        if any(value is None for row in rows for value in row):
            rows = [
                [
                    cells.object.getCellByPosition(column, row).String if value is None else value
                    for column, value in enumerate(line)
                ]
                for row, line in enumerate(rows)
            ]
    said = "%s, %s by %s." % (cells.full_name, plural(cells.height, "row"), plural(cells.width, "column"))
    used, kept = 0, []
    for row in rows:
        used += len(json.dumps(row, ensure_ascii=False)) + 1
        if used > MOST_OUTPUT_CHARACTERS:
            said += " Only %s fit; read on at row %d." % (plural(len(kept), "row"), cells.first_row + len(kept) + 1)
            break
        kept.append(row)
    return result(said, kept)


@tool("select_range", ("calc",), **AREA_PARAMETERS)
def select_range(target, given):
    cells = find_area(target, given, needs_start=True)
    target.controller.setActiveSheet(cells.sheet)
    target.controller.select(cells.object)
    selection = target.controller.getSelection()
    address = get(selection, "RangeAddress")
    found = cells_of(selection.Spreadsheet, address).full_name if address is not None else "another selection"
    return result("Selected %s." % cells.full_name, None, found == cells.full_name, "the selection is %s" % found)


def calc_info(target):
    sheets = []
    for name in target.document.Sheets.ElementNames[: MOST_LISTED * 2]:
        sheet = target.document.Sheets.getByName(name)
        used = used_cells(sheet)
        entry = {"name": name, "used": used.name if used else None}
        if not sheet.IsVisible:
            entry["hidden"] = True
        if sheet.isProtected():
            entry["protected"] = True
        for key, count in (("charts", sheet.Charts.Count), ("pivots", sheet.DataPilotTables.Count)):
            if count:
                entry[key] = count
        sheets.append(entry)
    selection = target.controller.getSelection()
    selected = get(selection, "RangeAddressesAsString") or get(selection, "AbsoluteName")
    active = get(target.controller, "ActiveSheet")
    return {
        "sheets": sheets,
        "active": active.Name if active else None,
        "selection": shorten(selected.replace("$", ""), 200) if selected else "an object",
    }

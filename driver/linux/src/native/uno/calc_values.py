"""Spreadsheets: writing values and formulas with their number formats, and reading them back."""

# Functions and references that read from outside the document or run code.
EXTERNAL_FUNCTIONS = (
    "WEBSERVICE",
    "DDE",
    "CALL",
    "REGISTER",
    "REGISTER.ID",
    "RTD",
    "SQL.REQUEST",
    "IMPORTDATA",
    "IMPORTHTML",
    "IMPORTXML",
    "IMPORTRANGE",
    "PY",
    "IMAGE",
    "STOCKHISTORY",
    "TRANSLATE",
    "COM.MICROSOFT.WEBSERVICE",
    "ORG.LIBREOFFICE.WEBSERVICE",
    "MULTIPLE.DDE",
    "EXEC",
    "EVALUATE",
)
EXTERNAL_REFERENCES = (
    r"'[^']*'\s*#",
    r"\bfile:",
    r"\[[^\]\[]*\.(xls|xlsx|xlsm|xlsb|ods|csv)\]",
    r"\w\|'",
    r"'\|'",
    r"\\\\[\w.]+\\",
    r"\bvnd\.[\w.]+:",
    r"\b(smb|ftp|sftp|dav|davs|http|https)://[^\"]*['#]",
)
DATE_PATTERN = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?")
FORMULA_TOKENS = re.compile(
    r'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'!?|\{[^{}]*\}|[A-Za-z_][\w.]*!|[\w.]+\s*\(|[\w.]+|.', re.S
)
NUMBER_LIKE = re.compile(r"[+-]?[\d.,:/%\s-]*\d[\d.,:/%\s-]*")
# com.sun.star.util.NumberFormat, and FormulaResult.ERROR.
KIND_DATE, KIND_TEXT, KIND_BOOLEAN, KIND_ERROR = 2, 256, 1024, 4
MOST_RECTANGLES = 200
CONTENTS = 1 | 2 | 4 | 16  # com.sun.star.sheet.CellFlags: VALUE, DATETIME, STRING, FORMULA


def external_part(formula):
    """What of a formula reads from outside the document, or None."""
    for token in FORMULA_TOKENS.findall(formula):
        if token.endswith("(") and token[:-1].strip().upper() in EXTERNAL_FUNCTIONS:
            return token[:-1].strip().upper()
    for pattern in EXTERNAL_REFERENCES:
        match = re.search(pattern, re.sub(r'(?i)hyperlink\s*\(\s*"[^"]*"', "HYPERLINK(", formula), re.I)
        if match:
            return match.group(0)
    return None


def native_formula(formula):
    """A formula with commas, references like Sheet2!A1 and inline rows with semicolons, as UNO wants it."""
    parts = []
    for token in FORMULA_TOKENS.findall(formula):
        if token.startswith("{") and len(token) > 1:
            token = token.replace(";", "|").replace(",", ";") if "," in token and "|" not in token else token
        elif token == ",":
            token = ";"
        elif token.endswith("!") and len(token) > 1:
            token = "$" + token[:-1] + "."
        parts.append(token)
    return "".join(parts)


def comparable_formula(formula):
    tokens = FORMULA_TOKENS.findall(formula.strip("{}") if formula.startswith("{=") else formula)
    kept = [token if token.startswith('"') else re.sub(r"[\s$']", "", token).upper() for token in tokens]
    return re.sub(r"(?<=\d)\.0+(?!\d)", "", "".join(kept)).replace("+-", "-")


def date_number(target, match):
    """The serial number of an ISO date, and whether it has a time; None if there is no such day."""
    null = target.document.NullDate
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None, False
    first = datetime.datetime(null.Year, null.Month, null.Day) if null.Year else NULL_DATE_FALLBACK
    difference = moment - first
    return difference.days + difference.seconds / 86400, match.group(4) is not None


class Written:
    """One cell to write: `entry` is what a formula array takes, `expected` is what has to read back."""

    def __init__(self, entry, expected, format_code=None):
        self.entry, self.expected, self.format_code = entry, expected, format_code

    @property
    def is_formula(self):
        return isinstance(self.expected, str) and self.entry.startswith("=")


def written_cell(target, value, place, allow_external, mentions):
    """What to write for a given value; None leaves the cell."""
    if value is None:
        return None
    if isinstance(value, bool):
        return Written("1" if value else "0", float(value), "BOOLEAN")
    if isinstance(value, (int, float)):
        if not is_number(value):
            raise invalid("%s: %r is no finite number; nothing was written" % (place, value))
        return Written(repr(value), float(value))
    if not isinstance(value, str):
        raise invalid("%s is a %s; give texts, numbers, true, false or null" % (place, type(value).__name__))
    if len(value) > MOST_CELL_CHARACTERS:
        raise invalid("%s has more than %d characters; shorten it" % (place, MOST_CELL_CHARACTERS))
    if value.startswith("=") and len(value) > 1:
        outside = external_part(value)
        if outside and not allow_external:
            raise invalid(
                "%s reads from outside the document (%s); leave it out, or set allow_external if the user wants it"
                % (place, shorten(outside, 40))
            )
        if outside or re.search(r"(?i)\bhyperlink\s*\(", value):
            mentions.append("%s has %s." % (place, outside or "a hyperlink"))
        formula = native_formula(value)
        return Written(formula, formula)
    match = DATE_PATTERN.fullmatch(value)
    if match:
        number, has_time = date_number(target, match)
        if number is not None:
            return Written(repr(number), float(number), "YYYY-MM-DD HH:MM:SS" if has_time else "YYYY-MM-DD")
    text = value[1:] if value.startswith("'") else value
    # The program sets the text format for these, but not in redo.
    return Written("'" + text if text else "", text, "@" if NUMBER_LIKE.fullmatch(text) else None)


def rectangles(rows, chosen):
    """Rectangles (first row, last row, first column, last column, key) of cells with the same `chosen` key."""
    finished, open_runs = [], {}
    for row_index, row in enumerate(rows):
        runs, start, key = {}, None, None
        for column in range(len(row) + 1):
            found = chosen(row[column]) if column < len(row) else None
            if start is not None and found != key:
                runs[start, column - 1, key] = row_index
                start = None
            if start is None and found is not None:
                start, key = column, found
        continued = {}
        for run in runs:
            continued[run] = open_runs.pop(run, row_index)
        finished.extend((first, row_index - 1, run[0], run[1], run[2]) for run, first in open_runs.items())
        open_runs = continued
    finished.extend((first, len(rows) - 1, run[0], run[1], run[2]) for run, first in open_runs.items())
    return sorted(finished)


def part_of(cells, first_row, last_row, first_column, last_column):
    return Cells(
        cells.sheet,
        cells.first_column + first_column,
        cells.first_row + first_row,
        cells.first_column + last_column,
        cells.first_row + last_row,
    )


def english():
    return struct("com.sun.star.lang.Locale", Language="en", Country="US")


def format_key(target, code):
    """The key of a number format in English notation."""
    formats = target.document.NumberFormats
    if code.upper() in ("GENERAL", "STANDARD", ""):
        return formats.getStandardIndex(english())
    if len(code) > 200:
        raise invalid("a number format is longer than 200 characters")
    try:
        key = formats.queryKey(code, english(), False)
        return key if key != -1 else formats.addNew(code, english())
    except Exception:
        raise invalid(
            "%r is no number format; use one like 0.00, #,##0, 0%%, YYYY-MM-DD or @" % shorten(code)
        ) from None


def format_kind(target, key):
    return target.document.NumberFormats.getByKey(key).Type


def apply_formats(target, cells, rows, codes):
    """Sets number formats: those asked for by column, and those that dates and booleans need."""
    asked = []
    for index in range(cells.width):
        code = codes[index] if len(codes) > 1 and index < len(codes) else codes[0] if len(codes) == 1 else None
        asked.append(format_key(target, code) if code else None)
    for column, key in enumerate(asked):
        if key is not None:
            part_of(cells, 0, cells.height - 1, column, column).object.NumberFormat = key
    for first, last, left, right, code in rectangles(rows, lambda cell: cell.format_code if cell else None):
        for column in range(left, right + 1):
            if asked[column] is None:
                part = part_of(cells, first, last, column, column).object
                present = get(part, "NumberFormat")
                wanted = {"BOOLEAN": KIND_BOOLEAN, "@": 0}.get(code, KIND_DATE)
                if present is None or not format_kind(target, present) & wanted:
                    part.NumberFormat = format_key(target, code)
    return asked


def compare_written(cells, rows):
    """Cells that do not read back as asked, and formulas that the program noted otherwise."""
    formulas, data = cells.object.getFormulaArray(), cells.object.getDataArray()
    wrong, changed = [], []
    for row_index, row in enumerate(rows):
        for column, cell in enumerate(row):
            if cell is None:
                continue
            place = cell_name(cells.first_column + column, cells.first_row + row_index)
            found, formula = data[row_index][column], formulas[row_index][column]
            if cell.is_formula:
                if not formula.startswith(("=", "{=")):
                    wrong.append("%s holds %r, no formula" % (place, shorten(formula, 60)))
                elif comparable_formula(formula) != comparable_formula(cell.expected):
                    changed.append("%s is noted as %s" % (place, shorten(formula, 80)))
            elif isinstance(cell.expected, float):
                close = isinstance(found, float) and abs(found - cell.expected) <= 1e-12 * max(1.0, abs(cell.expected))
                if not close or formula.startswith("="):
                    wrong.append("%s holds %r" % (place, shorten(found, 60)))
            elif found != cell.expected:
                wrong.append("%s holds %r" % (place, shorten(found, 60)))
    return wrong, changed


def formula_errors(cells):
    """Cell and error name of the formulas in error, the first ones."""
    found = cells.object.queryFormulaCells(KIND_ERROR)
    listed, count = [], 0
    for address in found.getRangeAddresses():
        part = cells_of(cells.sheet, address)
        count += part.count
        for row in range(part.height):
            for column in range(part.width):
                if len(listed) < 10:
                    text = part.object.getCellByPosition(column, row).String
                    listed.append("%s %s" % (cell_name(part.first_column + column, part.first_row + row), text))
    return listed, count


def prepare_undo(cells):
    """Lets undo empty the cells that were empty: the undo of setDataArray alone leaves the new values in them."""
    cells.object.setArrayFormula("=0")
    cells.object.clearContents(CONTENTS)


def reset_text_formats(target, part, block):
    """Takes the text format from cells that get numbers or formulas, which would become texts in it."""
    for first, last, left, right, _ in rectangles(
        block, lambda cell: True if isinstance(cell.expected, float) or cell.is_formula else None
    )[:MOST_RECTANGLES]:
        formats = part_of(part, first, last, left, right).object.getCellFormatRanges()
        # All are looked at before one is changed, since a change renews the list.
        parts = [formats.getByIndex(index) for index in range(min(formats.Count, MOST_RECTANGLES))]
        texts = [same.RangeAddress for same in parts if format_kind(target, same.NumberFormat) & KIND_TEXT]
        for address in texts:
            cells_of(part.sheet, address).object.NumberFormat = format_key(target, "General")


def put_block(part, block):
    """Writes texts and numbers at once, then the rectangles of formulas."""
    formulas = rectangles(block, lambda cell: True if cell.is_formula else None)
    if len(formulas) > MOST_RECTANGLES:
        part.object.setFormulaArray(tuple(tuple(cell.entry for cell in row) for row in block))
        return
    part.object.setDataArray(tuple(tuple("" if cell.is_formula else cell.expected for cell in row) for row in block))
    for first, last, left, right, _ in formulas:
        entries = tuple(tuple(cell.entry for cell in row[left : right + 1]) for row in block[first : last + 1])
        part_of(part, first, last, left, right).object.setFormulaArray(entries)


def write_cells(target, sheet, first_column, first_row, values, codes, allow_external, title):
    """Writes rows of values as one step of undo and reads them back."""
    if not values or not all(isinstance(row, list) for row in values):
        raise invalid("rows is not a list of rows, each a list of values, with at least one row")
    width = max(len(row) for row in values)
    limits = sheet.RangeAddress
    if width == 0 or first_row + len(values) - 1 > limits.EndRow or first_column + width - 1 > limits.EndColumn:
        raise invalid("the rows have no cells or do not fit into the sheet at %s" % cell_name(first_column, first_row))
    cells = Cells(sheet, first_column, first_row, first_column + width - 1, first_row + len(values) - 1)
    check_cells(cells, MOST_CELLS_WRITTEN, "written")
    check_unprotected(sheet)
    mentions = []
    rows = []
    for row_index, row in enumerate(values):
        rows.append(
            [
                written_cell(
                    target,
                    row[column] if column < len(row) else None,
                    cell_name(first_column + column, first_row + row_index),
                    allow_external,
                    mentions,
                )
                for column in range(width)
            ]
        )
    for code in codes:
        if code is not None and not isinstance(code, str):
            raise invalid("formats is not a list of texts")
    with undo_step(target.document, title):
        for first, last, left, right, _ in rectangles(rows, lambda cell: None if cell is None else True):
            part = part_of(cells, first, last, left, right)
            block = [row[left : right + 1] for row in rows[first : last + 1]]
            prepare_undo(part)
            reset_text_formats(target, part, block)
            put_block(part, block)
        asked = apply_formats(target, cells, rows, codes)
    return describe_written(target, cells, rows, asked, mentions)


def describe_written(target, cells, rows, asked, mentions):
    written = sum(cell is not None for row in rows for cell in row)
    wrong, changed = compare_written(cells, rows)
    errors, error_count = formula_errors(cells)
    for column, key in enumerate(asked):
        if key is not None and get(part_of(cells, 0, cells.height - 1, column, column).object, "NumberFormat") != key:
            wrong.append("column %s has another number format" % column_letters(cells.first_column + column))
    said = ["Wrote %s in %s." % (plural(written, "cell"), cells.full_name)]
    if error_count:
        more = " and %d more" % (error_count - len(errors)) if error_count > len(errors) else ""
        said.append("Formulas in error: %s%s." % (", ".join(errors), more))
    if changed:
        said.append("; ".join(changed[:5]) + (" and %d more." % (len(changed) - 5) if len(changed) > 5 else "."))
    said.extend(mentions[:5])
    if wrong:
        said.append(
            "Not as asked: %s%s." % ("; ".join(wrong[:5]), "; %d more" % (len(wrong) - 5) if len(wrong) > 5 else "")
        )
        proof = "%d of %d cells do not read back as written" % (len(wrong), written)
    else:
        proof = "%s holds %s as written" % (cells.name, plural(written, "cell"))
    return result(" ".join(said), None, not wrong, proof)


@tool(
    "set_range_values",
    ("calc",),
    True,
    sheet_name=("sheet", None),
    start=("text", "A1"),
    rows="list",
    formats=("any", None),
    allow_external=("boolean", False),
)
def set_range_values(target, given):
    start = parse_range(target, given.start, given.sheet_name)
    codes = given.formats if isinstance(given.formats, list) else [given.formats] if given.formats else []
    return write_cells(
        target,
        start.sheet,
        start.first_column,
        start.first_row,
        given.rows,
        codes,
        given.allow_external,
        "Set range values",
    )


@tool(
    "insert_table",
    ("calc",),
    True,
    table="list",
    sheet_name=("sheet", None),
    start_row=("integer", 1),
    start_col=("integer", 1),
    allow_external=("boolean", False),
)
def insert_table_calc(target, given):
    if given.start_row < 1 or given.start_col < 1:
        raise invalid("start_row and start_col count from 1")
    sheet = find_sheet(target, given.sheet_name)
    return write_cells(
        target, sheet, given.start_col - 1, given.start_row - 1, given.table, [], given.allow_external, "Insert table"
    )

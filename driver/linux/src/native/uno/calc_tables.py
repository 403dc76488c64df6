"""Spreadsheets: columns, sorting, filters and sheets."""

FILTER_OPERATORS = {
    "empty": 0,
    "not_empty": 1,
    "=": 2,
    "!=": 3,
    ">": 4,
    ">=": 5,
    "<": 6,
    "<=": 7,
    "contains": 12,
    "begins": 14,
    "ends": 16,
}
MOST_COLLATED = 2000


def data_area(target, given_range, sheet_name):
    """The given range, or the used range of the sheet."""
    cells = parse_range(target, given_range, sheet_name) if given_range else used_cells(find_sheet(target, sheet_name))
    if cells is None:
        raise invalid("the sheet is empty; write values first or give range")
    return cells


def header_names(cells):
    return [str(plain_number(value)) if value != "" and value is not None else "" for value in first_row_values(cells)]


def first_row_values(cells):
    return part_of(cells, 0, 0, 0, cells.width - 1).object.getDataArray()[0]


def column_of(cells, given, has_header=True):
    """The offset in the area of a column given by header name, letters or number in the sheet."""
    names = header_names(cells) if has_header else []
    if isinstance(given, str):
        for same in (lambda name: name == given, lambda name: name.strip().casefold() == given.strip().casefold()):
            matching = [index for index, name in enumerate(names) if same(name)]
            if len(matching) > 1:
                raise invalid("several columns are named %r; give the letters of the column" % shorten(given))
            if matching:
                return matching[0]
        if re.fullmatch("[A-Za-z]{1,3}", given):
            offset = column_index(given) - cells.first_column
            if 0 <= offset < cells.width:
                return offset
    elif is_number(given):
        offset = int(given) - 1 - cells.first_column
        if 0 <= offset < cells.width:
            return offset
    named = ", ".join(filter(None, names[:30]))
    raise invalid("no column %r in %s%s" % (shorten(given), cells.full_name, "; there are " + named if named else ""))


@tool("reorder_columns", ("calc",), True, sheet_name=("sheet", None), desired_order="list")
def reorder_columns(target, given):
    cells = data_area(target, None, given.sheet_name)
    check_unprotected(cells)
    check_cells(cells, MOST_CELLS_WRITTEN, "moved")
    wanted = [column_of(cells, name) for name in given.desired_order]
    if len(set(wanted)) != len(wanted) or not wanted:
        raise invalid("desired_order is empty or names a column twice")
    order = wanted + [index for index in range(cells.width) if index not in wanted]
    before = cells.object.getDataArray()
    sheet, current = cells.sheet, list(range(cells.width))
    right, left = (
        uno.Enum("com.sun.star.sheet.CellInsertMode", "RIGHT"),
        uno.Enum("com.sun.star.sheet.CellDeleteMode", "LEFT"),
    )
    with undo_step(target.document, "Reorder columns"):
        for place, column in enumerate(order):
            source = current.index(column)
            if source == place:
                continue
            gap = part_of(cells, 0, cells.height - 1, place, place)
            sheet.insertCells(gap.object.RangeAddress, right)
            moved = part_of(cells, 0, cells.height - 1, source + 1, source + 1)
            sheet.moveRange(gap.object.getCellByPosition(0, 0).CellAddress, moved.object.RangeAddress)
            sheet.removeRange(moved.object.RangeAddress, left)
            current.insert(place, current.pop(source))
    after = cells.object.getDataArray()
    seen = all(tuple(row[index] for index in order) == found for row, found in zip(before, after))
    names = ", ".join(header_names(cells))
    return result(
        "The columns of %s are now: %s." % (cells.full_name, shorten(names, 400)),
        None,
        seen,
        (
            "the values of %s are the former ones in this order" % cells.name
            if seen
            else "some values of %s differ after moving" % cells.name
        ),
    )


def sort_rank(value):
    """Numbers come before texts, empty cells last."""
    return 2 if value == "" or value is None else 1 if isinstance(value, str) else 0


def is_sorted(target, values, descending):
    collator = None
    full = [value for value in values if sort_rank(value) < 2]
    if any(sort_rank(value) == 2 for value in values[: len(full)]):
        return False
    for first, second in list(zip(full, full[1:]))[: MOST_COLLATED * 100]:
        if descending:
            first, second = second, first
        if sort_rank(first) != sort_rank(second):
            if sort_rank(first) > sort_rank(second):
                return False
        elif isinstance(first, str):
            if first.casefold() > second.casefold():
                if collator is None:
                    collator = target.create("com.sun.star.i18n.Collator")
                    collator.loadDefaultCollator(target.document.CharLocale, 1)
                if collator.compareString(first, second) > 0:
                    return False
        elif first > second:
            return False
    return True


@tool(
    "sort", ("calc",), True, range=("text", None), by="list", has_header=("boolean", True), sheet_name=("sheet", None)
)
def sort_rows(target, given):
    cells = data_area(target, given.range, given.sheet_name)
    check_unprotected(cells)
    check_cells(cells, MOST_CELLS_WRITTEN, "sorted")
    keys = []
    for key in given.by:
        key = key if isinstance(key, dict) else {"column": key}
        if (
            set(key) - {"column", "descending"}
            or "column" not in key
            or not isinstance(key.get("descending", False), bool)
        ):
            raise invalid('by is not a list like [{"column": "B", "descending": false}]')
        keys.append((column_of(cells, key["column"], given.has_header), key.get("descending", False)))
    if not 1 <= len(keys) <= 3 or len({column for column, _ in keys}) < len(keys):
        raise invalid("by has to name 1 to 3 different columns")
    start = 1 if given.has_header else 0
    plain = [
        all(not row[column].startswith("=") for row in cells.object.getFormulaArray()) for column in range(cells.width)
    ]
    rows = lambda: sorted(
        repr([value for value, keep in zip(row, plain) if keep]) for row in cells.object.getDataArray()[start:]
    )
    before = rows()
    fields = tuple(
        struct("com.sun.star.table.TableSortField", Field=column, IsAscending=not descending)
        for column, descending in keys
    )
    with undo_step(target.document, "Sort"):
        cells.object.sort(
            properties(
                SortFields=uno.Any("[]com.sun.star.table.TableSortField", fields),
                ContainsHeader=given.has_header,
                IsSortColumns=False,
            )
        )
    column, descending = keys[0]
    ordered = is_sorted(target, [row[column] for row in cells.object.getDataArray()[start:]], descending)
    seen = ordered and rows() == before
    words = ", ".join(
        "%s %s" % (column_letters(cells.first_column + column), "descending" if down else "ascending")
        for column, down in keys
    )
    return result(
        "Sorted %s of %s by %s." % (plural(cells.height - start, "row"), cells.full_name, words),
        None,
        seen,
        (
            "column %s is in order and all rows are there" % column_letters(cells.first_column + column)
            if seen
            else "the rows are not in this order, or changed"
        ),
    )


def filter_number(target, value):
    if isinstance(value, bool):
        return float(value)
    if is_number(value):
        return float(value)
    match = DATE_PATTERN.fullmatch(value) if isinstance(value, str) else None
    return date_number(target, match)[0] if match else None


def filter_matches(found, operator, text, number):
    """Whether a value passes a condition, computed apart from the program."""
    if operator in ("empty", "not_empty"):
        return (found == "") == (operator == "empty")
    if number is not None:
        if isinstance(found, str) or found is None:
            return operator == "!="
        return {
            "=": found == number,
            "!=": found != number,
            "<": found < number,
            "<=": found <= number,
            ">": found > number,
            ">=": found >= number,
        }[operator]
    low, wanted = str(found).casefold(), text.casefold()
    if operator in ("contains", "begins", "ends"):
        return {"contains": wanted in low, "begins": low.startswith(wanted), "ends": low.endswith(wanted)}[operator]
    if operator in ("=", "!="):
        return (low == wanted) == (operator == "=")
    return None


def visible_rows(cells):
    shown = set()
    for address in cells.object.queryVisibleCells().getRangeAddresses():
        shown.update(range(address.StartRow - cells.first_row, address.EndRow - cells.first_row + 1))
    return shown


@tool(
    "filter",
    ("calc",),
    True,
    range=("text", None),
    where=("list", None),
    clear=("boolean", False),
    sheet_name=("sheet", None),
)
def filter_rows(target, given):
    cells = data_area(target, given.range, given.sheet_name)
    check_unprotected(cells)
    check_cells(cells, MOST_CELLS_READ, "filtered")
    if bool(given.where) == given.clear:
        raise invalid("give where, or clear=true to show all rows again")
    fields, conditions = [], []
    for condition in given.where or []:
        if not isinstance(condition, dict) or condition.get("op", "=") not in FILTER_OPERATORS:
            raise invalid(
                'where is not a list like [{"column": "B", "op": ">", "value": 5}]; op can be %s'
                % " ".join(FILTER_OPERATORS)
            )
        operator, value = condition.get("op", "="), condition.get("value")
        column = column_of(cells, condition.get("column"))
        if value is None and operator not in ("empty", "not_empty"):
            raise invalid("the condition on %s has no value" % shorten(condition.get("column")))
        number = filter_number(target, value) if operator in ("=", "!=", "<", "<=", ">", ">=") else None
        field = struct("com.sun.star.sheet.TableFilterField2", Field=column, Operator=FILTER_OPERATORS[operator])
        field.Connection = uno.Enum("com.sun.star.sheet.FilterConnection", "AND")
        field.IsNumeric = number is not None
        field.NumericValue = number or 0.0
        field.StringValue = "" if value is None else str(value)
        fields.append(field)
        conditions.append((column, operator, str(value), number))
    if len(fields) > 8:
        raise invalid("where has more than 8 conditions")
    with undo_step(target.document, "Filter"):
        descriptor = cells.object.createFilterDescriptor(True)
        descriptor.ContainsHeader = True
        descriptor.UseRegularExpressions = False
        descriptor.setFilterFields2(tuple(fields))
        cells.object.filter(descriptor)
    shown = visible_rows(cells) - {0}
    data = cells.object.getDataArray()
    checks = {
        row: [
            filter_matches(data[row][column], operator, text, number) for column, operator, text, number in conditions
        ]
        for row in range(1, cells.height)
    }
    wrong = [row for row, passed in checks.items() if None not in passed and (row in shown) != all(passed)]
    said = "%s of %s are shown." % (plural(len(shown), "row"), format(cells.height - 1, ","))
    if wrong:
        said += " Row %d is %s against the conditions." % (
            cells.first_row + wrong[0] + 1,
            "shown" if wrong[0] in shown else "hidden",
        )
    return result(said, None, not wrong, "%s of %s visible" % (plural(len(shown), "row"), cells.name))


def check_sheet_name(target, name, needed="name"):
    if not name:
        raise invalid("this action needs %s" % needed)
    if len(name) > 31 or re.search(r"[\[\]*?:/\\]", name) or name.startswith("'") or name.endswith("'"):
        raise invalid("%r is no good sheet name; use up to 31 characters without [ ] * ? : / \\" % shorten(name))
    if name.casefold() in (present.casefold() for present in target.document.Sheets.ElementNames):
        raise invalid("there is a sheet %r; choose another name" % name)
    return name


@tool(
    "sheets",
    ("calc",),
    True,
    action=["list", "add", "rename", "remove", "copy", "move", "activate"],
    name=("sheet", None),
    new_name=("text", None),
    position=("integer", None),
)
def sheets_tool(target, given):
    sheets = target.document.Sheets
    names = list(sheets.ElementNames)
    if given.action == "list":
        return result(plural(len(names), "sheet") + ".", calc_info(target)["sheets"])
    if given.position is not None and not 1 <= given.position <= len(names) + 1:
        raise invalid("position %d is out of range; there are %d sheets" % (given.position, len(names)))
    if given.action == "add":
        name = check_sheet_name(target, str(given.name or given.new_name or ""))
        expected = names[:]
        expected.insert((given.position or len(names) + 1) - 1, name)
        with undo_step(target.document, "Add sheet"):
            sheets.insertNewByName(name, expected.index(name))
        return sheets_result(target, "Added sheet %s." % name, expected)
    sheet = find_sheet(target, given.name)
    if given.name is None and given.action in ("remove", "activate"):
        raise invalid("%s needs name" % given.action)
    old, expected = sheet.Name, names[:]
    place = names.index(old)
    if given.action == "activate":
        target.controller.setActiveSheet(sheet)
        active = target.controller.ActiveSheet.Name
        return result("Sheet %s is shown." % old, None, active == old, "the active sheet is %s" % active)
    if target.document.isProtected():
        raise Refusal("read_only", "the structure of the document is protected; unprotect it first")
    if given.action == "rename":
        expected[place] = check_sheet_name(target, given.new_name or "", "new_name")
        with undo_step(target.document, "Rename sheet"):
            sheet.setName(expected[place])
        return sheets_result(target, "Renamed sheet %s to %s." % (old, expected[place]), expected)
    if given.action == "remove":
        if len(names) == 1:
            raise invalid("%s is the only sheet; a document keeps at least one" % old)
        expected.remove(old)
        with undo_step(target.document, "Remove sheet"):
            sheets.removeByName(old)
        return sheets_result(target, "Removed sheet %s." % old, expected)
    if given.action == "copy":
        name = check_sheet_name(target, given.new_name or "", "new_name")
        position = (given.position or place + 2) - 1
        expected.insert(position, name)
        with undo_step(target.document, "Copy sheet"):
            sheets.copyByName(old, name, position)
        return sheets_result(target, "Copied sheet %s as %s." % (old, name), expected)
    if given.position is None:
        raise invalid("move needs position")
    expected.remove(old)
    expected.insert(given.position - 1, old)
    with undo_step(target.document, "Move sheet"):
        # The program counts the place before the sheet is taken out.
        sheets.moveByName(old, given.position - 1 if given.position - 1 <= place else given.position)
    return sheets_result(target, "Moved sheet %s." % old, expected)


def sheets_result(target, said, expected):
    found = list(target.document.Sheets.ElementNames)
    return result(said, None, found == expected, "the sheets are %s" % shorten(", ".join(found), 300))

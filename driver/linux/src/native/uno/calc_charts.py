"""Spreadsheets: charts and pivot tables."""

CHART_KINDS = {
    "column": "BarDiagram",
    "bar": "BarDiagram",
    "line": "LineDiagram",
    "pie": "PieDiagram",
    "area": "AreaDiagram",
    "scatter": "XYDiagram",
}
PIVOT_FUNCTIONS = {
    "sum": "SUM",
    "count": "COUNT",
    "average": "AVERAGE",
    "mean": "AVERAGE",
    "max": "MAX",
    "min": "MIN",
    "product": "PRODUCT",
    "countnums": "COUNTNUMS",
    "stdev": "STDEV",
    "var": "VAR",
}


def free_name(present, stem):
    number = 1
    while "%s %d" % (stem, number) in present:
        number += 1
    return "%s %d" % (stem, number)


@tool(
    "create_chart",
    ("calc",),
    True,
    range="text",
    kind=(list(CHART_KINDS), "column"),
    title=("text", None),
    x_title=("text", None),
    y_title=("text", None),
    at=("text", None),
    width_mm=("number", 120),
    height_mm=("number", 80),
    sheet_name=("sheet", None),
)
def create_chart(target, given):
    cells = parse_range(target, given.range, given.sheet_name)
    place = (
        parse_range(target, given.at, cells.sheet.Name)
        if given.at
        else Cells(cells.sheet, cells.last_column + 2, cells.first_row, cells.last_column + 2, cells.first_row)
    )
    check_cells(cells, MOST_CELLS_READ, "drawn")
    check_unprotected(place)
    if not (10 <= given.width_mm <= 2000 and 10 <= given.height_mm <= 2000):
        raise invalid("width_mm and height_mm can be 10 to 2000")
    if (given.x_title or given.y_title) and given.kind == "pie":
        raise invalid("a pie chart has no axes; leave x_title and y_title out")
    data = cells.object.getDataArray()
    if not any(is_number(value) for row in data for value in row):
        raise invalid("%s holds no numbers to draw; give the range of the data" % cells.full_name)
    column_headers = any(isinstance(value, str) and value for value in data[0])
    row_headers = given.kind == "scatter" or any(isinstance(row[0], str) and row[0] for row in data[1:])
    if not row_headers and cells.width > 1 and column_headers and data[0][0] == "":
        row_headers = True
    charts = place.sheet.Charts
    name = free_name(charts.ElementNames, "Chart")
    corner = place.object.Position
    area = struct(
        "com.sun.star.awt.Rectangle",
        X=corner.X,
        Y=corner.Y,
        Width=round(given.width_mm * 100),
        Height=round(given.height_mm * 100),
    )
    with undo_step(target.document, "Create chart"):
        charts.addNewByName(
            name, area, (cells.object.RangeAddress,), column_headers, row_headers and given.kind != "scatter"
        )
        fill_chart(charts.getByName(name).EmbeddedObject, given)
    return chart_result(place, name, cells, given)


def fill_chart(chart, given):
    chart.setDiagram(chart.createInstance("com.sun.star.chart." + CHART_KINDS[given.kind]))
    diagram = chart.getDiagram()
    if given.kind in ("column", "bar"):
        diagram.Vertical = given.kind == "bar"
    if given.title:
        chart.HasMainTitle = True
        chart.Title.String = given.title
    for axis, text in (("X", given.x_title), ("Y", given.y_title)):
        if text:
            setattr(diagram, "Has%sAxisTitle" % axis, True)
            getattr(diagram, "%sAxisTitle" % axis).String = text


def chart_result(place, name, cells, given):
    charts, wrong = place.sheet.Charts, []
    if not charts.hasByName(name):
        return result("The chart is not there.", None, False, "the sheet has no chart %s" % name)
    table_chart = charts.getByName(name)
    chart = table_chart.EmbeddedObject
    ranges = [cells_of(cells.sheet, address).name for address in table_chart.Ranges]
    if chart.getDiagram().getDiagramType() != "com.sun.star.chart." + CHART_KINDS[given.kind]:
        wrong.append("its kind is " + chart.getDiagram().getDiagramType())
    if ranges != [cells.name]:
        wrong.append("its data are " + ", ".join(ranges))
    if given.title and chart.Title.String != given.title:
        wrong.append("its title is " + chart.Title.String)
    series = count_series(chart)
    if series == 0:
        wrong.append("it has no series")
    proof = "; ".join(wrong) or "chart %s on %s draws %s of %s as %s" % (
        name,
        place.sheet.Name,
        plural(series, "series", "series"),
        cells.name,
        given.kind,
    )
    return result(
        "Created chart %s of %s at %s." % (name, cells.full_name, place.full_name), {"name": name}, not wrong, proof
    )


def count_series(chart):
    count = 0
    for system in chart.getFirstDiagram().getCoordinateSystems():
        for chart_type in system.getChartTypes():
            count += len(chart_type.getDataSeries())
    return count


def pivot_place(target, at, cells):
    """Where the pivot table goes: a cell, or the name of a sheet to add."""
    text = at or free_name(target.document.Sheets.ElementNames, "Pivot")
    name, rest = split_sheet(text)
    if CELL_PATTERN.fullmatch(rest) and (
        name or not re.fullmatch("[A-Za-z]+ ?[0-9]*", text) or at != text or len(rest) <= 5
    ):
        place = parse_range(target, text, cells.sheet.Name)
        check_unprotected(place)
        return place, None
    return None, check_sheet_name(target, text, "at")


@tool(
    "pivot",
    ("calc",),
    True,
    source="text",
    rows=("list", []),
    columns=("list", []),
    values="list",
    filters=("list", []),
    at=("text", None),
    sheet_name=("sheet", None),
)
def pivot(target, given):
    cells = parse_range(target, given.source, given.sheet_name)
    check_cells(cells, MOST_CELLS_READ, "summarized")
    names = header_names(cells)
    if "" in names or cells.height < 2:
        raise invalid("%s needs a header in each column and at least one row of data" % cells.full_name)
    used, layout = set(), []
    for orientation, fields in (("ROW", given.rows), ("COLUMN", given.columns), ("PAGE", given.filters)):
        layout.extend((orientation, names[column_of(cells, field)], None) for field in fields)
    for value in given.values:
        value = value if isinstance(value, dict) else {"field": value}
        function = str(value.get("function", "sum")).lower()
        if "field" not in value or function not in PIVOT_FUNCTIONS:
            raise invalid(
                'values is not a list like [{"field": "Amount", "function": "sum"}]; function can be %s'
                % ", ".join(PIVOT_FUNCTIONS)
            )
        layout.append(("DATA", names[column_of(cells, value["field"])], PIVOT_FUNCTIONS[function]))
    for _, name, _ in layout:
        if name in used:
            raise invalid("field %s is used twice; a field can be used once" % name)
        used.add(name)
    if not given.values or not (given.rows or given.columns):
        raise invalid("pivot needs values, and rows or columns")
    place, new_sheet = pivot_place(target, given.at, cells)
    if (
        place is not None
        and place.sheet.Name == cells.sheet.Name
        and (
            cells.first_row <= place.first_row <= cells.last_row
            and cells.first_column <= place.first_column <= cells.last_column
        )
    ):
        raise invalid("%s lies inside the source; choose another cell or a new sheet" % place.name)
    sheets = target.document.Sheets
    with undo_step(target.document, "Create pivot table"):
        if new_sheet is not None:
            sheets.insertNewByName(new_sheet, sheets.Count)
            place = Cells(sheets.getByName(new_sheet), 0, 0, 0, 0)
        tables = place.sheet.getDataPilotTables()
        # Names of pivot tables are unique in the whole document.
        present = [
            taken
            for sheet_name in sheets.ElementNames
            for taken in sheets.getByName(sheet_name).DataPilotTables.ElementNames
        ]
        name = free_name(present, "Pivot")
        descriptor = tables.createDataPilotDescriptor()
        descriptor.setSourceRange(cells.object.RangeAddress)
        fields = descriptor.getDataPilotFields()
        for orientation, field_name, function in layout:
            field = fields.getByName(field_name)
            field.Orientation = uno.Enum("com.sun.star.sheet.DataPilotFieldOrientation", orientation)
            if function:
                field.Function = uno.Enum("com.sun.star.sheet.GeneralFunction", function)
        tables.insertNewByName(name, place.object.getCellByPosition(0, 0).CellAddress, descriptor)
    found = place.sheet.getDataPilotTables()
    if not found.hasByName(name):
        return result("The pivot table is not there.", None, False, "no pivot table at %s" % place.full_name)
    output = cells_of(place.sheet, found.getByName(name).OutputRange)
    lines = markdown_lines(output, *displayed_texts(target, output))
    text = bounded(lines, MOST_OUTPUT_CHARACTERS // 4, "read %s" % output.name)
    seen = output.count > 1 and bool(output.object.getDataArray()[-1][-1] != "")
    return result(
        "The pivot table is in %s." % output.full_name,
        text,
        seen,
        "pivot table %s fills %s" % (name, output.full_name),
    )

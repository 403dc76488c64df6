//! Tools for sheets.

use deskhand_machine::intent::Does;

use super::{CALC, DeclaredArgument, DocumentTool};

const SHEET: DeclaredArgument = DeclaredArgument::any("sheet_name");
const RANGE: DeclaredArgument = DeclaredArgument::text("range");

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "table2markdown",
        "Returns a sheet, or a range of it, as it is displayed.",
        &[SHEET, RANGE],
    )
    .only_in(&[CALC]),
    DocumentTool::reads(
        "get_range_values",
        "Returns cells, by `range` or by rows and columns from 1.",
        &[
            SHEET,
            RANGE,
            DeclaredArgument::integer("start_row"),
            DeclaredArgument::integer("start_col"),
            DeclaredArgument::integer("end_row"),
            DeclaredArgument::integer("end_col"),
            DeclaredArgument::words("what", &["values", "formulas", "texts", "formats"]),
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "set_range_values",
        "Writes rows of any size at once, and reads them back.",
        &[
            DeclaredArgument::rows("rows")
                .required()
                .about("Texts, numbers, =FORMULAS with English names, ISO dates; null leaves a cell, \"\" clears it."),
            DeclaredArgument::text("start").about("The first cell; by default A1."),
            SHEET,
            DeclaredArgument::any("formats").about("One number format, or one by column: 0.00, 0%, YYYY-MM-DD."),
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "format_range",
        "Formats cells.",
        &[
            RANGE.required(),
            SHEET,
            DeclaredArgument::boolean("bold"),
            DeclaredArgument::boolean("italic"),
            DeclaredArgument::boolean("underline"),
            DeclaredArgument::text("font_name"),
            DeclaredArgument::number("font_size"),
            DeclaredArgument::text("color").about("#rrggbb."),
            DeclaredArgument::text("background"),
            DeclaredArgument::text("number_format"),
            DeclaredArgument::words("align", &["left", "center", "right", "justify", "standard"]),
            DeclaredArgument::boolean("wrap"),
            DeclaredArgument::number("column_width_mm"),
            DeclaredArgument::words("border", &["none", "thin", "medium", "thick"]),
            DeclaredArgument::boolean("merge"),
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "sort",
        "Sorts rows.",
        &[
            DeclaredArgument::list("by").required().about("[{\"column\": header or letter, \"descending\": true}, …]."),
            RANGE,
            DeclaredArgument::boolean("has_header"),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "filter",
        "Hides the rows that do not fit.",
        &[
            DeclaredArgument::list("where").about(
                "[{\"column\", \"op\": = != < <= > >= contains begins ends empty not_empty, \"value\"}, …].",
            ),
            RANGE,
            DeclaredArgument::boolean("clear"),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "create_chart",
        "Makes a chart of a range with headers.",
        &[
            RANGE.required(),
            DeclaredArgument::words("kind", &["column", "bar", "line", "pie", "area", "scatter"]),
            DeclaredArgument::text("title"),
            DeclaredArgument::text("x_title"),
            DeclaredArgument::text("y_title"),
            DeclaredArgument::text("at").about("Its cell."),
            DeclaredArgument::number("width_mm"),
            DeclaredArgument::number("height_mm"),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "pivot",
        "Makes a pivot table.",
        &[
            DeclaredArgument::text("source").required(),
            DeclaredArgument::list("rows"),
            DeclaredArgument::list("columns"),
            DeclaredArgument::list("values").required().about("[{\"field\", \"function\": sum count average …}, …]."),
            DeclaredArgument::list("filters"),
            DeclaredArgument::text("at").about("A cell or a new sheet."),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "sheets",
        "Lists, adds, renames, removes, copies, moves or shows sheets.",
        &[
            DeclaredArgument::words("action", &["list", "add", "rename", "remove", "copy", "move", "activate"])
                .required(),
            DeclaredArgument::any("name"),
            DeclaredArgument::text("new_name"),
            DeclaredArgument::integer("position"),
        ],
    )
    .only_in(&[CALC])
    .named(),
    DocumentTool::edits(
        "reorder_columns",
        "Puts columns in an order of headers.",
        &[DeclaredArgument::list("desired_order").required(), SHEET],
    )
    .only_in(&[CALC])
    .named(),
    DocumentTool::edits(
        "select_range",
        "Selects cells.",
        &[
            RANGE,
            SHEET,
            DeclaredArgument::integer("start_row"),
            DeclaredArgument::integer("start_col"),
            DeclaredArgument::integer("end_row"),
            DeclaredArgument::integer("end_col"),
        ],
    )
    .does(Does::Point)
    .only_in(&[CALC])
    .named(),
    DocumentTool::edits(
        "select_table_range",
        "Selects cells.",
        &[
            SHEET,
            DeclaredArgument::integer("start_row").required(),
            DeclaredArgument::integer("start_col").required(),
            DeclaredArgument::integer("end_row"),
            DeclaredArgument::integer("end_col"),
        ],
    )
    .does(Does::Point)
    .only_in(&[CALC])
    .unlisted("select_range"),
    DocumentTool::edits(
        "insert_excel_table",
        "Writes rows.",
        &[
            DeclaredArgument::rows("table").required(),
            SHEET,
            DeclaredArgument::integer("start_row"),
            DeclaredArgument::integer("start_col"),
        ],
    )
    .only_in(&[CALC])
    .unlisted("insert_table"),
];

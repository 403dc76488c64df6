//! Tools for sheets.

use deskhand_core::intent::Does;

use super::{Argument, CALC, DocumentTool};

const SHEET: Argument = Argument::any("sheet_name");
const RANGE: Argument = Argument::text("range");

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
            Argument::integer("start_row"),
            Argument::integer("start_col"),
            Argument::integer("end_row"),
            Argument::integer("end_col"),
            Argument::words("what", &["values", "formulas", "texts", "formats"]),
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "set_range_values",
        "Writes rows of any size at once, and reads them back.",
        &[
            Argument::rows("rows")
                .required()
                .about("Texts, numbers, =FORMULAS with English names, ISO dates; null leaves a cell, \"\" clears it."),
            Argument::text("start").about("The first cell; by default A1."),
            SHEET,
            Argument::any("formats").about("One number format, or one by column: 0.00, 0%, YYYY-MM-DD."),
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "format_range",
        "Formats cells.",
        &[
            RANGE.required(),
            SHEET,
            Argument::boolean("bold"),
            Argument::boolean("italic"),
            Argument::boolean("underline"),
            Argument::text("font_name"),
            Argument::number("font_size"),
            Argument::text("color").about("#rrggbb."),
            Argument::text("background"),
            Argument::text("number_format"),
            Argument::words("align", &["left", "center", "right", "justify", "standard"]),
            Argument::boolean("wrap"),
            Argument::number("column_width_mm"),
            Argument::words("border", &["none", "thin", "medium", "thick"]),
            Argument::boolean("merge"),
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "sort",
        "Sorts rows.",
        &[
            Argument::list("by").required().about("[{\"column\": header or letter, \"descending\": true}, …]."),
            RANGE,
            Argument::boolean("has_header"),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "filter",
        "Hides the rows that do not fit.",
        &[
            Argument::list("where").about(
                "[{\"column\", \"op\": = != < <= > >= contains begins ends empty not_empty, \"value\"}, …].",
            ),
            RANGE,
            Argument::boolean("clear"),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "create_chart",
        "Makes a chart of a range with headers.",
        &[
            RANGE.required(),
            Argument::words("kind", &["column", "bar", "line", "pie", "area", "scatter"]),
            Argument::text("title"),
            Argument::text("x_title"),
            Argument::text("y_title"),
            Argument::text("at").about("Its cell."),
            Argument::number("width_mm"),
            Argument::number("height_mm"),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "pivot",
        "Makes a pivot table.",
        &[
            Argument::text("source").required(),
            Argument::list("rows"),
            Argument::list("columns"),
            Argument::list("values").required().about("[{\"field\", \"function\": sum count average …}, …]."),
            Argument::list("filters"),
            Argument::text("at").about("A cell or a new sheet."),
            SHEET,
        ],
    )
    .only_in(&[CALC]),
    DocumentTool::edits(
        "sheets",
        "Lists, adds, renames, removes, copies, moves or shows sheets.",
        &[
            Argument::words("action", &["list", "add", "rename", "remove", "copy", "move", "activate"])
                .required(),
            Argument::any("name"),
            Argument::text("new_name"),
            Argument::integer("position"),
        ],
    )
    .only_in(&[CALC])
    .named(),
    DocumentTool::edits(
        "reorder_columns",
        "Puts columns in an order of headers.",
        &[Argument::list("desired_order").required(), SHEET],
    )
    .only_in(&[CALC])
    .named(),
    DocumentTool::edits(
        "select_range",
        "Selects cells.",
        &[
            RANGE,
            SHEET,
            Argument::integer("start_row"),
            Argument::integer("start_col"),
            Argument::integer("end_row"),
            Argument::integer("end_col"),
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
            Argument::integer("start_row").required(),
            Argument::integer("start_col").required(),
            Argument::integer("end_row"),
            Argument::integer("end_col"),
        ],
    )
    .does(Does::Point)
    .only_in(&[CALC])
    .unlisted("select_range"),
    DocumentTool::edits(
        "insert_excel_table",
        "Writes rows.",
        &[
            Argument::rows("table").required(),
            SHEET,
            Argument::integer("start_row"),
            Argument::integer("start_col"),
        ],
    )
    .only_in(&[CALC])
    .unlisted("insert_table"),
];

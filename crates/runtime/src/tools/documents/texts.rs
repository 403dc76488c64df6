//! Tools for texts.

use deskhand_core::intent::Does;

use super::{Argument, DocumentTool, WRITER};

const PARAGRAPH: Argument = Argument::integer("paragraph");

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "read_document",
        "Returns the text as markdown, with the numbers of its paragraphs.",
        &[
            Argument::integer("start_paragraph"),
            Argument::integer("end_paragraph"),
            Argument::integer("max_characters"),
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "insert_text",
        "Inserts text.",
        &[
            Argument::text("text").required(),
            Argument::words("at", &["end", "start", "cursor", "after_paragraph", "replace_selection"]),
            PARAGRAPH,
            Argument::text("style").about("A paragraph style: Heading 1."),
            Argument::boolean("markdown"),
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "insert_table",
        "Inserts a table.",
        &[
            Argument::integer("rows"),
            Argument::integer("columns"),
            Argument::rows("data"),
            Argument::words("at", &["end", "start", "cursor", "after_paragraph"]),
            PARAGRAPH,
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "set_style",
        "Gives paragraphs, or the selection, a style.",
        &[
            Argument::text("style").required(),
            Argument::integer("start_paragraph"),
            Argument::integer("end_paragraph"),
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "set_font",
        "Formats the selection.",
        &[
            Argument::text("font_name"),
            Argument::number("font_size"),
            Argument::boolean("bold"),
            Argument::boolean("italic"),
            Argument::boolean("underline"),
            Argument::text("color"),
        ],
    )
    .only_in(&[WRITER])
    .named(),
    DocumentTool::edits("select_table", "Selects a table.", &[Argument::integer("number").required()])
        .does(Does::Point)
        .only_in(&[WRITER])
        .named(),
    DocumentTool::edits(
        "select_paragraph",
        "Selects paragraphs.",
        &[
            Argument::integer("start_index").required(),
            Argument::integer("end_index"),
            Argument::boolean("non_empty"),
        ],
    )
    .does(Does::Point)
    .only_in(&[WRITER])
    .named(),
];

//! Tools for texts.

use deskhand_machine::intent::Does;

use super::{DeclaredArgument, DocumentTool, WRITER};

const PARAGRAPH: DeclaredArgument = DeclaredArgument::integer("paragraph");

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "read_document",
        "Returns the text as markdown, with the numbers of its paragraphs.",
        &[
            DeclaredArgument::integer("start_paragraph"),
            DeclaredArgument::integer("end_paragraph"),
            DeclaredArgument::integer("max_characters"),
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "insert_text",
        "Inserts text.",
        &[
            DeclaredArgument::text("text").required(),
            DeclaredArgument::words(
                "at",
                &["end", "start", "cursor", "after_paragraph", "replace_selection"],
            ),
            PARAGRAPH,
            DeclaredArgument::text("style").about("A paragraph style: Heading 1."),
            DeclaredArgument::boolean("markdown"),
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "insert_table",
        "Inserts a table.",
        &[
            DeclaredArgument::integer("rows"),
            DeclaredArgument::integer("columns"),
            DeclaredArgument::rows("data"),
            DeclaredArgument::words("at", &["end", "start", "cursor", "after_paragraph"]),
            PARAGRAPH,
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "set_style",
        "Gives paragraphs, or the selection, a style.",
        &[
            DeclaredArgument::text("style").required(),
            DeclaredArgument::integer("start_paragraph"),
            DeclaredArgument::integer("end_paragraph"),
        ],
    )
    .only_in(&[WRITER]),
    DocumentTool::edits(
        "set_font",
        "Formats the selection.",
        &[
            DeclaredArgument::text("font_name"),
            DeclaredArgument::number("font_size"),
            DeclaredArgument::boolean("bold"),
            DeclaredArgument::boolean("italic"),
            DeclaredArgument::boolean("underline"),
            DeclaredArgument::text("color"),
        ],
    )
    .only_in(&[WRITER])
    .named(),
    DocumentTool::edits(
        "select_table",
        "Selects a table.",
        &[DeclaredArgument::integer("number").required()],
    )
    .does(Does::Point)
    .only_in(&[WRITER])
    .named(),
    DocumentTool::edits(
        "select_paragraph",
        "Selects paragraphs.",
        &[
            DeclaredArgument::integer("start_index").required(),
            DeclaredArgument::integer("end_index"),
            DeclaredArgument::boolean("non_empty"),
        ],
    )
    .does(Does::Point)
    .only_in(&[WRITER])
    .named(),
];

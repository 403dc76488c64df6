//! Tools for documents of any kind.

use deskhand_core::intent::{Does, Takes};

use super::{Argument, DocumentTool};

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "document_info",
        "Returns path, unsaved changes, and sheets with used ranges, or paragraphs and tables, or slides.",
        &[],
    ),
    DocumentTool::edits(
        "find_replace",
        "Replaces a text everywhere; without `replace` returns where it is.",
        &[
            Argument::text("find").required(),
            Argument::text("replace"),
            Argument::boolean("match_case"),
            Argument::boolean("whole_words"),
            Argument::boolean("regex"),
            Argument::boolean("all_sheets"),
        ],
    ),
    DocumentTool::edits(
        "export",
        "Writes a copy: pdf, csv, docx, xlsx, odt, ods, html, txt, png.",
        &[
            Argument::file("path").required(),
            Argument::text("format").about("By default the ending of the path."),
            Argument::boolean("overwrite").takes(Takes::Replaces),
        ],
    )
    .does(Does::Save),
    DocumentTool::edits(
        "insert_image",
        "Inserts a picture from a file.",
        &[
            Argument::file("path").required(),
            Argument::integer("slide_index"),
            Argument::number("x_mm"),
            Argument::number("y_mm"),
            Argument::number("width_mm"),
            Argument::text("at").about("A cell, or the place of a text."),
            Argument::integer("paragraph"),
        ],
    )
    .named(),
    DocumentTool::edits("undo", "Undoes the last steps.", &[Argument::integer("steps")]).named(),
    DocumentTool::edits("redo", "Does again what was undone.", &[Argument::integer("steps")])
        .unlisted("redo"),
];

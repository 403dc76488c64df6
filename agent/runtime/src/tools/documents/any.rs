//! Tools for documents of any kind.

use deskhand_machine::intent::{Does, Takes};

use super::{DeclaredArgument, DocumentTool};

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
            DeclaredArgument::text("find").required(),
            DeclaredArgument::text("replace"),
            DeclaredArgument::boolean("match_case"),
            DeclaredArgument::boolean("whole_words"),
            DeclaredArgument::boolean("regex"),
            DeclaredArgument::boolean("all_sheets"),
        ],
    ),
    DocumentTool::edits(
        "export",
        "Writes a copy: pdf, csv, docx, xlsx, odt, ods, html, txt, png.",
        &[
            DeclaredArgument::file("path").required(),
            DeclaredArgument::text("format").about("By default the ending of the path."),
            DeclaredArgument::boolean("overwrite").takes(Takes::Replaces),
        ],
    )
    .does(Does::Save),
    DocumentTool::edits(
        "insert_image",
        "Inserts a picture from a file.",
        &[
            DeclaredArgument::file("path").required(),
            DeclaredArgument::integer("slide_index"),
            DeclaredArgument::number("x_mm"),
            DeclaredArgument::number("y_mm"),
            DeclaredArgument::number("width_mm"),
            DeclaredArgument::text("at").about("A cell, or the place of a text."),
            DeclaredArgument::integer("paragraph"),
        ],
    )
    .named(),
    DocumentTool::edits("undo", "Undoes the last steps.", &[DeclaredArgument::integer("steps")]).named(),
    DocumentTool::edits("redo", "Does again what was undone.", &[DeclaredArgument::integer("steps")])
        .unlisted("redo"),
];

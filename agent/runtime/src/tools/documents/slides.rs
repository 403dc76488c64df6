//! Tools for slides.

use super::{DeclaredArgument, DocumentTool, IMPRESS};

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "read_slides",
        "Returns the texts, notes and pictures of the slides.",
        &[DeclaredArgument::integer("slide_index")],
    )
    .only_in(&[IMPRESS]),
    DocumentTool::edits(
        "edit_slides",
        "Adds, removes, duplicates, moves or shows slides.",
        &[
            DeclaredArgument::words("action", &["add", "remove", "duplicate", "move", "activate"]).required(),
            DeclaredArgument::integer("slide_index"),
            DeclaredArgument::integer("position"),
            DeclaredArgument::any("layout"),
        ],
    )
    .only_in(&[IMPRESS]),
    DocumentTool::edits(
        "set_slide_text",
        "Writes a text of a slide.",
        &[
            DeclaredArgument::integer("slide_index").required(),
            DeclaredArgument::any("shape")
                .required()
                .about("title, body, notes, or the name or number of a shape."),
            DeclaredArgument::text("text").required(),
        ],
    )
    .only_in(&[IMPRESS]),
    DocumentTool::edits(
        "set_background_color",
        "Colours the background of slides.",
        &[DeclaredArgument::text("color").required(), DeclaredArgument::any("slide_index")],
    )
    .only_in(&[IMPRESS])
    .named(),
];

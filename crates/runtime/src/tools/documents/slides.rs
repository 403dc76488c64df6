//! Tools for slides.

use super::{Argument, DocumentTool, IMPRESS};

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "read_slides",
        "Returns the texts, notes and pictures of the slides.",
        &[Argument::integer("slide_index")],
    )
    .only_in(&[IMPRESS]),
    DocumentTool::edits(
        "edit_slides",
        "Adds, removes, duplicates, moves or shows slides.",
        &[
            Argument::words("action", &["add", "remove", "duplicate", "move", "activate"]).required(),
            Argument::integer("slide_index"),
            Argument::integer("position"),
            Argument::any("layout"),
        ],
    )
    .only_in(&[IMPRESS]),
    DocumentTool::edits(
        "set_slide_text",
        "Writes a text of a slide.",
        &[
            Argument::integer("slide_index").required(),
            Argument::any("shape").required().about("title, body, notes, or the name or number of a shape."),
            Argument::text("text").required(),
        ],
    )
    .only_in(&[IMPRESS]),
    DocumentTool::edits(
        "set_background_color",
        "Colours the background of slides.",
        &[Argument::text("color").required(), Argument::any("slide_index")],
    )
    .only_in(&[IMPRESS])
    .named(),
];

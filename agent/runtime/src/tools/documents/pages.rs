//! Tools for web pages: what the accessibility tree of a browser leaves out.

use deskhand_desktop::BROWSERS;
use deskhand_machine::intent::{Does, Takes};

use super::{DeclaredArgument, DocumentTool};

pub(super) const TOOLS: &[DocumentTool] = &[
    DocumentTool::reads(
        "read_page",
        "Returns address, title and text of the page as markdown, frames included.",
        &[
            DeclaredArgument::integer("start"),
            DeclaredArgument::integer("max_characters"),
            DeclaredArgument::integer("frame"),
        ],
    )
    .only_in(BROWSERS),
    DocumentTool::reads(
        "page_forms",
        "Returns the form fields: labels, values, options, files, what is invalid.",
        &[],
    )
    .only_in(BROWSERS),
    DocumentTool::reads(
        "page_dialog",
        "Returns the open dialog of the page's script, and the last ones.",
        &[],
    )
    .only_in(BROWSERS)
    .named(),
    DocumentTool::edits(
        "answer_dialog",
        "Answers the dialog of the page's script.",
        &[
            DeclaredArgument::text("message").required().takes(Takes::Question).about("What it says, whole."),
            DeclaredArgument::boolean("accept").required().takes(Takes::Accepts),
            DeclaredArgument::text("text").takes(Takes::Text),
        ],
    )
    .does(Does::Press)
    .only_in(BROWSERS),
    DocumentTool::edits(
        "open_url",
        "Opens an address in this tab or a new one, and waits until it is loaded.",
        &[
            DeclaredArgument::text("url").required().takes(Takes::Address),
            DeclaredArgument::boolean("new_tab"),
        ],
    )
    .does(Does::Open)
    .only_in(BROWSERS),
    DocumentTool::reads("browser_tabs", "Returns titles and addresses of all tabs.", &[])
        .only_in(BROWSERS)
        .named()
        .operation("tabs"),
    DocumentTool::reads("downloads", "Returns the downloads: path, address, state, size.", &[])
        .only_in(BROWSERS)
        .named(),
    DocumentTool::reads(
        "page_info",
        "Returns address, title, selection, scroll position and the focused field.",
        &[],
    )
    .only_in(BROWSERS)
    .named(),
];

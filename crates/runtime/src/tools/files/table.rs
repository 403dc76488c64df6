//! The tools for files, as data.

use deskhand_core::{
    command::Listing,
    intent::{Does, Takes},
};

use super::Work;
use crate::tools::declared::{Argument, Declared};

const PATH: Argument = Argument::file("path").required();
const GLOB: Argument = Argument::text("glob").about("Such as *.pdf.");

const fn tool(
    name: &'static str,
    about: &'static str,
    does: Does,
    arguments: &'static [Argument],
) -> Declared {
    Declared { name, about, does, listing: Listing::Name, only_in: &[], arguments }
}

pub(super) const TOOLS: &[(Declared, Work)] = &[
    (
        tool(
            "read_file",
            "Returns the text or the tables of a file: text, csv, json, html, pdf, xlsx, ods, docx, odt, pptx, odp.",
            Does::Read,
            &[
                PATH,
                Argument::text("lines").about("Such as 1-200."),
                Argument::text("pages").about("Such as 2-3."),
                Argument::text("sheet"),
                Argument::text("range").about("Such as B2:D9."),
                Argument::text("json_pointer"),
            ],
        ),
        Work::Read,
    ),
    (
        tool(
            "list_folder",
            "Lists files and folders.",
            Does::Read,
            &[PATH, GLOB, Argument::integer("depth"), Argument::boolean("hidden")],
        ),
        Work::List,
    ),
    (
        tool(
            "search_files",
            "Searches the files of a folder for a text.",
            Does::Read,
            &[
                PATH,
                Argument::text("text").required(),
                Argument::boolean("regex"),
                GLOB,
                Argument::boolean("documents").about("Whether to search PDF and office files, too."),
            ],
        ),
        Work::Search,
    ),
    (tool("list_archive", "Lists a zip or tar file.", Does::Read, &[PATH]), Work::ListArchive),
    (
        tool(
            "unpack_archive",
            "Unpacks a zip or tar file into a new folder.",
            Does::Save,
            &[PATH, Argument::file("into").required(), GLOB],
        ),
        Work::Unpack,
    ),
    (
        tool(
            "write_file",
            "Writes a text file.",
            Does::Save,
            &[
                PATH,
                Argument::text("text").required(),
                Argument::boolean("overwrite").takes(Takes::Replaces),
                Argument::boolean("append").takes(Takes::Replaces),
            ],
        ),
        Work::Write,
    ),
    (
        tool(
            "move_file",
            "Moves or renames a file or folder.",
            Does::Save,
            &[PATH, Argument::file("to").required(), Argument::boolean("overwrite").takes(Takes::Replaces)],
        ),
        Work::Move,
    ),
];

//! The tools for files, as data.

use deskhand_machine::{
    command::ToolListingLevel,
    intent::{Does, Takes},
};

use super::FileToolOperation;
use crate::tools::declared::{DeclaredArgument, DeclaredTool};

const PATH: DeclaredArgument = DeclaredArgument::file("path").required();
const GLOB: DeclaredArgument = DeclaredArgument::text("glob").about("Such as *.pdf.");

const fn tool(
    name: &'static str,
    about: &'static str,
    does: Does,
    arguments: &'static [DeclaredArgument],
) -> DeclaredTool {
    DeclaredTool { name, about, does, listing: ToolListingLevel::Name, only_in: &[], arguments }
}

pub(super) const TOOLS: &[(DeclaredTool, FileToolOperation)] = &[
    (
        tool(
            "read_file",
            "Returns the text or the tables of a file: text, csv, json, html, pdf, xlsx, ods, docx, odt, pptx, odp.",
            Does::Read,
            &[
                PATH,
                DeclaredArgument::text("lines").about("Such as 1-200."),
                DeclaredArgument::text("pages").about("Such as 2-3."),
                DeclaredArgument::text("sheet"),
                DeclaredArgument::text("range").about("Such as B2:D9."),
                DeclaredArgument::text("json_pointer"),
            ],
        ),
        FileToolOperation::Read,
    ),
    (
        tool(
            "list_folder",
            "Lists files and folders.",
            Does::Read,
            &[PATH, GLOB, DeclaredArgument::integer("depth"), DeclaredArgument::boolean("hidden")],
        ),
        FileToolOperation::List,
    ),
    (
        tool(
            "search_files",
            "Searches the files of a folder for a text.",
            Does::Read,
            &[
                PATH,
                DeclaredArgument::text("text").required(),
                DeclaredArgument::boolean("regex"),
                GLOB,
                DeclaredArgument::boolean("documents").about("Whether to search PDF and office files, too."),
            ],
        ),
        FileToolOperation::Search,
    ),
    (tool("list_archive", "Lists a zip or tar file.", Does::Read, &[PATH]), FileToolOperation::ListArchive),
    (
        tool(
            "unpack_archive",
            "Unpacks a zip or tar file into a new folder.",
            Does::Save,
            &[PATH, DeclaredArgument::file("into").required(), GLOB],
        ),
        FileToolOperation::Unpack,
    ),
    (
        tool(
            "write_file",
            "Writes a text file.",
            Does::Save,
            &[
                PATH,
                DeclaredArgument::text("text").required(),
                DeclaredArgument::boolean("overwrite").takes(Takes::Replaces),
                DeclaredArgument::boolean("append").takes(Takes::Replaces),
            ],
        ),
        FileToolOperation::Write,
    ),
    (
        tool(
            "move_file",
            "Moves or renames a file or folder.",
            Does::Save,
            &[
                PATH,
                DeclaredArgument::file("to").required(),
                DeclaredArgument::boolean("overwrite").takes(Takes::Replaces),
            ],
        ),
        FileToolOperation::Move,
    ),
];

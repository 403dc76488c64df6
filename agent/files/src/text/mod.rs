//! Formats that are text as they are stored: plain text, delimited values, JSON and HTML.

mod delimited;
mod html;
mod json;
mod plain;
mod source;

pub(crate) use delimited::tables as delimited_tables;
pub(crate) use html::document as html_document;
pub(crate) use json::text as json_text;
pub(crate) use plain::{of_document, of_string, text};
pub(crate) use source::TextSource;

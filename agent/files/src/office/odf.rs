//! OpenDocument texts and presentations.

use super::{
    package::Package,
    xml::{XmlDescent, XmlElement, XmlNode, nodes},
};
use crate::{
    compose::{Block, Composer, DocumentText},
    error::FileParseError,
};

/// The part with the text.
const CONTENT: &str = "content.xml";
/// Spaces that one element may stand for.
const SPACES_MAX: usize = 1_000;

/// A paragraph that is open.
struct OdfParagraph {
    block: Block,
    /// Text of the paragraph around it.
    before: String,
}

#[derive(Default)]
struct OdfParser {
    composer: Composer,
    paragraphs: Vec<OdfParagraph>,
    lists: usize,
    /// Notes and comments that are open: their paragraphs are part of the one around them.
    asides: usize,
    /// Repeat counts of the open cells.
    repeats: Vec<usize>,
    slides: usize,
    is_notes: bool,
    is_title: bool,
}

/// Text of an OpenDocument text or presentation.
pub(crate) fn document(package: &mut Package) -> Result<DocumentText, FileParseError> {
    check_encryption(package)?;
    let xml = package.text(CONTENT)?;
    let mut reading = OdfParser::default();
    nodes(CONTENT, &xml, |node| reading.node(node))?;
    Ok(reading.composer.finish())
}

/// An error if the parts are encrypted.
pub(crate) fn check_encryption(package: &mut Package) -> Result<(), FileParseError> {
    let manifest = package.find("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") || manifest.contains("encrypted-package") {
        return Err(FileParseError::PasswordProtected);
    }
    Ok(())
}

impl OdfParser {
    fn node(&mut self, node: XmlNode<'_>) -> Result<XmlDescent, FileParseError> {
        match node {
            XmlNode::Open(element) => return self.open(&element),
            XmlNode::Close(name) => self.close(name)?,
            XmlNode::Text(text) if !self.paragraphs.is_empty() => {
                self.composer.text(&text.replace(['\n', '\r', '\t'], " "))?;
            }
            XmlNode::Text(_) => {}
        }
        Ok(XmlDescent::Into)
    }

    fn open(&mut self, element: &XmlElement<'_>) -> Result<XmlDescent, FileParseError> {
        match element.name() {
            "text:tracked-changes"
            | "text:note-citation"
            | "office:forms"
            | "svg:title"
            | "svg:desc"
            | "dc:date"
            | "office:event-listeners"
            | "text:table-of-content-source" => return Ok(XmlDescent::Skip),
            "text:h" => {
                self.open_paragraph(Block::Heading(element.number("text:outline-level").unwrap_or(1)));
            }
            "text:p" => {
                let block = match self.lists {
                    _ if self.is_title => Block::Heading(2),
                    0 => Block::Paragraph,
                    depth => Block::Item(depth - 1),
                };
                self.open_paragraph(block);
                if self.is_notes && self.paragraphs.len() == 1 {
                    self.composer.text("Notes: ")?;
                }
            }
            "text:list" => self.lists += 1,
            "text:s" => {
                self.composer.text(&" ".repeat(element.number("text:c").unwrap_or(1).min(SPACES_MAX)))?;
            }
            "text:tab" => self.composer.text("\t")?,
            "text:line-break" => self.composer.text("\n")?,
            "text:note" => self.open_aside(" [note: ")?,
            "office:annotation" => self.open_aside(" [comment: ")?,
            "table:table" => self.composer.open_table(),
            "table:table-row" => self.composer.open_row(),
            "table:table-cell" | "table:covered-table-cell" => {
                self.composer.open_cell();
                self.repeats.push(element.number("table:number-columns-repeated").unwrap_or(1));
            }
            "draw:page" => {
                self.slides += 1;
                self.composer.part(format!("slide {}", self.slides));
            }
            "presentation:notes" => self.is_notes = true,
            "draw:frame" => return Ok(self.open_frame(element)),
            _ => {}
        }
        Ok(XmlDescent::Into)
    }

    fn open_frame(&mut self, element: &XmlElement<'_>) -> XmlDescent {
        match element.attribute("presentation:class").as_deref() {
            Some("page-number" | "date-time" | "footer" | "header") => return XmlDescent::Skip,
            class => self.is_title = class == Some("title"),
        }
        XmlDescent::Into
    }

    fn open_aside(&mut self, start: &str) -> Result<(), FileParseError> {
        self.asides += 1;
        self.composer.text(start)
    }

    fn open_paragraph(&mut self, block: Block) {
        if self.asides == 0 {
            let before = self.composer.take_inline();
            self.paragraphs.push(OdfParagraph { block, before });
        }
    }

    fn close(&mut self, name: &str) -> Result<(), FileParseError> {
        match name {
            "text:h" | "text:p" if self.asides > 0 => self.composer.text(" ")?,
            "text:h" | "text:p" => self.close_paragraph(),
            "text:list" => self.lists = self.lists.saturating_sub(1),
            "text:note" | "office:annotation" => {
                self.asides = self.asides.saturating_sub(1);
                self.composer.close_aside();
            }
            // The author of a comment.
            "dc:creator" if self.asides > 0 => self.composer.text(": ")?,
            "table:table" => self.composer.close_table(),
            "table:table-cell" | "table:covered-table-cell" => {
                self.composer.close_cell(self.repeats.pop().unwrap_or(1));
            }
            "presentation:notes" => self.is_notes = false,
            "draw:frame" => self.is_title = false,
            _ => {}
        }
        Ok(())
    }

    fn close_paragraph(&mut self) {
        let Some(OdfParagraph { block, before }) = self.paragraphs.pop() else { return };
        let inline = self.composer.take_inline();
        // A paragraph of notes without text.
        if inline.trim() != "Notes:" || !self.is_notes {
            self.composer.restore_inline(inline);
            self.composer.end_block(block);
        }
        self.composer.restore_inline(before);
    }
}

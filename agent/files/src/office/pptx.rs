//! PowerPoint presentations: slides in their order, tables and notes.

use super::{
    package::Package,
    xml::{XmlDescent, XmlElement, XmlNode, local, nodes},
};
use crate::{
    compose::{Block, Composer, DocumentText},
    error::FileParseError,
};

/// The most slides.
const SLIDES_MAX: usize = 5_000;

#[derive(Default)]
struct Slide {
    composer: Composer,
    /// Kind of placeholder that the shape is, such as `title`.
    place: Option<String>,
    block: Option<Block>,
    is_text: bool,
    is_notes: bool,
    is_table: bool,
}

/// Text of a presentation, one part for each slide.
pub(crate) fn document(package: &mut Package) -> Result<DocumentText, FileParseError> {
    let main = package.main_part()?;
    let relations = package.relations(&main)?;
    let mut ids = Vec::new();
    let xml = package.text(&main)?;
    nodes(&main, &xml, |node| {
        if let XmlNode::Open(element) = node
            && element.local() == "sldId"
        {
            ids.extend(element.attribute("r:id"));
        }
        Ok(XmlDescent::Into)
    })?;
    if ids.len() > SLIDES_MAX {
        return Err(FileParseError::TooLarge(format!(
            "it has {} slides, and {SLIDES_MAX} is the limit",
            ids.len()
        )));
    }
    let mut slide = Slide::default();
    for (number, id) in (1..).zip(&ids) {
        slide.composer.part(format!("slide {number}"));
        let Some(relation) = relations.get(id) else { continue };
        let part = &relation.target;
        let xml = package.text(part)?;
        nodes(part, &xml, |node| slide.node(node))?;
        let notes = package.relations(part)?.into_values().find(|relation| relation.kind == "notesSlide");
        let Some(notes) = notes else { continue };
        if let Some(xml) = package.find(&notes.target)? {
            slide.is_notes = true;
            nodes(&notes.target, &xml, |node| slide.node(node))?;
            slide.is_notes = false;
        }
    }
    Ok(slide.composer.finish())
}

impl Slide {
    fn node(&mut self, node: XmlNode<'_>) -> Result<XmlDescent, FileParseError> {
        match node {
            XmlNode::Open(element) => return self.open(&element),
            XmlNode::Close(name) => self.close(local(name)),
            XmlNode::Text(text) if self.is_text => self.composer.text(text)?,
            XmlNode::Text(_) => {}
        }
        Ok(XmlDescent::Into)
    }

    fn open(&mut self, element: &XmlElement<'_>) -> Result<XmlDescent, FileParseError> {
        match element.local() {
            "Fallback" => return Ok(XmlDescent::Skip),
            "sp" => self.place = None,
            // Without a type it is one for text.
            "ph" => self.place = Some(element.attribute("type").unwrap_or_else(|| "body".to_owned())),
            "txBody" if self.is_of_no_use() => return Ok(XmlDescent::Skip),
            "p" => {
                self.block = Some(self.block_of_place());
                if self.is_notes {
                    self.composer.text("Notes: ")?;
                }
            }
            "pPr" => {
                let level = element.number("lvl").unwrap_or(0);
                if let Some(Block::Item(depth)) = &mut self.block {
                    *depth = level;
                }
            }
            "buNone" if matches!(self.block, Some(Block::Item(_))) => self.block = Some(Block::Paragraph),
            "t" => self.is_text = true,
            "br" => self.composer.text("\n")?,
            "tab" => self.composer.text("\t")?,
            "tbl" => {
                self.composer.open_table();
                self.is_table = true;
            }
            "tr" => self.composer.open_row(),
            "tc" => self.composer.open_cell(),
            _ => {}
        }
        Ok(XmlDescent::Into)
    }

    /// Numbers of slides, dates and footers; of notes, all but their body.
    fn is_of_no_use(&self) -> bool {
        let place = self.place.as_deref();
        matches!(place, Some("sldNum" | "dt" | "ftr" | "hdr" | "sldImg"))
            || (self.is_notes && place != Some("body"))
    }

    fn block_of_place(&self) -> Block {
        match self.place.as_deref() {
            _ if self.is_notes || self.is_table => Block::Paragraph,
            Some("title" | "ctrTitle") => Block::Heading(2),
            Some("body" | "obj") => Block::Item(0),
            Some(_) | None => Block::Paragraph,
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "p" => {
                let inline = self.composer.take_inline();
                // A paragraph of notes without text.
                if inline.trim() != "Notes:" {
                    self.composer.restore_inline(inline);
                    self.composer.end_block(self.block.take().unwrap_or(Block::Paragraph));
                }
            }
            "tc" => self.composer.close_cell(1),
            "sp" => self.place = None,
            "tbl" => {
                self.composer.close_table();
                self.is_table = false;
            }
            _ => {}
        }
    }
}

//! Word documents: paragraphs, headings, lists, tables, notes and comments.

use std::collections::HashMap;

use super::{
    package::Package,
    xml::{XmlDescent, XmlElement, XmlNode, local, nodes},
};
use crate::{
    compose::{Block, Composer, DocumentText},
    error::FileParseError,
};

/// The most styles that build on each other.
const BASED_ON_MAX: usize = 20;
/// Parts with text besides the main one, by the kind of their relation.
const NOTES: [&str; 3] = ["footnotes", "endnotes", "comments"];

/// A paragraph that is open.
struct DocxParagraph {
    block: Block,
    /// Text of the paragraph around it.
    before: String,
}

struct DocxParser<'a> {
    composer: Composer,
    styles: &'a HashMap<String, Block>,
    paragraphs: Vec<DocxParagraph>,
    /// Columns of the cells that are open.
    spans: Vec<usize>,
    is_text: bool,
    /// Text at the start of the next paragraph.
    prefix: Option<String>,
}

/// Text of a Word document.
pub(crate) fn document(package: &mut Package) -> Result<DocumentText, FileParseError> {
    let main = package.main_part()?;
    let relations = package.relations(&main)?;
    let target = |kind: &str| relations.values().find(|relation| relation.kind == kind);
    let styles = match target("styles") {
        Some(relation) => {
            package.find(&relation.target)?.map_or_else(|| Ok(HashMap::new()), |xml| styles(&xml))?
        }
        None => HashMap::new(),
    };
    let mut reading = DocxParser {
        composer: Composer::default(),
        styles: &styles,
        paragraphs: Vec::new(),
        spans: Vec::new(),
        is_text: false,
        prefix: None,
    };
    let xml = package.text(&main)?;
    nodes(&main, &xml, |node| reading.node(node))?;
    for kind in NOTES {
        let Some(relation) = target(kind) else { continue };
        if let Some(xml) = package.find(&relation.target)? {
            nodes(&relation.target, &xml, |node| reading.node(node))?;
        }
    }
    Ok(reading.composer.finish())
}

impl DocxParser<'_> {
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
            // The same content for old programs; positions of tabs.
            "Fallback" | "tabs" | "pPrChange" | "rPrChange" => return Ok(XmlDescent::Skip),
            "p" => {
                let before = self.composer.take_inline();
                self.paragraphs.push(DocxParagraph { block: Block::Paragraph, before });
                if let Some(prefix) = self.prefix.take() {
                    self.composer.text(&prefix)?;
                }
            }
            "pStyle" | "numPr" | "ilvl" | "numId" | "outlineLvl" => self.property(element),
            "t" => self.is_text = true,
            "tab" | "ptab" => self.composer.text("\t")?,
            "br" | "cr" => self.composer.text("\n")?,
            "noBreakHyphen" => self.composer.text("-")?,
            "footnoteReference" | "endnoteReference" => {
                self.composer.text(&format!("[^{}]", element.attribute("w:id").unwrap_or_default()))?;
            }
            "commentReference" => {
                self.composer
                    .text(&format!("[comment {}]", element.attribute("w:id").unwrap_or_default()))?;
            }
            "footnote" | "endnote" | "comment" => return Ok(self.open_note(element)),
            "tbl" => self.composer.open_table(),
            "tr" => self.composer.open_row(),
            "tc" => {
                self.composer.open_cell();
                self.spans.push(1);
            }
            "gridSpan" => {
                if let (Some(span), Some(count)) = (self.spans.last_mut(), element.number("w:val")) {
                    *span = count.clamp(1, 64);
                }
            }
            _ => {}
        }
        Ok(XmlDescent::Into)
    }

    fn open_note(&mut self, element: &XmlElement<'_>) -> XmlDescent {
        if element.attribute("w:type").is_some_and(|kind| kind != "normal") {
            return XmlDescent::Skip;
        }
        let id = element.attribute("w:id").unwrap_or_default();
        self.prefix = Some(match element.attribute("w:author") {
            Some(author) => format!("[comment {id}] {author}: "),
            None => format!("[^{id}]: "),
        });
        XmlDescent::Into
    }

    /// A property of the paragraph that is open.
    fn property(&mut self, element: &XmlElement<'_>) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let value = element.attribute("w:val").unwrap_or_default();
        let is_heading = matches!(paragraph.block, Block::Heading(_));
        match element.local() {
            "pStyle" => paragraph.block = self.styles.get(&value).copied().unwrap_or(Block::Paragraph),
            "outlineLvl" => {
                if let Some(level) = value.parse().ok().filter(|level: &usize| *level < 9) {
                    paragraph.block = Block::Heading(level + 1);
                }
            }
            // A numbered heading is a heading.
            _ if is_heading => {}
            "numPr" => paragraph.block = Block::Item(0),
            "ilvl" => paragraph.block = Block::Item(value.parse().unwrap_or(0)),
            "numId" if value == "0" => paragraph.block = Block::Paragraph,
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_text = false,
            "p" => {
                if let Some(DocxParagraph { block, before }) = self.paragraphs.pop() {
                    self.composer.end_block(block);
                    self.composer.restore_inline(before);
                }
            }
            "tc" => {
                self.composer.close_cell(1);
                for _ in 1..self.spans.pop().unwrap_or(1) {
                    self.composer.open_cell();
                    self.composer.close_cell(1);
                }
            }
            "tbl" => self.composer.close_table(),
            _ => {}
        }
    }
}

#[derive(Default)]
struct Style {
    id: String,
    block: Option<Block>,
    based_on: Option<String>,
}

/// Which styles are headings or items of lists.
fn styles(xml: &str) -> Result<HashMap<String, Block>, FileParseError> {
    let mut found: HashMap<String, Style> = HashMap::new();
    let mut style = Style::default();
    nodes("its styles", xml, |node| {
        match node {
            XmlNode::Open(element) => {
                let value = || element.attribute("w:val").unwrap_or_default();
                match element.local() {
                    "style" => {
                        style = Style {
                            id: element.attribute("w:styleId").unwrap_or_default(),
                            ..Style::default()
                        };
                    }
                    "name" => style.block = of_name(&value()).or(style.block),
                    "basedOn" => style.based_on = Some(value()),
                    "outlineLvl" => {
                        let level = value().parse().ok().filter(|level: &usize| *level < 9);
                        style.block = style.block.or(level.map(|level| Block::Heading(level + 1)));
                    }
                    "numPr" => style.block = style.block.or(Some(Block::Item(0))),
                    _ => {}
                }
            }
            XmlNode::Close(name) if local(name) == "style" => {
                found.insert(style.id.clone(), std::mem::take(&mut style));
            }
            XmlNode::Close(_) | XmlNode::Text(_) => {}
        }
        Ok(XmlDescent::Into)
    })?;
    let block = |id: &String| {
        let mut style = found.get(id)?;
        for _ in 0..BASED_ON_MAX {
            if let Some(block) = style.block {
                return Some((id.clone(), block));
            }
            style = found.get(style.based_on.as_ref()?)?;
        }
        None
    };
    Ok(found.keys().filter_map(block).collect())
}

fn of_name(name: &str) -> Option<Block> {
    let name = name.to_lowercase();
    if name == "title" {
        return Some(Block::Heading(1));
    }
    let level = name.strip_prefix("heading ")?.trim().parse().ok()?;
    Some(Block::Heading(level))
}

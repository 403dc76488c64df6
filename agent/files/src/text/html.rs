//! HTML to text, token by token: without a tree, deep nesting costs nothing.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use crate::{
    compose::{Block, Composer, DocumentText},
    error::FileParseError,
    text::TextSource,
};

/// The largest file that is read, in bytes.
const BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Elements whose content is not shown.
const HIDDEN: [&str; 8] = ["script", "style", "noscript", "template", "svg", "head", "iframe", "object"];

/// Elements of a head.
const HEAD: [&str; 9] = ["base", "head", "link", "meta", "noscript", "script", "style", "template", "title"];

/// State between tokens.
#[derive(Default)]
struct HtmlTextParser {
    composer: Composer,
    /// The element whose content is skipped, and how often it is open.
    hidden: Option<(String, usize)>,
    lists: usize,
    block: Option<Block>,
    preformatted: usize,
    /// Set while white space is pending.
    has_space: bool,
    title: Option<String>,
}

/// Text of an HTML file.
pub(crate) fn document(source: &TextSource) -> Result<DocumentText, FileParseError> {
    let html = source.whole(BYTES_MAX)?;
    let mut emitter = DefaultEmitter::default();
    // Scripts and styles contain characters that would be tags elsewhere.
    emitter.naively_switch_states(true);
    let mut page = HtmlTextParser::default();
    for token in Tokenizer::new_with_emitter(&html, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let attribute = |name: &str| {
                    let value = tag.attributes.get(name.as_bytes());
                    value.map(|value| String::from_utf8_lossy(value).into_owned())
                };
                page.open(&name, tag.self_closing, &attribute)?;
            }
            Token::EndTag(tag) => page.close(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text))?,
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    Ok(page.composer.finish())
}

impl HtmlTextParser {
    fn open(
        &mut self,
        name: &str,
        is_empty: bool,
        attribute: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), FileParseError> {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(hidden == name && !is_empty);
            // The title is the one thing in the head to show.
            if name == "title" && hidden == "head" {
                self.title = Some(String::new());
            }
            // A head ends where its elements do: its end tag is optional.
            if hidden != "head" || HEAD.contains(&name) {
                return Ok(());
            }
            self.hidden = None;
        }
        if HIDDEN.contains(&name) {
            if !is_empty {
                self.hidden = Some((name.to_owned(), 1));
            }
            return Ok(());
        }
        match name {
            "br" => self.composer.text("\n")?,
            "img" => {
                if let Some(text) = attribute("alt").filter(|text| !text.trim().is_empty()) {
                    self.text(&format!("[image: {}]", text.trim()))?;
                }
            }
            "input" | "button" | "option" => self.has_space = true,
            "ul" | "ol" => {
                self.end_block();
                self.lists += 1;
            }
            "table" => {
                self.end_block();
                self.composer.open_table();
            }
            "tr" => self.composer.open_row(),
            "td" | "th" => {
                self.end_block();
                self.composer.open_cell();
            }
            _ => self.open_block(name),
        }
        Ok(())
    }

    fn open_block(&mut self, name: &str) {
        let Some(block) = self.block_of(name) else { return };
        self.end_block();
        self.block = Some(block);
        self.preformatted += usize::from(name == "pre");
    }

    fn close(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if name == "title"
                && let Some(title) = self.title.take()
                && self.composer.text(title.trim()).is_ok()
            {
                self.composer.end_block(Block::Heading(1));
            }
            *depth -= usize::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        match name {
            "ul" | "ol" => {
                self.end_block();
                self.lists = self.lists.saturating_sub(1);
            }
            "td" | "th" => {
                self.end_block();
                self.composer.close_cell(1);
            }
            "table" => {
                self.end_block();
                self.composer.close_table();
            }
            _ if self.block_of(name).is_some() => {
                self.end_block();
                if name == "pre" {
                    self.preformatted = self.preformatted.saturating_sub(1);
                }
            }
            _ => {}
        }
    }

    fn block_of(&self, name: &str) -> Option<Block> {
        match name {
            "h1" | "title" => Some(Block::Heading(1)),
            "h2" => Some(Block::Heading(2)),
            "h3" => Some(Block::Heading(3)),
            "h4" => Some(Block::Heading(4)),
            "h5" => Some(Block::Heading(5)),
            "h6" => Some(Block::Heading(6)),
            "li" => Some(Block::Item(self.lists.saturating_sub(1))),
            "pre" => Some(Block::Preformatted),
            "p" | "div" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside" | "form"
            | "blockquote" | "figure" | "figcaption" | "dl" | "dt" | "dd" | "address" | "fieldset" | "hr"
            | "body" | "html" | "caption" | "details" | "summary" | "textarea" | "select" => {
                Some(Block::Paragraph)
            }
            _ => None,
        }
    }

    fn end_block(&mut self) {
        self.composer.end_block(self.block.take().unwrap_or(Block::Paragraph));
        self.has_space = false;
    }

    fn text(&mut self, text: &str) -> Result<(), FileParseError> {
        if self.hidden.is_some() {
            if let Some(title) = self.title.as_mut().filter(|title| title.len() < 1_000) {
                title.push_str(text);
            }
            return Ok(());
        }
        if self.preformatted > 0 {
            return self.composer.text(text);
        }
        // White space of any length is one space.
        let mut words = text.split_ascii_whitespace();
        self.has_space |= text.starts_with(|letter: char| letter.is_ascii_whitespace());
        if let Some(first) = words.next() {
            if self.has_space {
                self.composer.text(" ")?;
            }
            self.composer.text(first)?;
            for word in words {
                self.composer.text(" ")?;
                self.composer.text(word)?;
            }
            self.has_space = text.ends_with(|letter: char| letter.is_ascii_whitespace());
        }
        Ok(())
    }
}

//! Mallard and DocBook to text with headings. Both name titles, paragraphs, lists and items; the rest is text.

use deskhand_ui::text::collapse_whitespace;
use quick_xml::{
    Reader,
    events::{BytesRef, BytesStart, Event},
};

/// The most levels of elements.
const DEPTH_MAX: usize = 200;
/// The most bytes of text of one file.
const TEXT_MAX: usize = 2_000_000;

/// Elements whose content is not help: who wrote it, notes of writers, pictures, indexes.
const LEFT_OUT: [&str; 23] = [
    "comment",
    "media",
    "legalnotice",
    "revhistory",
    "revision",
    "indexterm",
    "bookinfo",
    "articleinfo",
    "authorgroup",
    "author",
    "copyright",
    "credit",
    "license",
    "index",
    "mediaobject",
    "inlinemediaobject",
    "screenshot",
    "graphic",
    "remark",
    "sectioninfo",
    "chapterinfo",
    "refmeta",
    "toc",
];
/// Elements that a heading is about.
const SECTIONS: [&str; 18] = [
    "page",
    "section",
    "article",
    "book",
    "chapter",
    "sect1",
    "sect2",
    "sect3",
    "sect4",
    "sect5",
    "appendix",
    "preface",
    "part",
    "refentry",
    "refsect1",
    "refsect2",
    "refsection",
    "refsynopsisdiv",
];
/// Elements that are lines of their own.
const BLOCKS: [&str; 28] = [
    "p",
    "para",
    "simpara",
    "code",
    "screen",
    "programlisting",
    "note",
    "tip",
    "warning",
    "caution",
    "important",
    "steps",
    "list",
    "terms",
    "tree",
    "itemizedlist",
    "orderedlist",
    "variablelist",
    "procedure",
    "table",
    "informaltable",
    "synopsis",
    "cmdsynopsis",
    "formalpara",
    "refnamediv",
    "quote",
    "example",
    "sidebar",
];
/// Blocks that are lists: what is inside is one level deeper.
const LISTS: [&str; 8] =
    ["steps", "list", "terms", "tree", "itemizedlist", "orderedlist", "variablelist", "procedure"];
/// Blocks whose line breaks count.
const PREFORMATTED: [&str; 3] = ["code", "screen", "programlisting"];
/// Elements that are lines with a mark.
const ITEMS: [&str; 6] = ["item", "listitem", "step", "substep", "varlistentry", "member"];
/// Elements that are rows of tables.
const ROWS: [&str; 2] = ["tr", "row"];
/// Elements that are cells of tables.
const CELLS: [&str; 3] = ["td", "th", "entry"];
/// Elements of menus and keys, and what stands between their parts.
const SEQUENCES: [(&str, &str); 4] =
    [("guiseq", " ▸ "), ("menuchoice", " ▸ "), ("keyseq", "+"), ("keycombo", "+")];

/// Returns `true` if a text looks like Mallard or DocBook, by its first characters.
pub(crate) fn is_help(start: &str) -> bool {
    let names = ["projectmallard.org", "docbook.org/ns", "-//OASIS//DTD DocBook"];
    names.iter().any(|name| start.contains(name))
}

/// The text of a page, or why it has none.
pub(crate) fn text(xml: &str) -> Result<String, String> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut page = XmlHelpParser::default();
    // The depth at which skipping ends.
    let mut skipped: Option<usize> = None;
    loop {
        let event = reader.read_event().map_err(|error| format!("its XML is damaged: {error}"))?;
        match event {
            Event::Start(start) => {
                let name = local(start.name().into_inner()).to_owned();
                page.open.push(name.clone());
                if page.open.len() > DEPTH_MAX {
                    return Err(format!("it has more than {DEPTH_MAX} levels of elements"));
                }
                if skipped.is_none() {
                    if page.is_left_out(&name) {
                        skipped = Some(page.open.len());
                    } else {
                        page.open(&name, &start);
                    }
                }
            }
            Event::End(_) => {
                let depth = page.open.len();
                let name = page.open.pop().unwrap_or_default();
                if skipped.is_none() {
                    page.close(&name);
                } else if skipped == Some(depth) {
                    skipped = None;
                }
            }
            Event::Eof if !page.open.is_empty() => {
                return Err("its XML is damaged: the end is missing".to_owned());
            }
            Event::Eof => return Ok(page.finish()),
            _ if skipped.is_some() => {}
            Event::Text(text) => page.text(&text.xml10_content()),
            Event::CData(text) => page.text(&text.xml10_content()),
            Event::GeneralRef(name) => page.text(&reference(&name)),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if page.done.len() > TEXT_MAX {
            return Err(format!("its text has more than {TEXT_MAX} bytes"));
        }
    }
}

/// The name without the prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The character of a reference. An entity of a document type, such as the name of the program, is shown by its name.
fn reference(name: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = name.resolve_char_ref() {
        return character.to_string();
    }
    let text: &str = name;
    match text {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "quot" => "\"".to_owned(),
        "apos" => "'".to_owned(),
        "nbsp" => " ".to_owned(),
        other => other.to_owned(),
    }
}

/// A page while it is read.
#[derive(Default)]
struct XmlHelpParser {
    /// The names of the open elements.
    open: Vec<String>,
    sections: usize,
    lists: usize,
    rows: usize,
    /// The line at work.
    line: String,
    /// Text before the line: the mark of an item.
    mark: String,
    done: String,
    /// Summary that a page gives before its title.
    summary: String,
    /// The sequences that are open: what stands between their parts, and whether a part was there already.
    sequences: Vec<(&'static str, bool)>,
    /// Target of the open link, and the length of the line before it.
    link: Option<(String, usize)>,
    preformatted: usize,
}

impl XmlHelpParser {
    /// The element around the one that was opened last.
    fn parent(&self) -> &str {
        self.open.len().checked_sub(2).and_then(|at| self.open.get(at)).map_or("", String::as_str)
    }

    /// Returns `true` if an element shows nothing. Of what is said about a page, its title and summary count.
    fn is_left_out(&self, name: &str) -> bool {
        LEFT_OUT.contains(&name) || (self.parent() == "info" && !["desc", "title"].contains(&name))
    }

    fn open(&mut self, name: &str, start: &BytesStart<'_>) {
        let is_part = SEQUENCES.iter().any(|(sequence, _)| *sequence == self.parent());
        if is_part && let Some((between, has_part)) = self.sequences.last_mut() {
            if *has_part {
                self.line.push_str(between);
            }
            *has_part = true;
        }
        if let Some((_, between)) = SEQUENCES.iter().find(|(sequence, _)| *sequence == name) {
            self.sequences.push((between, false));
        } else if SECTIONS.contains(&name) {
            self.end_line();
            self.sections += 1;
        } else if ITEMS.contains(&name) {
            self.end_line();
            self.mark = format!("{}- ", "  ".repeat(self.lists.saturating_sub(1).min(8)));
        } else if self.rows > 0 && !ROWS.contains(&name) && !LISTS.contains(&name) && is_line(name) {
            // A row is one line, whatever its cells contain.
            self.line.push(' ');
        } else if is_line(name) {
            self.end_line();
            self.rows += usize::from(ROWS.contains(&name));
            self.lists += usize::from(LISTS.contains(&name));
            self.preformatted += usize::from(PREFORMATTED.contains(&name) && self.parent() != "p");
        } else if CELLS.contains(&name) && !self.line.trim().is_empty() {
            self.line.push_str(" | ");
        } else if ["link", "xref"].contains(&name) {
            self.link = Some((target(start), self.line.len()));
        }
    }

    fn close(&mut self, name: &str) {
        if SEQUENCES.iter().any(|(sequence, _)| *sequence == name) {
            self.sequences.pop();
        } else if ["title", "refname"].contains(&name) && self.is_heading() {
            let level = self.sections.clamp(1, 6);
            let title = collapse_whitespace(&std::mem::take(&mut self.line));
            if !title.is_empty() {
                self.done.push_str(&format!("\n{} {title}\n", "#".repeat(level)));
            }
            self.line = std::mem::take(&mut self.summary);
            self.end_line();
        } else if name == "desc" && self.open.last().is_some_and(|parent| parent == "info") {
            self.summary = std::mem::take(&mut self.line);
        } else if SECTIONS.contains(&name) {
            self.end_line();
            self.sections = self.sections.saturating_sub(1);
        } else if self.rows > 0 && !ROWS.contains(&name) && !LISTS.contains(&name) && is_line(name) {
            self.line.push(' ');
        } else if is_line(name) || ITEMS.contains(&name) {
            self.end_line();
            self.mark.clear();
            self.rows = self.rows.saturating_sub(usize::from(ROWS.contains(&name)));
            self.lists = self.lists.saturating_sub(usize::from(LISTS.contains(&name)));
            let is_preformatted = PREFORMATTED.contains(&name);
            self.preformatted = self.preformatted.saturating_sub(usize::from(is_preformatted));
        } else if ["link", "xref"].contains(&name)
            && let Some((target, length)) = self.link.take()
            && self.line.len() == length
        {
            self.line.push_str(&target);
        }
    }

    /// Returns `true` if the title that is closed is that of a section, as opposed to that of a table or a list.
    fn is_heading(&self) -> bool {
        let parent = self.open.last().map_or("", String::as_str);
        SECTIONS.contains(&parent) || ["info", "refnamediv"].contains(&parent)
    }

    fn text(&mut self, text: &str) {
        let is_between = self.open.last().is_some_and(|name| SEQUENCES.iter().any(|(own, _)| own == name));
        if !(is_between && text.trim().is_empty()) {
            self.line.push_str(text);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.trim().is_empty() {
            return;
        }
        self.done.push_str(&std::mem::take(&mut self.mark));
        if self.preformatted > 0 {
            self.done.push_str(line.trim_end());
        } else {
            self.done.push_str(&collapse_whitespace(&line));
        }
        self.done.push('\n');
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.done
    }
}

fn is_line(name: &str) -> bool {
    BLOCKS.contains(&name) || ROWS.contains(&name) || ["title", "refname", "desc"].contains(&name)
}

/// The name of what a link points to: the last part of it.
fn target(start: &BytesStart<'_>) -> String {
    let mut attributes = start.attributes();
    let targets = ["xref", "linkend", "href", "url"];
    let found = attributes.with_checks(false).flatten().take(100);
    let mut found = found.filter(|found| targets.contains(&found.key.into_inner()));
    let target = found.next().map(|found| found.value.to_string()).unwrap_or_default();
    target.rsplit(['#', '/']).next().unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "xml_tests.rs"]
mod tests;

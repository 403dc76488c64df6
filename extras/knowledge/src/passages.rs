//! Text with headings to passages that are short enough for a prompt.

use deskhand_ui::text::{clip, collapse_whitespace, tokens};

/// The most tokens of a passage (estimated).
const TOKENS_MAX: usize = 300;
/// The most characters of a title.
const TITLE_MAX: usize = 160;
/// The most tokens before the heading of a page that repeats its title: what a help viewer shows around each page.
const CHROME_TOKENS_MAX: usize = 60;
/// The most passages of one file.
pub(crate) const PASSAGES_MAX: usize = 5_000;

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextPassage {
    /// `Page › Section`, or the page alone.
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Splits a text at its headings (`#`), and sections that are too long at their lines. `name` is the title of a page without one.
pub(crate) fn passages(text: &str, name: &str) -> Vec<TextPassage> {
    let mut splitter = Splitter {
        page: String::new(),
        section: String::new(),
        name,
        lines: Vec::new(),
        passages: Vec::new(),
    };
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        if splitter.passages.len() >= PASSAGES_MAX {
            break;
        }
        match heading(line).filter(|_| !is_fenced) {
            Some((level, title)) => splitter.head(level, &title),
            None => splitter.lines.push(line),
        }
    }
    splitter.end();
    splitter.passages.truncate(PASSAGES_MAX);
    splitter.passages
}

/// The level and the title of a heading.
fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix(' ')?;
    let title = title.trim().trim_end_matches('#').trim();
    let is_heading = (1..=6).contains(&level) && !title.is_empty();
    is_heading.then(|| (level, clip(&collapse_whitespace(title), TITLE_MAX)))
}

struct Splitter<'a> {
    page: String,
    section: String,
    name: &'a str,
    lines: Vec<&'a str>,
    passages: Vec<TextPassage>,
}

impl Splitter<'_> {
    fn head(&mut self, level: usize, title: &str) {
        let is_first = self.page.is_empty();
        if !is_first && self.section.is_empty() && title == self.page {
            // The page begins here: its title stood in the head of the file as well.
            let before: usize = self.lines.iter().map(|line| tokens(line)).sum();
            if before <= CHROME_TOKENS_MAX {
                self.lines.clear();
            }
        }
        self.end();
        if is_first {
            title.clone_into(&mut self.page);
        } else if title == self.page || level == 0 {
            self.section.clear();
        } else {
            title.clone_into(&mut self.section);
        }
    }

    /// Ends a section.
    fn end(&mut self) {
        let title = self.title();
        let mut text = String::new();
        let mut used = 0;
        for line in std::mem::take(&mut self.lines) {
            for piece in pieces(line) {
                let size = tokens(piece) + 1;
                if used > 0 && used + size > TOKENS_MAX {
                    self.keep(&title, &text);
                    text.clear();
                    used = 0;
                }
                text.push_str(piece);
                text.push('\n');
                used += size;
            }
        }
        self.keep(&title, &text);
    }

    fn keep(&mut self, title: &str, text: &str) {
        // Neither empty lines between paragraphs nor icons are content.
        let is_content = |line: &&str| !line.is_empty() && !is_picture(line);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(is_content).collect();
        if lines.iter().any(|line| line.chars().any(char::is_alphanumeric)) {
            self.passages.push(TextPassage { title: title.to_owned(), text: lines.join("\n") });
        }
    }

    fn title(&self) -> String {
        let page = if self.page.is_empty() { self.name } else { &self.page };
        if self.section.is_empty() { page.to_owned() } else { format!("{page} › {}", self.section) }
    }
}

/// Returns `true` if a line only says that there is a picture.
fn is_picture(line: &str) -> bool {
    line.trim().strip_prefix("[image: ").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
}

/// A line in pieces that fit into a passage, cut between sentences or words where that is possible.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while tokens(rest) > TOKENS_MAX {
        let most = fitting(rest);
        let head = rest.get(..most).unwrap_or(rest);
        let sentence = head.rfind(". ").map(|at| at + 2).filter(|at| *at > most / 2);
        let word = || head.rfind(char::is_whitespace).filter(|at| *at > 0);
        let at = sentence.or_else(word).unwrap_or(most);
        let (piece, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        pieces.push(piece);
        rest = after.trim_start();
    }
    if !rest.trim().is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Returns the number of bytes of a text that fit into the tokens of a passage.
fn fitting(text: &str) -> usize {
    let mut quarters = 0;
    for (at, c) in text.char_indices() {
        quarters += if c.is_ascii() { 1 } else { 4 };
        if quarters > (TOKENS_MAX - 1) * 4 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "passages_tests.rs"]
mod tests;

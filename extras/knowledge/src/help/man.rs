//! Man pages to text with headings: the macros of man and of mdoc, without running a formatter.

use super::{
    mdoc::Mdoc,
    roff::{arguments, control, plain},
};

/// The most lines of a page.
const LINES_MAX: usize = 100_000;

/// Returns `true` if a text is a man page, by its first lines.
pub(crate) fn is_man(start: &str) -> bool {
    start.lines().take(300).any(|line| {
        [".TH ", ".Dd ", ".Dd\t"].iter().any(|macro_| line.starts_with(macro_)) || line.starts_with("'\\\" t")
    })
}

/// The page that a stub refers to, such as `man1/grep.1`.
pub(crate) fn refers_to(text: &str) -> Option<&str> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(".\\\""));
    lines.next()?.strip_prefix(".so ").map(str::trim)
}

/// The text of a page.
pub(crate) fn text(page: &str) -> String {
    let is_mdoc = page.lines().any(|line| line.starts_with(".Sh ") || line.starts_with(".Dd"));
    let mut reader = ManPageParser { is_mdoc, ..ManPageParser::default() };
    for line in page.lines().take(LINES_MAX) {
        reader.line(line);
    }
    reader.end_paragraph();
    reader.done
}

/// A page while it is read.
#[derive(Default)]
struct ManPageParser {
    is_mdoc: bool,
    mdoc: Mdoc,
    /// The paragraph at work.
    paragraph: String,
    /// The name of an item, until its text comes.
    tag: Option<String>,
    /// Set if the next line is the name of an item.
    wants_tag: bool,
    /// Set while line breaks are significant.
    is_formatted: bool,
    /// The end of what is skipped: the definition of a macro.
    skipped_until: Option<String>,
    /// Number of open braces of a condition that does not hold.
    braces: usize,
    /// Set if the last condition did not hold.
    was_false: bool,
    /// Position in a table: in its format, or in its rows.
    table: ManTableState,
    done: String,
}

#[derive(Default, PartialEq, Eq)]
enum ManTableState {
    #[default]
    None,
    Format,
    Rows,
}

impl ManPageParser {
    fn line(&mut self, line: &str) {
        if let Some(end) = &self.skipped_until {
            if line.trim_end() == format!(".{end}") {
                self.skipped_until = None;
            }
            return;
        }
        if self.braces > 0 {
            self.braces += line.matches("\\{").count();
            self.braces = self.braces.saturating_sub(line.matches("\\}").count());
            return;
        }
        match self.table {
            ManTableState::Format => {
                if line.trim_end().ends_with('.') {
                    self.table = ManTableState::Rows;
                } else if line.starts_with(".TE") {
                    self.table = ManTableState::None;
                }
                return;
            }
            ManTableState::Rows if !line.starts_with('.') => {
                if line.contains('\t') {
                    self.end_paragraph();
                }
                self.words(&plain(&line.replace('\t', " | ")));
                return;
            }
            ManTableState::Rows | ManTableState::None => {}
        }
        match control(line) {
            Some((name, rest)) => self.control(name, rest),
            None => self.plain_line(line),
        }
    }

    fn plain_line(&mut self, line: &str) {
        let line = line.replace("\\}", "");
        if line.trim().is_empty() {
            self.end_paragraph();
        } else {
            self.words(&plain(&line));
        }
    }

    fn control(&mut self, name: &str, rest: &str) {
        if self.request(name, rest) {
            return;
        }
        if self.is_mdoc && self.mdoc_macro(name, rest) {
            return;
        }
        let words = || arguments(rest).iter().map(|argument| plain(argument)).collect::<Vec<String>>();
        match name {
            "TH" => {
                let words = words();
                let name = words.first().map(|name| name.to_lowercase()).unwrap_or_default();
                let section = words.get(1).map(|section| format!("({section})")).unwrap_or_default();
                self.heading(1, &format!("{name}{section}"));
            }
            "SH" => self.heading(2, &capitals(&words().join(" "))),
            "SS" => self.heading(3, &words().join(" ")),
            "PP" | "P" | "LP" | "HP" | "RS" | "RE" | "sp" | "br" | "SY" | "YS" | "ti" | "in" => {
                self.end_paragraph();
            }
            "TP" | "TQ" => {
                self.end_paragraph();
                self.wants_tag = true;
            }
            "IP" => {
                self.end_paragraph();
                self.tag = words().first().filter(|tag| !tag.trim().is_empty()).cloned();
            }
            "nf" | "EX" => {
                self.end_paragraph();
                self.is_formatted = true;
            }
            "fi" | "EE" => {
                self.end_paragraph();
                self.is_formatted = false;
            }
            "BR" | "RB" | "BI" | "IB" | "IR" | "RI" => self.words(&words().concat()),
            "B" | "I" | "SM" | "SB" | "R" | "OP" | "MT" | "UR" | "UE" | "ME" | "CW" if !rest.is_empty() => {
                self.words(&words().join(" "));
            }
            "TS" => {
                self.end_paragraph();
                self.table = ManTableState::Format;
            }
            "TE" => {
                self.end_paragraph();
                self.table = ManTableState::None;
            }
            _ => {}
        }
    }

    /// Requests of the formatter itself: definitions, conditions, comments.
    fn request(&mut self, name: &str, rest: &str) -> bool {
        match name {
            "de" | "de1" | "am" => {
                let end = arguments(rest).get(1).cloned().unwrap_or_else(|| ".".to_owned());
                self.skipped_until = Some(end);
            }
            "ig" => {
                let end = arguments(rest).first().cloned().unwrap_or_else(|| ".".to_owned());
                self.skipped_until = Some(end);
            }
            "if" | "ie" => {
                let rest = rest.trim_start();
                // Pages are read as on a terminal (`n`); what compares registers is for printers.
                let holds = rest.starts_with('n') || rest.starts_with("!t");
                self.was_false = !holds;
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                self.condition(holds, rest.get(end..).unwrap_or_default());
            }
            "el" => self.condition(self.was_false, rest),
            "" | "\\\"" | "ds" | "nr" | "hy" | "nh" | "ad" | "na" | "ne" | "so" | "tr" | "rm" | "rr"
            | "ll" | "ns" => {}
            _ => return false,
        }
        true
    }

    fn condition(&mut self, holds: bool, rest: &str) {
        let rest = rest.trim_start();
        if !holds {
            self.braces = rest.matches("\\{").count().saturating_sub(rest.matches("\\}").count());
            return;
        }
        let rest = rest.trim_start_matches("\\{").trim_start_matches('\\');
        if !rest.is_empty() && rest != "\\" {
            // One level of macros inside of a condition: more would be a program.
            match control(rest) {
                Some((name @ ("if" | "ie" | "el"), _)) => {
                    tracing::trace!(name, "a condition inside of a condition");
                }
                Some((name, rest)) => self.control(name, rest),
                None => self.words(&plain(rest)),
            }
        }
    }

    fn mdoc_macro(&mut self, name: &str, rest: &str) -> bool {
        match name {
            "Dt" => {
                let words = arguments(rest);
                let page = words.first().map(|name| name.to_lowercase()).unwrap_or_default();
                let section = words.get(1).map(|section| format!("({section})")).unwrap_or_default();
                self.heading(1, &format!("{page}{section}"));
            }
            "Sh" => {
                let title = capitals(&self.mdoc.text(rest));
                self.heading(2, &title);
            }
            "Ss" => {
                let title = self.mdoc.text(rest);
                self.heading(3, &title);
            }
            "Pp" | "Bl" | "El" | "Lp" => self.end_paragraph(),
            "Bd" => {
                self.end_paragraph();
                self.is_formatted = ["-literal", "-unfilled"].iter().any(|kind| rest.contains(kind));
            }
            "Ed" => {
                self.end_paragraph();
                self.is_formatted = false;
            }
            "It" => {
                self.end_paragraph();
                self.tag = Some(self.mdoc.text(rest)).filter(|tag| !tag.is_empty());
            }
            "Dd" | "Os" | "Sm" => {}
            _ => {
                let Some(text) = self.mdoc.line(name, rest) else { return false };
                self.words(&text);
            }
        }
        true
    }

    fn heading(&mut self, level: usize, title: &str) {
        self.end_paragraph();
        self.is_formatted = false;
        self.done.push_str(&format!("\n{} {}\n", "#".repeat(level), title.trim()));
    }

    fn words(&mut self, text: &str) {
        if self.wants_tag {
            self.wants_tag = false;
            self.tag = Some(text.trim().to_owned());
            return;
        }
        if self.is_formatted {
            self.paragraph.push_str(text.trim_end());
            self.paragraph.push('\n');
            return;
        }
        let text = text.trim();
        let is_attached = text.starts_with([',', '.', ';', ':', ')', '!', '?']) && text.len() <= 2;
        if !self.paragraph.is_empty() && !is_attached && !text.is_empty() {
            self.paragraph.push(' ');
        }
        self.paragraph.push_str(text);
    }

    fn end_paragraph(&mut self) {
        self.wants_tag = false;
        let paragraph = std::mem::take(&mut self.paragraph);
        let text = paragraph.trim_end();
        match self.tag.take() {
            Some(tag) if text.is_empty() => self.done.push_str(&format!("- {tag}\n")),
            Some(tag) => self.done.push_str(&format!("- {tag}: {}\n", text.trim_start())),
            None if text.is_empty() => {}
            None => {
                self.done.push_str(text);
                self.done.push('\n');
            }
        }
    }
}

/// `EXIT STATUS` as `Exit status`.
fn capitals(title: &str) -> String {
    if title.chars().any(char::is_lowercase) {
        return title.to_owned();
    }
    let mut characters = title.chars();
    let first = characters.next().map(String::from).unwrap_or_default();
    first + &characters.as_str().to_lowercase()
}

#[cfg(test)]
#[path = "man_tests.rs"]
mod tests;

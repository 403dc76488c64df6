//! Macros of mdoc inside of a line, to text.

use super::roff::{arguments, plain};

/// Signs that stand close to the word before them.
const CLOSING: [&str; 9] = [".", ",", ":", ";", ")", "]", "?", "!", "'s"];
/// Signs that stand close to the word after them.
const OPENING: [&str; 2] = ["(", "["];
/// Macros that enclose what follows: name, begin, end.
const ENCLOSING: [(&str, &str, &str); 13] = [
    ("Op", "[", "]"),
    ("Sq", "‘", "’"),
    ("Dq", "“", "”"),
    ("Ql", "‘", "’"),
    ("Qq", "\"", "\""),
    ("Pq", "(", ")"),
    ("Bq", "[", "]"),
    ("Brq", "{", "}"),
    ("Aq", "<", ">"),
    ("Eq", "", ""),
    ("Fn", "", "()"),
    ("D1", "", ""),
    ("Dl", "", ""),
];
/// Macros that begin or end an enclosure over several words or lines.
const MARKS: [(&str, &str); 14] = [
    ("Oo", "["),
    ("Oc", "]"),
    ("Po", "("),
    ("Pc", ")"),
    ("So", "‘"),
    ("Sc", "’"),
    ("Do", "“"),
    ("Dc", "”"),
    ("Bro", "{"),
    ("Brc", "}"),
    ("Ao", "<"),
    ("Ac", ">"),
    ("Bo", "["),
    ("Bc", "]"),
];
/// Macros that only change the font, or name what follows.
const FONTS: [&str; 30] = [
    "Ar", "Pa", "Cm", "Ic", "Sy", "Em", "Li", "Va", "Vt", "Ev", "Dv", "Er", "Ad", "An", "Cd", "Fa", "Ft",
    "Tn", "Lk", "Mt", "Sx", "No", "Ms", "Nx", "Bx", "Fx", "Ox", "St", "Rv", "Ex",
];
/// Macros that stand for a word.
const WORDS: [(&str, &str); 2] = [("Ux", "UNIX"), ("At", "AT&T UNIX")];

/// State between lines.
#[derive(Default)]
pub(super) struct Mdoc {
    /// The name that `.Nm` without an argument stands for.
    name: String,
}

impl Mdoc {
    /// The text of a line with this macro; `None` if it is unknown.
    pub(super) fn line(&mut self, name: &str, rest: &str) -> Option<String> {
        let known = is_macro(name).then(|| self.text(&format!("{name} {rest}")));
        match name {
            "Nd" => Some(format!("– {}", self.text(rest))),
            "Rs" | "Re" => Some(String::new()),
            _ if name.starts_with('%') => Some(self.text(rest)),
            _ => known,
        }
    }

    /// The text of arguments in which macros may be called.
    pub(super) fn text(&mut self, rest: &str) -> String {
        let mut line = MdocLine::default();
        let mut words = arguments(rest).into_iter().peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                "Nm" => {
                    let named = words.next_if(|next| !is_macro(next) && !CLOSING.contains(&next.as_str()));
                    if let Some(named) = named {
                        let named = plain(&named);
                        if self.name.is_empty() {
                            named.clone_into(&mut self.name);
                        }
                        line.add(&named);
                    } else {
                        line.add(&self.name);
                    }
                }
                "Fl" => {
                    let flag = words.next_if(|next| !is_macro(next) && !CLOSING.contains(&next.as_str()));
                    line.add(&format!("-{}", plain(&flag.unwrap_or_default())));
                    // Each further word of a list of flags is a flag.
                    while let Some(flag) = words.next_if(|next| !is_macro(next) && next.len() > 1) {
                        line.add(&format!("-{}", plain(&flag)));
                    }
                }
                "Xr" => {
                    let page = words.next().unwrap_or_default();
                    let section = words.next_if(|next| next.starts_with(|c: char| c.is_ascii_digit()));
                    let section = section.map(|section| format!("({section})")).unwrap_or_default();
                    line.add(&format!("{}{section}", plain(&page)));
                }
                "Ns" | "Ap" => line.attach(if word == "Ap" { "'" } else { "" }),
                other => line.other(other),
            }
        }
        line.finish()
    }
}

/// A line that is put together.
#[derive(Default)]
struct MdocLine {
    text: String,
    /// Set if the next word follows without a space.
    is_attached: bool,
    /// Text that closes the macros of this line at its end.
    ends: Vec<&'static str>,
}

impl MdocLine {
    fn other(&mut self, word: &str) {
        if let Some((_, begin, end)) = ENCLOSING.iter().find(|(name, ..)| *name == word) {
            self.add(begin);
            self.is_attached |= !begin.is_empty();
            self.ends.push(end);
        } else if let Some((name, mark)) = MARKS.iter().find(|(name, _)| *name == word) {
            let opens = name.ends_with('o');
            self.is_attached |= !opens;
            self.add(mark);
            self.is_attached = opens;
        } else if let Some((_, text)) = WORDS.iter().find(|(name, _)| *name == word) {
            self.add(text);
        } else if !FONTS.contains(&word) {
            self.add(&plain(word));
        }
    }

    fn add(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let is_close = self.is_attached || CLOSING.contains(&word);
        if !self.text.is_empty() && !is_close {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.is_attached = OPENING.contains(&word);
    }

    fn attach(&mut self, sign: &str) {
        self.text.push_str(sign);
        self.is_attached = true;
    }

    fn finish(mut self) -> String {
        // A full stop at the end of the line stands behind what is enclosed.
        let stop = if self.ends.is_empty() { None } else { self.text.chars().next_back() };
        let stop = stop.filter(|c| ['.', ','].contains(c));
        if stop.is_some() {
            self.text.pop();
        }
        while let Some(end) = self.ends.pop() {
            self.text.push_str(end);
        }
        self.text.extend(stop);
        self.text
    }
}

fn is_macro(word: &str) -> bool {
    ["Nm", "Fl", "Xr", "Ns", "Ap"].contains(&word)
        || FONTS.contains(&word)
        || ENCLOSING.iter().any(|(name, ..)| *name == word)
        || MARKS.iter().any(|(name, _)| *name == word)
        || WORDS.iter().any(|(name, _)| *name == word)
}

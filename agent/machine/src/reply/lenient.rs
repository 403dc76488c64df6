//! A lenient reader for one JSON object.
//!
//! Repairs are recorded, and made only if there is a single possible reading; everything else is an error with its
//! position. Linear in the text except for bounded look-ahead.

use serde_json::{Map, Number, Value};

use super::{
    error::quote,
    lookahead::{KEY_MAX, Quote, prefix, skip_space, starts_with_key, starts_with_value},
    repair::{Repair, Repairs},
    windows_path::PathState,
};

/// The deepest nesting of objects and lists; the same as in strict parsing.
pub(super) const DEPTH_MAX: usize = 120;

/// The kind of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    TooDeep,
    /// The text ends; the string says inside what.
    Truncated(String),
    Syntax(String),
}

/// A failure and its byte offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LenientParseFailure {
    pub(super) problem: Problem,
    pub(super) at: usize,
}

/// A parsed object and the offset of its end.
#[derive(Debug)]
pub(super) struct ParsedObject {
    pub(super) value: Value,
    pub(super) end: usize,
    pub(super) repairs: Repairs,
}

/// Reads the object or list at byte `start` of `text`.
pub(super) fn parse(text: &str, start: usize) -> Result<ParsedObject, LenientParseFailure> {
    let mut parser = LenientJsonParser { text, at: start, repairs: Repairs::default(), open: Vec::new() };
    let value = parser.value()?;
    Ok(ParsedObject { value, end: parser.at, repairs: parser.repairs })
}

/// The position of a string in its object or list: decides what may follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringPosition {
    Key,
    Member,
    Item,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenContainer {
    Object,
    List,
}

/// Separator between two members.
enum MemberSeparator {
    Another,
    End,
}

struct LenientJsonParser<'text> {
    text: &'text str,
    at: usize,
    repairs: Repairs,
    open: Vec<OpenContainer>,
}

impl LenientJsonParser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn advance(&mut self, character: char) {
        self.at += character.len_utf8();
    }

    /// Returns `true` if the text, or the code fence around it, ends here.
    fn at_end(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty() || rest.starts_with("```")
    }

    fn syntax<T>(&self, problem: impl Into<String>) -> Result<T, LenientParseFailure> {
        Err(LenientParseFailure { problem: Problem::Syntax(problem.into()), at: self.at })
    }

    fn truncated<T>(&self, place: impl Into<String>) -> Result<T, LenientParseFailure> {
        Err(LenientParseFailure { problem: Problem::Truncated(place.into()), at: self.text.trim_end().len() })
    }

    /// Skips white space and comments.
    fn pass_space(&mut self) -> Result<(), LenientParseFailure> {
        let skipped = skip_space(self.rest());
        if skipped.comment {
            self.repairs.note(Repair::Comment);
        }
        self.at += skipped.length;
        if skipped.unclosed { self.truncated("inside a comment") } else { Ok(()) }
    }

    fn value(&mut self) -> Result<Value, LenientParseFailure> {
        let Some(character) = self.peek() else { return self.truncated("before a value") };
        match character {
            '{' | '[' => {
                if self.open.len() >= DEPTH_MAX {
                    return Err(LenientParseFailure { problem: Problem::TooDeep, at: self.at });
                }
                self.advance(character);
                let kind = if character == '{' { OpenContainer::Object } else { OpenContainer::List };
                self.open.push(kind);
                let value = match kind {
                    OpenContainer::Object => self.object(),
                    OpenContainer::List => self.list(),
                };
                self.open.pop();
                value
            }
            '-' | '0'..='9' => self.number(),
            _ if Quote::opened_by(character).is_some() => {
                let place = if self.open.last() == Some(&OpenContainer::List) {
                    StringPosition::Item
                } else {
                    StringPosition::Member
                };
                self.string(place).map(Value::String)
            }
            _ => self.literal(),
        }
    }

    fn object(&mut self) -> Result<Value, LenientParseFailure> {
        let mut members = Map::new();
        loop {
            self.pass_space()?;
            if self.peek() == Some('}') {
                self.advance('}');
                if !members.is_empty() {
                    self.repairs.note(Repair::TrailingComma);
                }
                return Ok(Value::Object(members));
            }
            if self.at_end() {
                return self.truncated("before a key");
            }
            let key = self.key()?;
            self.pass_space()?;
            match self.peek() {
                Some(':') => self.advance(':'),
                Some('：') => {
                    self.repairs.note(Repair::WidePunctuation);
                    self.advance('：');
                }
                None => return self.truncated(format!("after the key \"{}\"", quote(&key))),
                Some(_) => return self.syntax(format!("expected `:` after the key \"{}\"", quote(&key))),
            }
            self.pass_space()?;
            if self.at_end() {
                return self.truncated(format!("before the value of \"{}\"", quote(&key)));
            }
            let value = self.value()?;
            members.insert(key, value);
            match self.after_member(OpenContainer::Object)? {
                MemberSeparator::Another => {}
                MemberSeparator::End => return Ok(Value::Object(members)),
            }
        }
    }

    fn list(&mut self) -> Result<Value, LenientParseFailure> {
        let mut items = Vec::new();
        loop {
            self.pass_space()?;
            if self.peek() == Some(']') {
                self.advance(']');
                if !items.is_empty() {
                    self.repairs.note(Repair::TrailingComma);
                }
                return Ok(Value::Array(items));
            }
            if self.at_end() {
                return self.truncated("inside a list");
            }
            items.push(self.value()?);
            match self.after_member(OpenContainer::List)? {
                MemberSeparator::Another => {}
                MemberSeparator::End => return Ok(Value::Array(items)),
            }
        }
    }

    fn key(&mut self) -> Result<String, LenientParseFailure> {
        let Some(character) = self.peek() else { return self.truncated("before a key") };
        if Quote::opened_by(character).is_some() {
            return self.string(StringPosition::Key);
        }
        let word: String = self
            .rest()
            .chars()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))
            .take(KEY_MAX)
            .collect();
        if word.chars().next().is_none_or(|first| first.is_numeric() || first == '-') {
            return self.syntax("expected a key in double quotes or `}`");
        }
        self.at += word.len();
        self.repairs.note(Repair::UnquotedKey);
        Ok(word)
    }

    /// Reads the separator or closer after a member.
    fn after_member(&mut self, inside: OpenContainer) -> Result<MemberSeparator, LenientParseFailure> {
        let value_end = self.at;
        self.pass_space()?;
        let (closer, other) = match inside {
            OpenContainer::Object => ('}', ']'),
            OpenContainer::List => (']', '}'),
        };
        let Some(character) = self.peek().filter(|_| !self.at_end()) else {
            // The value before is complete: only closing brackets are missing.
            self.repairs.note(Repair::MissingCloser);
            return Ok(MemberSeparator::End);
        };
        if character == closer {
            self.advance(character);
            return Ok(MemberSeparator::End);
        }
        if character == ',' || character == '，' {
            if character == '，' {
                self.repairs.note(Repair::WidePunctuation);
            }
            self.advance(character);
            return Ok(MemberSeparator::Another);
        }
        let enclosing = match inside {
            OpenContainer::Object => OpenContainer::List,
            OpenContainer::List => OpenContainer::Object,
        };
        let outer = self.open.len().saturating_sub(1);
        if character == other && self.open.iter().take(outer).any(|open| *open == enclosing) {
            // The closing bracket belongs to the parent: this one's is missing.
            self.repairs.note(Repair::MissingCloser);
            return Ok(MemberSeparator::End);
        }
        let between = self.text.get(value_end..self.at).unwrap_or_default();
        let starts_member = match inside {
            OpenContainer::Object => between.contains('\n') && starts_with_key(self.rest()),
            OpenContainer::List => character == '{' || (between.contains('\n') && character == '"'),
        };
        if starts_member {
            self.repairs.note(Repair::MissingComma);
            return Ok(MemberSeparator::Another);
        }
        self.syntax(format!("expected `,` or `{closer}` after a value"))
    }

    fn number(&mut self) -> Result<Value, LenientParseFailure> {
        let digits: String = self
            .rest()
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
            .collect();
        if self.rest().len() == digits.len() {
            return self.truncated(format!("inside the number {}", quote(&digits)));
        }
        match serde_json::from_str::<Number>(&digits) {
            Ok(number) => {
                self.at += digits.len();
                Ok(Value::Number(number))
            }
            Err(_) => self.syntax(format!("`{}` is not a number; text needs double quotes", quote(&digits))),
        }
    }

    fn literal(&mut self) -> Result<Value, LenientParseFailure> {
        let word: String = self.rest().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let (value, foreign) = match word.as_str() {
            "true" => (Value::Bool(true), false),
            "false" => (Value::Bool(false), false),
            "null" => (Value::Null, false),
            "True" | "TRUE" => (Value::Bool(true), true),
            "False" | "FALSE" => (Value::Bool(false), true),
            "None" | "NULL" | "Null" | "nil" | "undefined" => (Value::Null, true),
            _ if self.rest().len() == word.len() => return self.truncated("before a value"),
            "" => return self.syntax("expected a value"),
            _ => return self.syntax(format!("`{}` is not a value; text needs double quotes", quote(&word))),
        };
        if foreign {
            self.repairs.note(Repair::ForeignLiteral);
        }
        self.at += word.len();
        Ok(value)
    }

    /// Reads the string at the current position.
    fn string(&mut self, place: StringPosition) -> Result<String, LenientParseFailure> {
        let start = self.at;
        let Some((first, quotes)) = self.peek().and_then(|first| Some((first, Quote::opened_by(first)?)))
        else {
            return self.syntax("expected a string");
        };
        if quotes != Quote::Double {
            self.repairs.note(Repair::Quotes);
        }
        self.advance(first);
        let mut text = String::new();
        let mut path = PathState::at_start(self.rest());
        if path == PathState::Server {
            self.repairs.note(Repair::WindowsPath);
            text.push_str("\\\\");
            self.at += 2;
        }
        loop {
            let Some(character) = self.peek() else {
                let begin = quote(self.text.get(start + first.len_utf8()..).unwrap_or_default());
                return self.truncated(format!("inside the string that starts with \"{begin}\""));
            };
            if character == '\\' {
                path = path.at_backslash(&text, self.rest());
                self.escape(&mut text, path, (quotes, place))?;
                continue;
            }
            if quotes.closed_by(character) {
                match self.closes(character, place) {
                    StringClosure::Yes => {
                        self.advance(character);
                        return Ok(text);
                    }
                    StringClosure::No => self.repairs.note(Repair::InnerQuote),
                    StringClosure::Unclear => {
                        return self.syntax(
                            "escape quotes inside a string as \\\", and end a string before the next key",
                        );
                    }
                }
            } else if character.is_control() {
                self.repairs.note(Repair::RawControl);
            }
            path = path.at_text(character);
            text.push(character);
            self.advance(character);
        }
    }

    /// Decides if the quote here ends the string, by the text that follows.
    fn closes(&self, character: char, place: StringPosition) -> StringClosure {
        let Some(all) = self.rest().get(character.len_utf8()..) else { return StringClosure::Yes };
        let after = prefix(all);
        let space = skip_space(after);
        let next = after.get(space.length..).unwrap_or_default();
        let follows = next.chars().next();
        if follows.is_none() && after.len() < all.len() {
            return StringClosure::Unclear;
        }
        if follows.is_none() || next.starts_with("```") {
            return StringClosure::Yes;
        }
        let is_colon = matches!(follows, Some(':' | '：'));
        let line_break = after.get(..space.length).is_some_and(|text| text.contains('\n'));
        match (place, follows) {
            (StringPosition::Key, _) => StringClosure::Yes,
            (StringPosition::Member | StringPosition::Item, _) if is_colon => StringClosure::Unclear,
            (_, Some('}' | ']')) => StringClosure::Yes,
            (StringPosition::Member, Some(comma @ (',' | '，'))) => {
                let member = next.get(comma.len_utf8()..).unwrap_or_default();
                let member = member.get(skip_space(member).length..).unwrap_or_default();
                let ends = member.is_empty() || member.starts_with(['}', ']']);
                if ends || starts_with_key(member) { StringClosure::Yes } else { StringClosure::No }
            }
            (StringPosition::Item, Some(comma @ (',' | '，'))) => {
                let item = next.get(comma.len_utf8()..).unwrap_or_default();
                let item = item.get(skip_space(item).length..).unwrap_or_default();
                if starts_with_value(item) { StringClosure::Yes } else { StringClosure::No }
            }
            (StringPosition::Member, Some(_)) if line_break && starts_with_key(next) => StringClosure::Yes,
            (StringPosition::Item, Some(_)) if line_break && next.starts_with(character) => {
                StringClosure::Yes
            }
            _ => StringClosure::No,
        }
    }

    /// Reads an escape sequence.
    fn escape(
        &mut self,
        text: &mut String,
        path: PathState,
        (quotes, place): (Quote, StringPosition),
    ) -> Result<(), LenientParseFailure> {
        self.advance('\\');
        let Some(character) = self.peek() else { return self.truncated("after a backslash") };
        if character == '\\' {
            self.advance(character);
            text.push('\\');
            return Ok(());
        }
        if quotes.closed_by(character) {
            if path.is_literal() && self.closes(character, place) == StringClosure::Yes {
                // `"C:\temp\"`: the quote ends the string, the backslash is part of the path.
                self.repairs.note(Repair::WindowsPath);
                text.push('\\');
                return Ok(());
            }
            self.advance(character);
            text.push(character);
            return Ok(());
        }
        if path.is_literal() {
            self.repairs.note(Repair::WindowsPath);
            text.push('\\');
            return Ok(());
        }
        let plain = match character {
            '"' | '/' => character,
            '\'' => {
                self.repairs.note(Repair::Backslash);
                '\''
            }
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => match unicode_escape(self.rest()) {
                Some((decoded, length)) => {
                    self.at += length;
                    text.push(decoded);
                    return Ok(());
                }
                None => return self.keep_backslash(text),
            },
            _ => return self.keep_backslash(text),
        };
        self.advance(character);
        text.push(plain);
        Ok(())
    }

    fn keep_backslash(&mut self, text: &mut String) -> Result<(), LenientParseFailure> {
        self.repairs.note(Repair::Backslash);
        text.push('\\');
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringClosure {
    Yes,
    No,
    /// Either the end of this string or the start of the next key.
    Unclear,
}

/// Decodes `uXXXX` and, for a surrogate pair, the second unit. Returns the character and the bytes read.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| -> Option<u32> {
        let digits = text.get(at..at + 4)?;
        let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        all_hex.then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let first = unit(1)?;
    if !(0xd800..0xdc00).contains(&first) {
        // A lone surrogate becomes the replacement character.
        return Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 5));
    }
    let second = text.get(5..7).filter(|mark| *mark == "\\u").and_then(|_| unit(7));
    match second {
        Some(low) if (0xdc00..0xe000).contains(&low) => {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
            Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11))
        }
        _ => Some((char::REPLACEMENT_CHARACTER, 5)),
    }
}

//! The repairs made while reading JSON.

use std::fmt;

/// A repair that was needed to read a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Repair {
    /// A byte order mark was removed.
    ByteOrderMark,
    /// A `<think>` block was skipped.
    Reasoning,
    /// Prose or code fences around the object were skipped.
    Surroundings,
    /// There were several objects; the last was taken.
    SeveralObjects,
    /// Comments were skipped.
    Comment,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// A comma between two members was added.
    MissingComma,
    /// A full-width colon or comma was read as the ASCII one.
    WidePunctuation,
    /// Single or typographic quotes were read as double quotes.
    Quotes,
    /// An unquoted key was accepted.
    UnquotedKey,
    /// `True`, `False`, `None` and the like were read as `true`, `false` and `null`.
    ForeignLiteral,
    /// Literal line breaks and tabs inside a string were kept.
    RawControl,
    /// A backslash that starts no valid escape was kept.
    Backslash,
    /// Backslashes inside a Windows path were kept: `C:\temp\new` has no tab and no line break. In a string that
    /// starts with a drive and a single backslash (`"C:\temp"`) or with a server path (`"\\server\share"`), this
    /// applies to the whole string; elsewhere to the end of the word. Strict JSON is corrected too if a whole string
    /// is a path (two parts or an extension) with a control character after its drive letter. Drives A, B and Q are
    /// excluded there, because `Q:` and `A:` start questions and answers.
    WindowsPath,
    /// An unescaped quote inside a string was kept, because the string could not end there.
    InnerQuote,
    /// Missing closing brackets were added.
    MissingCloser,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ByteOrderMark => "byte order mark removed",
            Self::Reasoning => "reasoning skipped",
            Self::Surroundings => "text around the object skipped",
            Self::SeveralObjects => "last of several objects taken",
            Self::Comment => "comments skipped",
            Self::TrailingComma => "trailing comma dropped",
            Self::MissingComma => "missing comma added",
            Self::WidePunctuation => "full-width punctuation read as ASCII",
            Self::Quotes => "non-JSON quotes accepted",
            Self::UnquotedKey => "unquoted key accepted",
            Self::ForeignLiteral => "non-JSON literal accepted",
            Self::RawControl => "literal line break or tab in a string kept",
            Self::Backslash => "unescaped backslash kept",
            Self::WindowsPath => "backslashes of a Windows path kept",
            Self::InnerQuote => "unescaped quote in a string kept",
            Self::MissingCloser => "missing closing bracket added",
        })
    }
}

/// A set of repairs in insertion order.
#[derive(Debug, Clone, Default)]
pub(super) struct Repairs(Vec<Repair>);

impl Repairs {
    pub(super) fn note(&mut self, repair: Repair) {
        if !self.0.contains(&repair) {
            self.0.push(repair);
        }
    }

    pub(super) fn extend(&mut self, others: Self) {
        for repair in others.0 {
            self.note(repair);
        }
    }

    pub(super) fn into_vec(self) -> Vec<Repair> {
        self.0
    }
}

//! Backslashes of Windows paths; see [`Repair::WindowsPath`](super::Repair::WindowsPath).

use serde_json::Value;

/// Restores backslashes of paths that strict JSON read as control characters; see [`Repair::WindowsPath`].
/// Returns whether there were any.
pub(super) fn restore_paths(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match misread_path(text) {
            Some(path) => {
                *text = path;
                true
            }
            None => false,
        },
        Value::Array(items) => restore_all(items.iter_mut()),
        Value::Object(members) => restore_all(members.values_mut()),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn restore_all<'value>(values: impl Iterator<Item = &'value mut Value>) -> bool {
    // All of them: `any` would stop at the first.
    values.filter_map(|value| restore_paths(value).then_some(())).count() > 0
}

/// The path that `text` was before its backslashes were read as escapes.
fn misread_path(text: &str) -> Option<String> {
    let mut characters = text.chars();
    let drive = characters.next().filter(char::is_ascii_alphabetic)?;
    if matches!(drive.to_ascii_uppercase(), 'A' | 'B' | 'Q') || characters.next() != Some(':') {
        return None;
    }
    let mut path = format!("{drive}:");
    let mut first = true;
    for character in characters {
        let letter = match character {
            '\t' => Some('t'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            _ if first => return None,
            _ => None,
        };
        first = false;
        match letter {
            Some(letter) => path.extend(['\\', letter]),
            None if character.is_control() || "/:*?\"<>|".contains(character) => return None,
            None => path.push(character),
        }
    }
    let (parents, name) = path.rsplit_once('\\')?;
    let has_extension = name.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=5).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let empty_part = path.contains("\\\\");
    (!empty_part && (parents.contains('\\') || has_extension)).then_some(path)
}

/// Parser state that decides if backslashes are part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathState {
    /// At the start of a string.
    Start,
    /// In text.
    Text,
    /// The whole string is a path: `C:\…`.
    Drive,
    /// The whole string is a path: `\\server\…`.
    Server,
    /// A path within text; ends with the word.
    Word,
}

impl PathState {
    pub(super) fn at_start(content: &str) -> Self {
        let server = content.strip_prefix("\\\\").and_then(|rest| {
            let name =
                rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
            let share = name.strip_prefix('\\')?;
            Some(
                rest.starts_with(char::is_alphanumeric)
                    && share.starts_with(|c: char| c.is_alphanumeric() || c == '$'),
            )
        });
        if server == Some(true) { Self::Server } else { Self::Start }
    }

    pub(super) const fn is_literal(self) -> bool {
        matches!(self, Self::Drive | Self::Server | Self::Word)
    }

    /// The state at a backslash: `before` is the text so far, `rest` starts with the backslash.
    pub(super) fn at_backslash(self, before: &str, rest: &str) -> Self {
        if self.is_literal() || rest.starts_with("\\\\") {
            return self;
        }
        let mut backwards = before.chars().rev();
        let drive =
            backwards.next() == Some(':') && backwards.next().is_some_and(|c| c.is_ascii_alphabetic());
        match (drive, backwards.next()) {
            (true, None) => Self::Drive,
            (true, Some(c)) if !c.is_alphanumeric() => Self::Word,
            _ => self,
        }
    }

    pub(super) fn at_text(self, character: char) -> Self {
        match self {
            Self::Word if character.is_whitespace() || "\"'<>|,;()".contains(character) => Self::Text,
            Self::Start => Self::Text,
            Self::Text | Self::Drive | Self::Server | Self::Word => self,
        }
    }
}

//! Key chords in the usual notation. The same value is judged and pressed.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A modifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyModifier {
    /// Control.
    Ctrl,
    /// Shift.
    Shift,
    /// Alt.
    Alt,
    /// The Windows or Command key.
    Super,
}

/// A key that does not produce a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those printed on the keys")]
pub enum NamedKey {
    Return,
    Tab,
    Escape,
    Space,
    BackSpace,
    Delete,
    Insert,
    Home,
    End,
    PageUp,
    PageDown,
    Left,
    Right,
    Up,
    Down,
    Menu,
    /// `F1` to `F24`.
    F(u8),
}

/// The key of a chord.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChordKey {
    /// A key by name.
    Named(NamedKey),
    /// The key that produces this character.
    Char(char),
}

/// Some modifiers and one key: `ctrl+shift+s`, `F2`, `alt+Return`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyChord {
    /// The modifiers, in the order in which they are pressed; each at most once.
    pub modifiers: Vec<KeyModifier>,
    /// The key.
    pub key: ChordKey,
}

/// A chord that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a key chord; write modifiers (ctrl, shift, alt, super) and one key joined by `+`, such as \
     `ctrl+s`, `alt+F4`, `Return`, `Page_Down`"
)]
pub struct ParseChordError(pub String);

const NAMES: &[(&str, NamedKey)] = &[
    ("return", NamedKey::Return),
    ("enter", NamedKey::Return),
    ("tab", NamedKey::Tab),
    ("escape", NamedKey::Escape),
    ("esc", NamedKey::Escape),
    ("space", NamedKey::Space),
    ("backspace", NamedKey::BackSpace),
    ("delete", NamedKey::Delete),
    ("del", NamedKey::Delete),
    ("insert", NamedKey::Insert),
    ("home", NamedKey::Home),
    ("end", NamedKey::End),
    ("pageup", NamedKey::PageUp),
    ("pagedown", NamedKey::PageDown),
    ("left", NamedKey::Left),
    ("right", NamedKey::Right),
    ("up", NamedKey::Up),
    ("down", NamedKey::Down),
    ("menu", NamedKey::Menu),
];

fn parse_key(text: &str) -> Option<ChordKey> {
    let mut characters = text.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Some(ChordKey::Char(only));
    }
    let folded: String = text.to_lowercase().chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    if let Some((_, key)) = NAMES.iter().find(|(name, _)| *name == folded) {
        return Some(ChordKey::Named(*key));
    }
    let number: u8 = folded.strip_prefix('f')?.parse().ok()?;
    (1..=24).contains(&number).then_some(ChordKey::Named(NamedKey::F(number)))
}

/// A modifier that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown modifier key `{0}`; use ctrl, shift, alt or super")]
pub struct ParseModifierError(pub String);

impl FromStr for KeyModifier {
    type Err = ParseModifierError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().to_lowercase().as_str() {
            "ctrl" | "control" => Ok(Self::Ctrl),
            "shift" => Ok(Self::Shift),
            "alt" => Ok(Self::Alt),
            "super" | "win" | "meta" | "cmd" => Ok(Self::Super),
            _ => Err(ParseModifierError(text.to_owned())),
        }
    }
}

impl fmt::Display for KeyModifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ctrl => "ctrl",
            Self::Shift => "shift",
            Self::Alt => "alt",
            Self::Super => "super",
        })
    }
}

/// The key without modifiers.
impl From<NamedKey> for KeyChord {
    fn from(key: NamedKey) -> Self {
        Self { modifiers: Vec::new(), key: ChordKey::Named(key) }
    }
}

impl FromStr for KeyChord {
    type Err = ParseChordError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseChordError(text.to_owned());
        let trimmed = text.trim();
        // `ctrl++` and `+` mean the plus key.
        let (head, key) = match trimmed.strip_suffix('+') {
            Some("") => ("", "+"),
            Some(head) => (head.strip_suffix('+').ok_or_else(error)?, "+"),
            None => trimmed.rsplit_once('+').unwrap_or(("", trimmed)),
        };
        let mut modifiers = Vec::new();
        for name in head.split('+').filter(|name| !name.is_empty()) {
            let modifier = name.parse().map_err(|_| error())?;
            if !modifiers.contains(&modifier) {
                modifiers.push(modifier);
            }
        }
        let key = parse_key(key.trim()).ok_or_else(error)?;
        Ok(Self { modifiers, key })
    }
}

impl KeyChord {
    /// The same chord in the form in which it is pressed: the modifiers in one order, since which of them is pressed first makes
    /// no difference, and letters in lower case. `ctrl+S` is what menus call Ctrl+S, without Shift; `S` alone is `shift+s`.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        if let ChordKey::Char(character) = self.key {
            let mut lower = character.to_lowercase();
            if let (Some(lower), None) = (lower.next(), lower.next())
                && lower != character
            {
                self.key = ChordKey::Char(lower);
                let folds = self.modifiers.iter().any(|modifier| *modifier != KeyModifier::Shift);
                if !folds && !self.modifiers.contains(&KeyModifier::Shift) {
                    self.modifiers.push(KeyModifier::Shift);
                }
            }
        }
        self.modifiers.sort_unstable();
        self
    }
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in &self.modifiers {
            write!(f, "{modifier}+")?;
        }
        match self.key {
            ChordKey::Named(NamedKey::F(number)) => write!(f, "F{number}"),
            ChordKey::Named(named) => write!(f, "{named:?}"),
            ChordKey::Char(character) => write!(f, "{character}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_parsed_in_the_usual_notation() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<KeyChord>().unwrap().to_string(), expected, "{text}");
        };
        check("ctrl+s", "ctrl+s");
        check("Control + Shift + S", "ctrl+shift+S");
        check("ctrl++", "ctrl++");
        check("+", "+");
        check("enter", "Return");
        check("Page_Down", "PageDown");
        check("alt+f4", "alt+F4");
        check("é", "é");
        for wrong in ["", "ctrl+", "hyper+a", "ctrl+nokey", "F25"] {
            assert!(wrong.parse::<KeyChord>().is_err(), "{wrong}");
        }
    }
}

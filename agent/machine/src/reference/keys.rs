//! The reference's key syntax: `{VK_CONTROL}c`, `{TAB 2}`, `^s`, `hello{ENTER}`.
//!
//! Text is literal. Key names are in braces, with or without `VK_`; a number after a name repeats it. A modifier in
//! braces applies to the key that follows, `{VK_CONTROL down}` to all keys until `{VK_CONTROL up}`. `^`, `+` and `%`
//! are Control, Shift and Alt for the key or the parentheses that follow, `~` is Enter; in braces (`{+}`) they are
//! literal.

use std::{iter::Peekable, str::Chars};

/// The most keys in one call; the same as in `press_keys`.
const KEYS_MAX: usize = 64;
/// The most parts in one call; each becomes an action.
const PARTS_MAX: usize = 12;

/// One part of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeySequenceItem {
    /// Types text.
    Text(String),
    /// Presses chords in the syntax of `press_keys`.
    Chords(Vec<String>),
}

/// A modifier; the order is that in chords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ReferenceModifier {
    Ctrl,
    Shift,
    Alt,
    Super,
}

/// Key names; the last column is the name in a chord.
const KEYS: &[(&[&str], &str)] = &[
    (&["ENTER", "RETURN"], "Return"),
    (&["TAB"], "Tab"),
    (&["ESC", "ESCAPE"], "Escape"),
    (&["SPACE"], "Space"),
    (&["BACK", "BACKSPACE", "BKSP", "BS"], "BackSpace"),
    (&["DEL", "DELETE"], "Delete"),
    (&["INS", "INSERT"], "Insert"),
    (&["HOME"], "Home"),
    (&["END"], "End"),
    (&["PGUP", "PAGEUP", "PAGE_UP", "PRIOR"], "PageUp"),
    (&["PGDN", "PAGEDOWN", "PAGE_DOWN", "NEXT"], "PageDown"),
    (&["LEFT"], "Left"),
    (&["RIGHT"], "Right"),
    (&["UP"], "Up"),
    (&["DOWN"], "Down"),
    (&["APPS"], "Menu"),
];

const MODIFIERS: &[(&[&str], ReferenceModifier)] = &[
    (&["CONTROL", "LCONTROL", "RCONTROL", "CTRL"], ReferenceModifier::Ctrl),
    (&["SHIFT", "LSHIFT", "RSHIFT"], ReferenceModifier::Shift),
    (&["MENU", "LMENU", "RMENU", "ALT"], ReferenceModifier::Alt),
    (&["LWIN", "RWIN", "WIN"], ReferenceModifier::Super),
];

/// Parses a sequence of keys.
///
/// # Errors
/// If the sequence is invalid; the message shows the correct syntax.
pub(super) fn parse(keys: &str) -> Result<Vec<KeySequenceItem>, String> {
    let mut reader = KeySequenceParser { rest: keys.chars().peekable(), parts: Vec::new(), held: Vec::new() };
    reader.sequence(&[])?;
    if let Some(modifier) = reader.held.first() {
        let name = modifier.name();
        return Err(format!("{{{name} down}} is never released; add {{{name} up}}"));
    }
    let keys: usize = reader
        .parts
        .iter()
        .map(|part| if let KeySequenceItem::Chords(chords) = part { chords.len() } else { 0 })
        .sum();
    if keys > KEYS_MAX || reader.parts.len() > PARTS_MAX {
        return Err(format!(
            "{keys} keys in {} parts are too many; the limit is {KEYS_MAX} keys in {PARTS_MAX} parts: split the call",
            reader.parts.len()
        ));
    }
    if reader.parts.is_empty() {
        return Err("no keys; write text, or names such as {ENTER} and {VK_CONTROL}c".to_owned());
    }
    Ok(reader.parts)
}

impl ReferenceModifier {
    const fn name(self) -> &'static str {
        match self {
            Self::Ctrl => "VK_CONTROL",
            Self::Shift => "VK_SHIFT",
            Self::Alt => "VK_MENU",
            Self::Super => "VK_LWIN",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Ctrl => "ctrl",
            Self::Shift => "shift",
            Self::Alt => "alt",
            Self::Super => "super",
        }
    }
}

/// A name in braces.
enum BracedKey {
    Key { name: String, times: usize },
    Character { character: char, times: usize },
    Modifier(ReferenceModifier),
    Down(ReferenceModifier),
    Up(ReferenceModifier),
}

struct KeySequenceParser<'a> {
    rest: Peekable<Chars<'a>>,
    parts: Vec<KeySequenceItem>,
    /// Modifiers held until they are released.
    held: Vec<ReferenceModifier>,
}

impl KeySequenceParser<'_> {
    /// Reads to the end, or to the closing parenthesis of a group with the modifiers `around`.
    fn sequence(&mut self, around: &[ReferenceModifier]) -> Result<(), String> {
        let mut next: Vec<ReferenceModifier> = Vec::new();
        loop {
            let Some(character) = self.rest.next() else {
                return match (next.first(), around.is_empty()) {
                    (Some(modifier), _) => Err(format!(
                        "{} is not followed by a key; write a literal sign in braces, such as {{+}}",
                        modifier.name()
                    )),
                    (None, true) => Ok(()),
                    (None, false) => Err("missing `)`".to_owned()),
                };
            };
            let prefix = match character {
                '^' => Some(ReferenceModifier::Ctrl),
                '+' => Some(ReferenceModifier::Shift),
                '%' => Some(ReferenceModifier::Alt),
                _ => None,
            };
            if let Some(modifier) = prefix {
                next.push(modifier);
                continue;
            }
            let all: Vec<ReferenceModifier> = around.iter().chain(&next).chain(&self.held).copied().collect();
            match character {
                ')' if !around.is_empty() && next.is_empty() => return Ok(()),
                '(' if !next.is_empty() => self.sequence(&all)?,
                '{' => match self.named()? {
                    BracedKey::Modifier(modifier) => {
                        next.push(modifier);
                        continue;
                    }
                    BracedKey::Down(modifier) => self.held.push(modifier),
                    BracedKey::Up(modifier) => match self.held.iter().position(|held| *held == modifier) {
                        Some(at) => {
                            self.held.remove(at);
                        }
                        None => {
                            let name = modifier.name();
                            return Err(format!("{{{name} up}} without a preceding {{{name} down}}"));
                        }
                    },
                    BracedKey::Key { name, times } => (0..times).for_each(|_| self.chord(&all, &name)),
                    BracedKey::Character { character, times } => {
                        (0..times).for_each(|_| self.character(&all, character));
                    }
                },
                '}' => return Err("`}` without `{`; write a literal brace as {}}".to_owned()),
                '~' | '\n' => self.chord(&all, "Return"),
                '\t' => self.chord(&all, "Tab"),
                '\r' => {}
                character => self.character(&all, character),
            }
            next.clear();
        }
    }

    /// Reads a name in braces after the opening brace.
    fn named(&mut self) -> Result<BracedKey, String> {
        let mut inside = String::new();
        loop {
            match self.rest.next() {
                // `{}}` and `{} 3}` are the literal brace.
                Some('}')
                    if !inside.is_empty() || self.rest.peek().is_none_or(|next| !"} ".contains(*next)) =>
                {
                    break;
                }
                Some(character) => inside.push(character),
                None => return Err(format!("`{{{inside}` has no closing `}}`")),
            }
        }
        let (name, rest) = match inside.trim_end().split_once(' ') {
            Some((name, rest)) => (name, rest.trim()),
            None => (inside.trim_end(), ""),
        };
        let unknown = |what: &str| {
            format!(
                "`{{{inside}}}` {what}; write a name such as {{ENTER}}, {{VK_CONTROL}}, {{F2}}, or {{TAB 3}}"
            )
        };
        let folded = name.to_uppercase();
        let folded = folded.strip_prefix("VK_").unwrap_or(&folded);
        if let Some((_, modifier)) = MODIFIERS.iter().find(|(names, _)| names.contains(&folded)) {
            return match rest.to_lowercase().as_str() {
                "" => Ok(BracedKey::Modifier(*modifier)),
                "down" => Ok(BracedKey::Down(*modifier)),
                "up" => Ok(BracedKey::Up(*modifier)),
                _ => Err(unknown("is a modifier; it can only be followed by `down` or `up`")),
            };
        }
        let times = match rest {
            "" => 1,
            digits => digits
                .parse()
                .ok()
                .filter(|times| (1..=KEYS_MAX).contains(times))
                .ok_or_else(|| unknown(&format!("has an invalid repeat count (1 to {KEYS_MAX})")))?,
        };
        let mut characters = name.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            return Ok(BracedKey::Character { character, times });
        }
        let mut characters = folded.chars();
        if let (Some(character @ ('A'..='Z' | '0'..='9')), None) = (characters.next(), characters.next()) {
            return Ok(BracedKey::Character { character: character.to_ascii_lowercase(), times });
        }
        let function = |digits: &str| digits.parse().is_ok_and(|number: u8| (1..=24).contains(&number));
        let key = match KEYS.iter().find(|(names, _)| names.contains(&folded)) {
            Some((_, key)) => (*key).to_owned(),
            None if folded.strip_prefix('F').is_some_and(function) => folded.to_owned(),
            None => return Err(unknown("is not a key")),
        };
        Ok(BracedKey::Key { name: key, times })
    }

    fn character(&mut self, modifiers: &[ReferenceModifier], character: char) {
        if !modifiers.is_empty() {
            let name = if character == ' ' { "Space".to_owned() } else { character.to_string() };
            self.chord(modifiers, &name);
        } else if let Some(KeySequenceItem::Text(text)) = self.parts.last_mut() {
            text.push(character);
        } else {
            self.parts.push(KeySequenceItem::Text(character.to_string()));
        }
    }

    fn chord(&mut self, modifiers: &[ReferenceModifier], key: &str) {
        let mut modifiers = modifiers.to_vec();
        modifiers.sort_unstable();
        modifiers.dedup();
        let mut chord = String::new();
        for modifier in modifiers {
            chord.push_str(modifier.word());
            chord.push('+');
        }
        chord.push_str(key);
        if let Some(KeySequenceItem::Chords(chords)) = self.parts.last_mut() {
            chords.push(chord);
        } else {
            self.parts.push(KeySequenceItem::Chords(vec![chord]));
        }
    }
}

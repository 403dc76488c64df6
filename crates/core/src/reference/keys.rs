//! The reference's way to write keys: `{VK_CONTROL}c`, `{TAB 2}`, `^s`, `hello{ENTER}`.
//!
//! Text stands for itself. Names stand in braces, with or without `VK_`, and a number behind a name repeats it. A modifier
//! in braces holds for the key that follows, `{VK_CONTROL down}` for all keys until `{VK_CONTROL up}`. `^`, `+` and `%`
//! are Control, Shift and Alt for the key or the parentheses that follow, `~` is Enter; in braces, `{+}`, they
//! stand for themselves.

use std::{iter::Peekable, str::Chars};

/// The most keys of one call, as `press_keys` has it.
const KEYS_MAX: usize = 64;
/// The most parts of one call: each is an action of its own.
const PARTS_MAX: usize = 12;

/// What one part of a sequence does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text is typed.
    Text(String),
    /// Chords are pressed, as `press_keys` reads them.
    Chords(Vec<String>),
}

/// A modifier, in the order in which chords name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Modifier {
    Ctrl,
    Shift,
    Alt,
    Super,
}

/// The names of keys; the last column is how a chord names it.
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

const MODIFIERS: &[(&[&str], Modifier)] = &[
    (&["CONTROL", "LCONTROL", "RCONTROL", "CTRL"], Modifier::Ctrl),
    (&["SHIFT", "LSHIFT", "RSHIFT"], Modifier::Shift),
    (&["MENU", "LMENU", "RMENU", "ALT"], Modifier::Alt),
    (&["LWIN", "RWIN", "WIN"], Modifier::Super),
];

/// Reads a sequence of keys.
///
/// # Errors
/// What is wrong with it, and how it is written.
pub(super) fn parse(keys: &str) -> Result<Vec<Part>, String> {
    let mut reader = Reader { rest: keys.chars().peekable(), parts: Vec::new(), held: Vec::new() };
    reader.sequence(&[])?;
    if let Some(modifier) = reader.held.first() {
        let name = modifier.name();
        return Err(format!("{{{name} down}} is never released; write {{{name} up}} where it shall be"));
    }
    let keys: usize =
        reader.parts.iter().map(|part| if let Part::Chords(chords) = part { chords.len() } else { 0 }).sum();
    if keys > KEYS_MAX || reader.parts.len() > PARTS_MAX {
        return Err(format!(
            "{keys} keys in {} parts are too many; at most {KEYS_MAX} keys in {PARTS_MAX} parts: split them",
            reader.parts.len()
        ));
    }
    if reader.parts.is_empty() {
        return Err(
            "there is no key in it; write text, or names such as {ENTER} and {VK_CONTROL}c".to_owned()
        );
    }
    Ok(reader.parts)
}

impl Modifier {
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

/// What stands in braces.
enum Named {
    Key { name: String, times: usize },
    Character { character: char, times: usize },
    Modifier(Modifier),
    Down(Modifier),
    Up(Modifier),
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    parts: Vec<Part>,
    /// Modifiers that are held down until they are released.
    held: Vec<Modifier>,
}

impl Reader<'_> {
    /// Reads to the end, or to the closing parenthesis of a group that `around` holds for.
    fn sequence(&mut self, around: &[Modifier]) -> Result<(), String> {
        let mut next: Vec<Modifier> = Vec::new();
        loop {
            let Some(character) = self.rest.next() else {
                return match (next.first(), around.is_empty()) {
                    (Some(modifier), _) => Err(format!(
                        "{} has no key behind it; a sign that stands for itself is written in braces, such as {{+}}",
                        modifier.name()
                    )),
                    (None, true) => Ok(()),
                    (None, false) => Err("a parenthesis is not closed".to_owned()),
                };
            };
            let prefix = match character {
                '^' => Some(Modifier::Ctrl),
                '+' => Some(Modifier::Shift),
                '%' => Some(Modifier::Alt),
                _ => None,
            };
            if let Some(modifier) = prefix {
                next.push(modifier);
                continue;
            }
            let all: Vec<Modifier> = around.iter().chain(&next).chain(&self.held).copied().collect();
            match character {
                ')' if !around.is_empty() && next.is_empty() => return Ok(()),
                '(' if !next.is_empty() => self.sequence(&all)?,
                '{' => match self.named()? {
                    Named::Modifier(modifier) => {
                        next.push(modifier);
                        continue;
                    }
                    Named::Down(modifier) => self.held.push(modifier),
                    Named::Up(modifier) => match self.held.iter().position(|held| *held == modifier) {
                        Some(at) => {
                            self.held.remove(at);
                        }
                        None => {
                            let name = modifier.name();
                            return Err(format!("{{{name} up}} without a {{{name} down}} before it"));
                        }
                    },
                    Named::Key { name, times } => (0..times).for_each(|_| self.chord(&all, &name)),
                    Named::Character { character, times } => {
                        (0..times).for_each(|_| self.character(&all, character));
                    }
                },
                '}' => return Err("`}` without `{`; the sign itself is written {}}".to_owned()),
                '~' | '\n' => self.chord(&all, "Return"),
                '\t' => self.chord(&all, "Tab"),
                '\r' => {}
                character => self.character(&all, character),
            }
            next.clear();
        }
    }

    /// What stands in braces, whose first was read.
    fn named(&mut self) -> Result<Named, String> {
        let mut inside = String::new();
        loop {
            match self.rest.next() {
                // `{}}` and `{} 3}` mean the brace itself.
                Some('}')
                    if !inside.is_empty() || self.rest.peek().is_none_or(|next| !"} ".contains(*next)) =>
                {
                    break;
                }
                Some(character) => inside.push(character),
                None => return Err(format!("`{{{inside}` is not closed by `}}`")),
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
                "" => Ok(Named::Modifier(*modifier)),
                "down" => Ok(Named::Down(*modifier)),
                "up" => Ok(Named::Up(*modifier)),
                _ => Err(unknown("is a modifier, which is only held `down` or let `up`")),
            };
        }
        let times = match rest {
            "" => 1,
            digits => {
                digits.parse().ok().filter(|times| (1..=KEYS_MAX).contains(times)).ok_or_else(|| {
                    unknown(&format!("says neither how often, 1 to {KEYS_MAX}, nor anything else"))
                })?
            }
        };
        let mut characters = name.chars();
        if let (Some(character), None) = (characters.next(), characters.next()) {
            return Ok(Named::Character { character, times });
        }
        let mut characters = folded.chars();
        if let (Some(character @ ('A'..='Z' | '0'..='9')), None) = (characters.next(), characters.next()) {
            return Ok(Named::Character { character: character.to_ascii_lowercase(), times });
        }
        let function = |digits: &str| digits.parse().is_ok_and(|number: u8| (1..=24).contains(&number));
        let key = match KEYS.iter().find(|(names, _)| names.contains(&folded)) {
            Some((_, key)) => (*key).to_owned(),
            None if folded.strip_prefix('F').is_some_and(function) => folded.to_owned(),
            None => return Err(unknown("is no key")),
        };
        Ok(Named::Key { name: key, times })
    }

    fn character(&mut self, modifiers: &[Modifier], character: char) {
        if !modifiers.is_empty() {
            let name = if character == ' ' { "Space".to_owned() } else { character.to_string() };
            self.chord(modifiers, &name);
        } else if let Some(Part::Text(text)) = self.parts.last_mut() {
            text.push(character);
        } else {
            self.parts.push(Part::Text(character.to_string()));
        }
    }

    fn chord(&mut self, modifiers: &[Modifier], key: &str) {
        let mut modifiers = modifiers.to_vec();
        modifiers.sort_unstable();
        modifiers.dedup();
        let mut chord = String::new();
        for modifier in modifiers {
            chord.push_str(modifier.word());
            chord.push('+');
        }
        chord.push_str(key);
        if let Some(Part::Chords(chords)) = self.parts.last_mut() {
            chords.push(chord);
        } else {
            self.parts.push(Part::Chords(vec![chord]));
        }
    }
}

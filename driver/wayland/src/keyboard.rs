//! The keyboard that is ours: a keymap of the US layout with further keys for the symbols that it lacks.
//!
//! A virtual keyboard brings its own keymap. The compositor sends it to the application before the keys that are pressed with it, in one
//! order, so a key always means what it meant when it was pressed, whatever the layout of the person's keyboard.

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use deskhand_desktop::keys::{ChordKey, KeyChord, KeyModifier, NamedKey};

/// The evdev code of the first further key, and how many there are: beyond those that Linux names.
const FURTHER_FIRST: u32 = 600;
const FURTHER_MAX: usize = 150;
/// The offset from evdev codes to those of xkb.
const XKB: u32 = 8;

/// The characters of the US layout: plain, then with Shift, by row, each with the code of the first key of the row.
const ROWS: [(u32, &str, &str); 5] = [
    (2, "1234567890-=", "!@#$%^&*()_+"),
    (16, "qwertyuiop[]", "QWERTYUIOP{}"),
    (30, "asdfghjkl;'`", "ASDFGHJKL:\"~"),
    (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
    (57, " ", " "),
];

/// The keysyms of keys that have a name instead of a character (`X11/keysymdef.h`), by the code of the key.
const NAMED: [(u32, u32); 27] = [
    (28, 0xff0d),
    (15, 0xff09),
    (1, 0xff1b),
    (14, 0xff08),
    (111, 0xffff),
    (110, 0xff63),
    (102, 0xff50),
    (107, 0xff57),
    (104, 0xff55),
    (109, 0xff56),
    (105, 0xff51),
    (106, 0xff53),
    (103, 0xff52),
    (108, 0xff54),
    (127, 0xff67),
    (59, F1),
    (60, F1 + 1),
    (61, F1 + 2),
    (62, F1 + 3),
    (63, F1 + 4),
    (64, F1 + 5),
    (65, F1 + 6),
    (66, F1 + 7),
    (67, F1 + 8),
    (68, F1 + 9),
    (87, F1 + 10),
    (88, F1 + 11),
];
const F1: u32 = 0xffbe;

/// A symbol to type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// A key that every keyboard has: its evdev code, and whether Shift is held.
    Plain(u32, bool),
    /// A character that the US layout lacks.
    Further(char),
    /// `F13` to `F24`, which the usual keymap gives to other functions.
    Function(u8),
}

impl Symbol {
    /// The symbol of a character; `None` for control characters other than Return and Tab.
    pub fn of(character: char) -> Option<Self> {
        match character {
            '\n' => return Some(Self::Plain(28, false)),
            '\t' => return Some(Self::Plain(15, false)),
            _ if character.is_control() => return None,
            _ => {}
        }
        let on_row = |(first, plain, shifted): &(u32, &str, &str)| {
            let place = |row: &str| row.chars().position(|known| known == character);
            let code = |place: usize| first.saturating_add(u32::try_from(place).unwrap_or(0));
            let plain = place(plain).map(|place| Self::Plain(code(place), false));
            plain.or_else(|| place(shifted).map(|place| Self::Plain(code(place), true)))
        };
        Some(ROWS.iter().find_map(on_row).unwrap_or(Self::Further(character)))
    }

    /// The symbol of the key of a chord. With Ctrl, Alt or Super the case of a letter does not matter: people write `ctrl+S` for what
    /// menus call Ctrl+S.
    pub(crate) fn of_key(chord: &KeyChord) -> Option<Self> {
        let named = match chord.key {
            ChordKey::Char(character) => {
                let folds = chord.modifiers.iter().any(|modifier| *modifier != KeyModifier::Shift);
                let mut lower = character.to_lowercase();
                let character = match (folds, lower.next(), lower.next()) {
                    (true, Some(lower), None) => lower,
                    _ => character,
                };
                return Self::of(character);
            }
            ChordKey::Named(named) => named,
        };
        let code = match named {
            NamedKey::Return => 28,
            NamedKey::Tab => 15,
            NamedKey::Escape => 1,
            NamedKey::Space => 57,
            NamedKey::BackSpace => 14,
            NamedKey::Delete => 111,
            NamedKey::Insert => 110,
            NamedKey::Home => 102,
            NamedKey::End => 107,
            NamedKey::PageUp => 104,
            NamedKey::PageDown => 109,
            NamedKey::Left => 105,
            NamedKey::Right => 106,
            NamedKey::Up => 103,
            NamedKey::Down => 108,
            NamedKey::Menu => 127,
            NamedKey::F(number @ 1..=10) => 58 + u32::from(number),
            NamedKey::F(number @ 11..=12) => 76 + u32::from(number),
            NamedKey::F(number) => return Some(Self::Function(number)),
        };
        Some(Self::Plain(code, false))
    }

    /// Its keysym; `None` if it is a key without one here.
    pub(crate) fn keysym(self) -> Option<u32> {
        match self {
            Self::Plain(code, shift) => NAMED
                .iter()
                .find_map(|(named, keysym)| (*named == code).then_some(*keysym))
                .or_else(|| Self::character(code, shift).map(u32::from)),
            Self::Further(character) => {
                let code = u32::from(character);
                Some(if code < 0x100 { code } else { 0x0100_0000 | code })
            }
            Self::Function(number) => Some(F1 + u32::from(number).saturating_sub(1)),
        }
    }

    /// The character of a key of the US layout.
    fn character(code: u32, shift: bool) -> Option<char> {
        ROWS.iter().find_map(|(first, plain, shifted)| {
            let place = usize::try_from(code.checked_sub(*first)?).ok()?;
            if shift { shifted } else { plain }.chars().nth(place)
        })
    }

    /// Its name in a keymap, if it needs a further key.
    fn further(self) -> Option<String> {
        match self {
            Self::Plain(..) => None,
            Self::Further(character) => Some(format!("U{:04X}", u32::from(character))),
            Self::Function(number) => Some(format!("F{number}")),
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(code, shift) => match Self::character(*code, *shift) {
                Some(character) => write!(formatter, "{character}"),
                None => write!(formatter, "key {code}"),
            },
            Self::Further(character) => write!(formatter, "{character}"),
            Self::Function(number) => write!(formatter, "F{number}"),
        }
    }
}

/// The keysym of a modifier key, of the left one if there are two.
pub(crate) const fn modifier_keysym(modifier: KeyModifier) -> u32 {
    match modifier {
        KeyModifier::Shift => 0xffe1,
        KeyModifier::Ctrl => 0xffe3,
        KeyModifier::Alt => 0xffe9,
        KeyModifier::Super => 0xffeb,
    }
}

/// The code of a modifier key, and its bit among the modifiers.
pub(crate) const fn modifier(modifier: KeyModifier) -> (u32, u32) {
    match modifier {
        KeyModifier::Shift => (42, 1),
        KeyModifier::Ctrl => (29, 4),
        KeyModifier::Alt => (56, 8),
        KeyModifier::Super => (125, 64),
    }
}

/// A keymap, as far as it matters which keys it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keymap {
    /// The codes of the further symbols.
    further: BTreeMap<Symbol, u32>,
}

impl Keymap {
    /// The code of the key of a symbol, and whether Shift is held; `None` if it has none here.
    pub(crate) fn key(&self, symbol: Symbol) -> Option<(u32, bool)> {
        match symbol {
            Symbol::Plain(code, shift) => Some((code, shift)),
            Symbol::Further(_) | Symbol::Function(_) => Some((*self.further.get(&symbol)?, false)),
        }
    }

    /// Returns how many of these symbols, from the first on, fit in one keymap with a key each.
    pub(crate) fn fit(symbols: &[Symbol]) -> usize {
        let mut seen = std::collections::BTreeSet::new();
        let fits = |symbol: &&Symbol| {
            if symbol.further().is_some() {
                seen.insert(**symbol);
            }
            seen.len() <= FURTHER_MAX
        };
        symbols.iter().take_while(fits).count()
    }

    /// A keymap in which all of these symbols have a key, if as many fit.
    pub(crate) fn with(symbols: &[Symbol]) -> Self {
        let mut further = BTreeMap::new();
        for symbol in symbols.iter().filter(|symbol| symbol.further().is_some()).take(FURTHER_MAX) {
            let next = FURTHER_FIRST + u32::try_from(further.len()).unwrap_or(0);
            further.entry(*symbol).or_insert(next);
        }
        Self { further }
    }

    /// The keymap in the text format of xkb (version 1).
    pub(crate) fn text(&self) -> String {
        let (mut codes, mut symbols) = (String::new(), String::new());
        for (symbol, code) in &self.further {
            let name = symbol.further().unwrap_or_default();
            // Writing to a string does not fail.
            let _ = writeln!(codes, "<D{code}> = {};", code + XKB);
            let _ = writeln!(symbols, "key <D{code}> {{ [ {name} ] }};");
        }
        let last = FURTHER_FIRST + XKB + u32::try_from(FURTHER_MAX).unwrap_or(0);
        format!(
            "xkb_keymap {{\n\
             xkb_keycodes {{ include \"evdev+aliases(qwerty)\"\nmaximum = {last};\n{codes}}};\n\
             xkb_types {{ include \"complete\" }};\n\
             xkb_compatibility {{ include \"complete\" }};\n\
             xkb_symbols {{ include \"pc+us+inet(evdev)\"\n{symbols}}};\n\
             }};\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_the_us_layout_have_their_usual_keys() {
        let check = |character: char, expected: (u32, bool)| {
            let symbol = Symbol::of(character).unwrap();
            assert_eq!(Keymap::default().key(symbol), Some(expected), "{character:?}");
        };
        // linux/input-event-codes.h
        check('a', (30, false));
        check('Z', (44, true));
        check('1', (2, false));
        check('+', (13, true));
        check('`', (41, false));
        check('~', (41, true));
        check('\\', (43, false));
        check('?', (53, true));
        check(' ', (57, false));
        check('\n', (28, false));
        assert_eq!(Symbol::of('\u{7}'), None);
    }

    #[test]
    fn other_symbols_get_keys_of_their_own() {
        let symbols: Vec<Symbol> = "東京é東".chars().filter_map(Symbol::of).collect();
        let keymap = Keymap::with(&symbols);
        let codes: Vec<u32> = symbols.iter().map(|symbol| keymap.key(*symbol).unwrap().0).collect();
        assert_eq!(codes, [600, 601, 602, 600]);
        let text = keymap.text();
        assert!(text.contains("<D600> = 608;") && text.contains("key <D600> { [ U6771 ] };"), "{text}");
        assert_eq!(Keymap::default().key(symbols[0]), None);
        let many: Vec<Symbol> = ('一'..).take(FURTHER_MAX + 5).map(Symbol::Further).collect();
        assert_eq!(Keymap::fit(&many), FURTHER_MAX);
    }

    #[test]
    fn symbols_have_the_keysyms_of_x11() {
        let check = |text: &str, expected: u32| {
            let symbol = Symbol::of_key(&text.parse().unwrap()).unwrap();
            assert_eq!(symbol.keysym(), Some(expected), "{text}");
        };
        check("a", 0x61);
        check("A", 0x41);
        check("~", 0x7e);
        check("Space", 0x20);
        check("Return", 0xff0d);
        check("Delete", 0xffff);
        check("F1", 0xffbe);
        check("F12", 0xffc9);
        check("F13", 0xffca);
        check("é", 0xe9);
        check("東", 0x0100_6771);
    }

    #[test]
    fn chords_name_keys_and_fold_the_case_of_letters() {
        let check = |chord: &str, expected: Symbol| {
            assert_eq!(Symbol::of_key(&chord.parse().unwrap()), Some(expected), "{chord}");
        };
        check("ctrl+S", Symbol::Plain(31, false));
        check("S", Symbol::Plain(31, true));
        check("F4", Symbol::Plain(62, false));
        check("F12", Symbol::Plain(88, false));
        check("F13", Symbol::Function(13));
        check("alt+Return", Symbol::Plain(28, false));
    }
}

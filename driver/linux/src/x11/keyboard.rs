//! The keyboard map: which keys produce a symbol, and spare keys that are bound to missing symbols.
//!
//! Applications look a key up when they process it, which may be long after it was pressed. So a bound key stays
//! bound. When all spare keys are in use, the least recently used one is rebound, but not before the application has
//! confirmed that it has processed everything up to that use.

use deskhand_desktop::keys::{ChordKey, KeyModifier, NamedKey};
use std::{collections::HashSet, ops::RangeInclusive};

/// `Shift_L`
pub(crate) const SHIFT: u32 = 0xffe1;
/// `Control_L`
pub(crate) const CONTROL: u32 = 0xffe3;
/// `Alt_L`
pub(crate) const ALT: u32 = 0xffe9;
/// `Super_L`
pub(crate) const SUPER: u32 = 0xffeb;
/// `ISO_Level3_Shift`
pub(crate) const LEVEL3: u32 = 0xfe03;

/// Vendor symbols such as `XF86AudioPlay` whose keys do nothing by themselves. Chromium goes by the keycode of a
/// symbol that it does not know: a letter on the key `XF86Reload` reloads the page, one on `XF86Back` leaves it. So
/// keys that browsers and editors act on are not in this list.
const MEDIA_KEYS: [RangeInclusive<u32>; 18] = [
    // Brightness of screen and keyboard.
    0x1008_ff02..=0x1008_ff07,
    // Volume, players.
    0x1008_ff11..=0x1008_ff17,
    // Recorder, calculator.
    0x1008_ff1c..=0x1008_ff1d,
    // Eject.
    0x1008_ff2c..=0x1008_ff2c,
    // Players, folders.
    0x1008_ff31..=0x1008_ff33,
    // Shop, finance, rewind.
    0x1008_ff36..=0x1008_ff36,
    0x1008_ff3c..=0x1008_ff3c,
    0x1008_ff3e..=0x1008_ff3e,
    // `XF86Launch0` to `XF86LaunchF`
    0x1008_ff40..=0x1008_ff4f,
    // Display, games, documents.
    0x1008_ff59..=0x1008_ff5f,
    // Phone, turned windows, panes, tools.
    0x1008_ff6e..=0x1008_ff6e,
    0x1008_ff74..=0x1008_ff74,
    0x1008_ff7f..=0x1008_ff7f,
    0x1008_ff81..=0x1008_ff81,
    // Camera, messages.
    0x1008_ff8e..=0x1008_ff8f,
    // Pictures, music, battery, radios.
    0x1008_ff91..=0x1008_ff97,
    // Touch pad, microphone.
    0x1008_ffa9..=0x1008_ffa9,
    0x1008_ffb0..=0x1008_ffb6,
];

/// The way to produce a symbol: the key, and the modifiers to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) keycode: u8,
    pub(crate) shift: bool,
    pub(crate) level3: bool,
}

/// A key that was bound to a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeysymBinding {
    keycode: u8,
    keysym: u32,
    /// The number of the batch that used it last.
    used: u64,
}

/// Bindings to make before some text can be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeysymBindingPlan {
    /// Bind these keys (an empty list if all symbols have one).
    Bind(Vec<(u8, u32)>),
    /// A key would be rebound whose last use the application may not have processed yet.
    AwaitApplication,
    /// There are not enough spare keys.
    NoKeys,
}

/// The map of one X server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keyboard {
    first: u8,
    per_key: usize,
    symbols: Vec<u32>,
    group: usize,
    modifiers: HashSet<u8>,
    may_reclaim: bool,
    bindings: Vec<KeysymBinding>,
    batch: u64,
    processed: u64,
}

impl Keyboard {
    /// Loads the map as the X server has it now. Bindings that another client removed are forgotten.
    pub(crate) fn load(
        &mut self,
        first: u8,
        per_key: usize,
        symbols: Vec<u32>,
        group: usize,
        modifiers: HashSet<u8>,
    ) {
        (self.first, self.per_key, self.symbols, self.group) = (first, per_key.max(1), symbols, group);
        self.modifiers = modifiers;
        let bindings = std::mem::take(&mut self.bindings);
        self.bindings = bindings
            .into_iter()
            .filter(|binding| self.row(binding.keycode).first() == Some(&binding.keysym))
            .collect();
    }

    fn row(&self, keycode: u8) -> &[u32] {
        let start = usize::from(keycode.saturating_sub(self.first)).saturating_mul(self.per_key);
        self.symbols.get(start..start.saturating_add(self.per_key)).unwrap_or_default()
    }

    fn keycodes(&self) -> impl Iterator<Item = u8> {
        let keys = self.symbols.len() / self.per_key.max(1);
        (self.first..=u8::MAX).take(keys)
    }

    /// The easiest stroke that produces a symbol.
    pub(crate) fn find_stroke(&self, keysym: u32) -> Option<Stroke> {
        if let Some(binding) = self.bindings.iter().find(|binding| binding.keysym == keysym) {
            return Some(Stroke { keycode: binding.keycode, shift: false, level3: false });
        }
        // The order of the core protocol: two levels of group 1, two of group 2, then levels 3 and 4 of each.
        let columns = match self.group {
            0 => [0, 1, 4, 5],
            1 => [2, 3, 6, 7],
            // Further groups cannot be told apart here: bind a key for every symbol.
            _ => return None,
        };
        let levels = [(false, false), (true, false), (false, true), (true, true)];
        let has_level3 = self.find_modifier(LEVEL3).is_some();
        columns.into_iter().zip(levels).find_map(|(column, (shift, level3))| {
            let mut keys = self.keycodes();
            let keycode = keys.find(|keycode| self.row(*keycode).get(column) == Some(&keysym))?;
            (!level3 || has_level3).then_some(Stroke { keycode, shift, level3 })
        })
    }

    /// The symbol that a key gives with these modifiers.
    pub(crate) fn symbol_at(&self, keycode: u8, shift: bool, level3: bool) -> Option<u32> {
        let row = self.row(keycode);
        let group = if self.group == 1 { 2 } else { 0 };
        let base = group + if level3 { 4 } else { 0 };
        let at = |column: usize| row.get(column).copied().filter(|symbol| *symbol != 0);
        // A level without a symbol has that of the level below.
        at(base + usize::from(shift)).or_else(|| at(base)).or_else(|| at(group)).or_else(|| at(0))
    }

    /// Allows binding symbols to media and similar keys.
    pub(crate) fn reclaim_media_keys(&mut self) {
        self.may_reclaim = true;
    }

    /// Returns `true` if a symbol has a key that was bound for it.
    pub(crate) fn is_bound(&self, keysym: u32) -> bool {
        self.bindings.iter().any(|binding| binding.keysym == keysym)
    }

    /// The keycode of a modifier, if it acts as one.
    pub(crate) fn find_modifier(&self, keysym: u32) -> Option<u8> {
        self.keycodes()
            .find(|keycode| self.modifiers.contains(keycode) && self.row(*keycode).first() == Some(&keysym))
    }

    /// All keys that act as modifiers.
    pub(crate) fn modifier_keys(&self) -> &HashSet<u8> {
        &self.modifiers
    }

    /// Returns the number of different symbols that can be bound at a time.
    pub(crate) fn spare_keys(&self) -> usize {
        self.bindings.len().saturating_add(self.free_keys().count())
    }

    fn free_keys(&self) -> impl Iterator<Item = u8> {
        self.keycodes().filter(|keycode| {
            self.row(*keycode).iter().all(|symbol| self.is_spare(*symbol))
                && !self.modifiers.contains(keycode)
                && !self.bindings.iter().any(|binding| binding.keycode == *keycode)
        })
    }

    fn is_spare(&self, symbol: u32) -> bool {
        symbol == 0 || (self.may_reclaim && MEDIA_KEYS.iter().any(|range| range.contains(&symbol)))
    }

    /// Plans the bindings with which all of `keysyms` can be typed in one batch.
    pub(crate) fn plan(&self, keysyms: &[u32]) -> KeysymBindingPlan {
        let needed: HashSet<u32> = keysyms.iter().copied().collect();
        let mut missing: Vec<u32> = Vec::new();
        for keysym in keysyms {
            if self.find_stroke(*keysym).is_none() && !missing.contains(keysym) {
                missing.push(*keysym);
            }
        }
        let mut old: Vec<KeysymBinding> =
            self.bindings.iter().copied().filter(|binding| !needed.contains(&binding.keysym)).collect();
        old.sort_by_key(|binding| binding.used);
        let free: Vec<u8> = self.free_keys().collect();
        let taken = old.get(..missing.len().saturating_sub(free.len()).min(old.len())).unwrap_or_default();
        if free.len().saturating_add(taken.len()) < missing.len() {
            return KeysymBindingPlan::NoKeys;
        }
        if taken.iter().any(|binding| binding.used > self.processed) {
            return KeysymBindingPlan::AwaitApplication;
        }
        let keys = free.into_iter().chain(taken.iter().map(|binding| binding.keycode));
        KeysymBindingPlan::Bind(keys.zip(missing).collect())
    }

    /// Records bindings that were made on the X server.
    pub(crate) fn bound(&mut self, made: &[(u8, u32)]) {
        for (keycode, keysym) in made {
            // What the key stood for before can no longer be typed with it.
            let start = usize::from(keycode.saturating_sub(self.first)).saturating_mul(self.per_key);
            if let Some(row) = self.symbols.get_mut(start..start.saturating_add(self.per_key)) {
                row.fill(*keysym);
            }
            self.bindings.retain(|binding| binding.keycode != *keycode);
            self.bindings.push(KeysymBinding { keycode: *keycode, keysym: *keysym, used: 0 });
        }
    }

    /// Records that a batch with these symbols is being sent.
    pub(crate) fn used(&mut self, keysyms: &[u32]) {
        self.batch = self.batch.saturating_add(1);
        for binding in self.bindings.iter_mut().filter(|binding| keysyms.contains(&binding.keysym)) {
            binding.used = self.batch;
        }
    }

    /// Records that the application has processed everything that was sent.
    pub(crate) fn application_caught_up(&mut self) {
        self.processed = self.batch;
    }

    /// Returns `true` if keys are bound.
    pub(crate) fn has_bindings(&self) -> bool {
        !self.bindings.is_empty()
    }

    /// Takes back all bound keys.
    pub(crate) fn take_bindings(&mut self) -> Vec<u8> {
        self.bindings.drain(..).map(|binding| binding.keycode).collect()
    }
}

/// Groups bindings into a first key and the symbols of consecutive keys. Every change of the map makes all
/// applications read it again, which is slow in some of them; consecutive keys are one change.
pub(crate) fn runs(bindings: &[(u8, u32)]) -> Vec<(u8, Vec<u32>)> {
    let mut sorted = bindings.to_vec();
    sorted.sort_unstable();
    let mut runs: Vec<(u8, Vec<u32>)> = Vec::new();
    for (keycode, keysym) in sorted {
        match runs.last_mut() {
            Some((first, keysyms)) if usize::from(*first) + keysyms.len() == usize::from(keycode) => {
                keysyms.push(keysym);
            }
            _ => runs.push((keycode, vec![keysym])),
        }
    }
    runs
}

/// The symbol of a character; `None` for control characters other than Return and Tab.
pub(crate) fn keysym_of(character: char) -> Option<u32> {
    match character {
        '\n' => Some(0xff0d),
        '\t' => Some(0xff09),
        _ if character.is_control() => None,
        _ => Some(xkeysym::Keysym::from_char(character).raw()).filter(|keysym| *keysym != 0),
    }
}

/// The symbol of the key of a chord. With Ctrl, Alt or Super the case of a letter does not matter: people write
/// `ctrl+S` for what menus call Ctrl+S.
pub(crate) fn keysym_of_key(key: ChordKey, modifiers: &[KeyModifier]) -> Option<u32> {
    match key {
        ChordKey::Char(character) => {
            let folds = modifiers.iter().any(|modifier| *modifier != KeyModifier::Shift);
            let mut lower = character.to_lowercase();
            let character = match (folds, lower.next(), lower.next()) {
                (true, Some(lower), None) => lower,
                _ => character,
            };
            keysym_of(character)
        }
        ChordKey::Named(named) => Some(match named {
            NamedKey::Return => 0xff0d,
            NamedKey::Tab => 0xff09,
            NamedKey::Escape => 0xff1b,
            NamedKey::Space => 0x20,
            NamedKey::BackSpace => 0xff08,
            NamedKey::Delete => 0xffff,
            NamedKey::Insert => 0xff63,
            NamedKey::Home => 0xff50,
            NamedKey::End => 0xff57,
            NamedKey::PageUp => 0xff55,
            NamedKey::PageDown => 0xff56,
            NamedKey::Left => 0xff51,
            NamedKey::Up => 0xff52,
            NamedKey::Right => 0xff53,
            NamedKey::Down => 0xff54,
            NamedKey::Menu => 0xff67,
            NamedKey::F(number) => 0xffbd_u32.saturating_add(u32::from(number)),
        }),
    }
}

/// The symbol of a modifier.
pub(crate) const fn keysym_of_modifier(modifier: KeyModifier) -> u32 {
    match modifier {
        KeyModifier::Ctrl => CONTROL,
        KeyModifier::Shift => SHIFT,
        KeyModifier::Alt => ALT,
        KeyModifier::Super => SUPER,
    }
}

#[cfg(test)]
#[path = "keyboard_tests.rs"]
mod tests;

//! The keyboard map of the X server: reading it, and binding keys to symbols that it lacks, as [`super::keyboard`] decides.

use std::collections::HashSet;

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::keys::KeyModifier;
use x11rb::{
    connection::Connection,
    protocol::{
        xkb::{self, ConnectionExt as _},
        xproto::{ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, ModMask},
    },
};

use super::{
    fault::WorkResult,
    keyboard::{self, KeysymBindingPlan},
    worker::X11Worker,
};

impl X11Worker {
    /// Reads the keyboard map, releases modifiers that are held, and switches Caps Lock off.
    pub(crate) fn prepare_keyboard(&mut self) -> WorkResult<()> {
        let caps_lock = self.load_keyboard()?;
        let held = self.connection.query_keymap()?.reply()?.keys;
        for keycode in self.keyboard.modifier_keys() {
            let byte = held.get(usize::from(*keycode / 8)).copied().unwrap_or(0);
            if byte & (1 << (*keycode % 8)) != 0 {
                self.key(KEY_RELEASE_EVENT, *keycode)?;
            }
        }
        if caps_lock {
            self.unlock_caps()?;
        }
        self.round_trip()
    }

    /// Reads the keyboard map; returns whether Caps Lock is on.
    pub(crate) fn load_keyboard(&mut self) -> WorkResult<bool> {
        let setup = self.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let count = last.saturating_sub(first).saturating_add(1);
        self.connection.xkb_use_extension(1, 0)?.reply()?;
        let mapping = self.connection.get_keyboard_mapping(first, count)?;
        let modifiers = self.connection.get_modifier_mapping()?;
        let state = self.connection.xkb_get_state(xkb::ID::USE_CORE_KBD.into())?;
        let mapping = mapping.reply()?;
        let modifiers: HashSet<u8> =
            modifiers.reply()?.keycodes.into_iter().filter(|keycode| *keycode != 0).collect();
        let state = state.reply()?;
        let group = usize::from(u8::from(state.group));
        let per_key = usize::from(mapping.keysyms_per_keycode);
        if self.may_reclaim_keys {
            self.keyboard.reclaim_media_keys();
        }
        self.keyboard.load(first, per_key, mapping.keysyms, group, modifiers);
        Ok(u16::from(state.locked_mods) & u16::from(ModMask::LOCK) != 0)
    }

    /// Switches Caps Lock off.
    pub(crate) fn unlock_caps(&self) -> WorkResult<()> {
        let (device, group) = (xkb::ID::USE_CORE_KBD.into(), xkb::Group::M1);
        let none = ModMask::from(0_u16);
        self.connection.xkb_latch_lock_state(device, ModMask::LOCK, none, false, group, none, false, 0)?;
        Ok(())
    }

    /// Binds keys for the `symbols` that have none; the plan says whether they can be sent now.
    pub(crate) fn bind(&mut self, symbols: &[u32]) -> WorkResult<KeysymBindingPlan> {
        let plan = self.keyboard.plan(symbols);
        if let KeysymBindingPlan::Bind(keys) = &plan
            && !keys.is_empty()
        {
            for (first, keysyms) in keyboard::runs(keys) {
                // On all levels of two groups, so that neither Shift nor the active layout matters.
                let rows: Vec<u32> = keysyms.iter().flat_map(|keysym| [*keysym; 4]).collect();
                let count = u8::try_from(keysyms.len()).unwrap_or(u8::MAX);
                self.connection.change_keyboard_mapping(count, first, 4, &rows)?;
            }
            // The server announces the new map to every application before any key that is sent after this.
            self.round_trip()?;
            self.keyboard.bound(keys);
        }
        Ok(plan)
    }

    /// The keys of modifiers that are held around something else; none need not be looked for.
    pub(crate) fn keys_of(&mut self, modifiers: &[KeyModifier]) -> WorkResult<Vec<u8>> {
        if modifiers.is_empty() {
            return Ok(Vec::new());
        }
        self.prepare_keyboard()?;
        let symbols: Vec<u32> = modifiers.iter().map(|one| keyboard::keysym_of_modifier(*one)).collect();
        Ok(self.modifier_keys(&symbols)?)
    }

    /// Presses keys, in order.
    pub(crate) fn hold(&self, keys: &[u8]) -> WorkResult<()> {
        keys.iter().try_for_each(|key| self.key(KEY_PRESS_EVENT, *key))
    }

    /// Lets go of keys, the last one first.
    pub(crate) fn release(&self, keys: &[u8]) -> WorkResult<()> {
        keys.iter().rev().try_for_each(|key| self.key(KEY_RELEASE_EVENT, *key))
    }

    /// The keys of modifiers.
    pub(crate) fn modifier_keys(&self, keysyms: &[u32]) -> DesktopResult<Vec<u8>> {
        let key_of = |keysym: &u32| {
            self.keyboard.find_modifier(*keysym).ok_or_else(|| DesktopError::Key {
                key: xkeysym::Keysym::new(*keysym).name().unwrap_or("a modifier").to_owned(),
                reason: "this keyboard has no such modifier".to_owned(),
            })
        };
        keysyms.iter().map(key_of).collect()
    }

    /// Removes the key bindings that were made.
    pub(crate) fn unbind_keys(&mut self) -> WorkResult<()> {
        for keycode in self.keyboard.take_bindings() {
            self.connection.change_keyboard_mapping(1, keycode, 1, &[x11rb::NO_SYMBOL])?;
        }
        self.round_trip()
    }
}

/// The error of a symbol that cannot be typed.
pub(crate) fn no_key(symbol: Option<u32>) -> DesktopError {
    let character = symbol.and_then(|symbol| xkeysym::Keysym::new(symbol).key_char());
    DesktopError::Key {
        key: character.map_or_else(|| "a symbol".to_owned(), String::from),
        reason: "no key produces it, and no spare key is left to bind it to".to_owned(),
    }
}

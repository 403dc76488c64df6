//! The keyboard map, without an X server.

use super::*;

const NONE: [u32; 6] = [0; 6];

/// Keys 8 to 14: a, 1, Shift, level 3, euro on level 3 of e, two spare ones.
fn keyboard() -> Keyboard {
    let rows: [[u32; 6]; 7] = [
        [0x61, 0x41, 0, 0, 0, 0],
        [0x31, 0x21, 0, 0, 0, 0],
        [SHIFT, 0, 0, 0, 0, 0],
        [LEVEL3, 0, 0, 0, 0, 0],
        [0x65, 0x45, 0, 0, 0x20ac, 0],
        NONE,
        NONE,
    ];
    let mut keyboard = Keyboard::default();
    keyboard.load(8, 6, rows.concat(), 0, HashSet::from([10, 11]));
    keyboard
}

#[test]
fn a_symbol_is_found_on_every_level() {
    let keyboard = keyboard();
    let check = |keysym: u32, expected: Option<(u8, bool, bool)>| {
        let found = keyboard.find_stroke(keysym).map(|stroke| (stroke.keycode, stroke.shift, stroke.level3));
        assert_eq!(found, expected, "{keysym:x}");
    };
    check(0x61, Some((8, false, false)));
    check(0x41, Some((8, true, false)));
    check(0x21, Some((9, true, false)));
    check(0x20ac, Some((12, false, true)));
    check(0x7a, None);
    assert_eq!(keyboard.find_modifier(SHIFT), Some(10));
    assert_eq!(keyboard.find_modifier(CONTROL), None);
    assert_eq!(keyboard.spare_keys(), 2);
}

#[test]
fn a_key_gives_a_symbol_by_what_is_held() {
    let keyboard = keyboard();
    let check = |keycode: u8, shift: bool, level3: bool, expected: Option<u32>| {
        let found = keyboard.symbol_at(keycode, shift, level3);
        assert_eq!(found, expected, "{keycode} {shift} {level3}");
    };
    check(8, false, false, Some(0x61));
    check(8, true, false, Some(0x41));
    check(12, false, true, Some(0x20ac));
    // A level without a symbol has that of the level below.
    check(12, true, true, Some(0x20ac));
    check(9, false, true, Some(0x31));
    check(10, true, false, Some(SHIFT));
    check(13, true, false, None);
}

#[test]
fn level_three_is_not_used_without_its_modifier() {
    let mut keyboard = keyboard();
    keyboard.modifiers.clear();
    assert_eq!(keyboard.find_stroke(0x20ac), None);
}

#[test]
fn spare_keys_are_bound_kept_and_taken_from_the_oldest() {
    let mut keyboard = keyboard();
    assert_eq!(
        keyboard.plan(&[0x61, 0x7a, 0x79, 0x7a]),
        KeysymBindingPlan::Bind(vec![(13, 0x7a), (14, 0x79)])
    );
    keyboard.bound(&[(13, 0x7a), (14, 0x79)]);
    keyboard.used(&[0x79]);
    keyboard.used(&[0x7a]);
    assert_eq!(keyboard.plan(&[0x7a, 0x79]), KeysymBindingPlan::Bind(vec![]), "both are still bound");
    // A third symbol takes the key of `y`, but only once the application has processed it.
    assert_eq!(keyboard.plan(&[0x78]), KeysymBindingPlan::AwaitApplication);
    keyboard.application_caught_up();
    assert_eq!(keyboard.plan(&[0x78]), KeysymBindingPlan::Bind(vec![(14, 0x78)]));
    // A symbol of the same batch is never rebound.
    assert_eq!(keyboard.plan(&[0x79, 0x78]), KeysymBindingPlan::Bind(vec![(13, 0x78)]));
    assert_eq!(keyboard.plan(&[0x76, 0x77, 0x78]), KeysymBindingPlan::NoKeys);
}

#[test]
fn a_rebound_key_loses_its_former_symbol() {
    let mut keyboard = keyboard();
    keyboard.bound(&[(13, 0x7a), (14, 0x79)]);
    let symbols = keyboard.symbols.clone();
    keyboard.load(8, 6, symbols, 0, HashSet::from([10, 11]));
    keyboard.bound(&[(13, 0x78)]);
    assert_eq!(keyboard.find_stroke(0x78).map(|stroke| stroke.keycode), Some(13));
    assert_eq!(keyboard.find_stroke(0x7a), None);
}

#[test]
fn only_media_keys_without_an_effect_are_bound() {
    let mut keyboard = keyboard();
    keyboard.symbols[0..2].copy_from_slice(&[0x1008_ff14, 0x1008_ff31]);
    assert_eq!(keyboard.spare_keys(), 2);
    keyboard.reclaim_media_keys();
    assert_eq!(keyboard.spare_keys(), 3);
    assert_eq!(keyboard.plan(&[0x7a]), KeysymBindingPlan::Bind(vec![(8, 0x7a)]));
    // Chromium reloads a page by the code of this key.
    keyboard.symbols[6] = 0x1008_ff73;
    assert_eq!(keyboard.spare_keys(), 3);
}

#[test]
fn a_binding_that_another_client_removed_is_made_again() {
    let mut keyboard = keyboard();
    let symbols = keyboard.symbols.clone();
    keyboard.bound(&[(13, 0x7a)]);
    keyboard.load(8, 6, symbols, 0, HashSet::from([10, 11]));
    assert_eq!(keyboard.find_stroke(0x7a), None);
    assert_eq!(keyboard.plan(&[0x7a]), KeysymBindingPlan::Bind(vec![(13, 0x7a)]));
}

#[test]
fn in_an_unknown_group_every_symbol_gets_its_own_key() {
    let mut keyboard = keyboard();
    keyboard.group = 2;
    assert_eq!(keyboard.plan(&[0x61]), KeysymBindingPlan::Bind(vec![(13, 0x61)]));
}

#[test]
fn characters_and_keys_have_symbols() {
    let check = |character: char, expected: Option<u32>| {
        assert_eq!(keysym_of(character), expected, "{character:?}");
    };
    check('a', Some(0x61));
    check('\n', Some(0xff0d));
    check('\t', Some(0xff09));
    check('é', Some(0xe9));
    check('東', Some(0x0100_6771));
    check('😀', Some(0x0101_f600));
    check('\u{7}', None);
    assert_eq!(keysym_of_key(ChordKey::Char('S'), &[KeyModifier::Ctrl]), Some(0x73));
    assert_eq!(keysym_of_key(ChordKey::Char('S'), &[]), Some(0x53));
    assert_eq!(keysym_of_key(ChordKey::Named(NamedKey::F(1)), &[]), Some(0xffbe));
    assert_eq!(keysym_of_key(ChordKey::Named(NamedKey::F(12)), &[]), Some(0xffc9));
}

#[test]
fn consecutive_keys_are_bound_in_one_change() {
    let runs = runs(&[(97, 5), (93, 1), (98, 6), (255, 9), (94, 2), (95, 3)]);
    assert_eq!(runs, [(93, vec![1, 2, 3]), (97, vec![5, 6]), (255, vec![9])]);
}

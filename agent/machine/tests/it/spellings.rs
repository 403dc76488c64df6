//! What is carried out as the same name or the same keys is judged as the same, however it is spelled.
//!
//! `DESKHAND_SPELLINGS` sets the number of cases; a million take about a minute.

use std::cell::Cell;

use deskhand_machine::{
    intent::Does,
    policy::{Policy, PolicyDecision, PolicyRule, Subject},
};
use deskhand_ui::{keys::KeyChord, names_equal};
use proptest::{
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};

/// Names that a rule may be about, in the application's own spelling.
const NAMES: [&str; 6] = ["Delete all my files", "_Save", "Don't Save", "Send…", "E&xit", "Empty Trash:"];
/// Chords that a rule may be about.
const CHORDS: [&str; 5] = ["ctrl+s", "shift+Delete", "Return", "alt+F4", "ctrl+shift+Page_Down"];

fn cases() -> u32 {
    std::env::var("DESKHAND_SPELLINGS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

fn denies(label: &str) -> Policy {
    let rule = PolicyRule { label: label.to_owned(), ..PolicyRule::new(PolicyDecision::Deny, "never") };
    Policy { rules: vec![rule], safe_guard: false, ..Policy::default() }
}

/// Letters that look like this one, or become it in another case or in a normal form of Unicode.
fn look_alikes(letter: char) -> &'static str {
    match letter.to_ascii_lowercase() {
        'a' => "аɑａ𝐚ä",
        'b' => "Ьｂ𝐛",
        'c' => "сϲｃ",
        'd' => "ԁｄ𝐝",
        'e' => "еёｅé",
        'f' => "ｆ𝐟ﬁ",
        'h' => "һНｈ",
        'i' => "іıİｉ\u{131}",
        'k' => "\u{212a}кｋ",
        'l' => "ӏ1Iｌ",
        'm' => "мｍ",
        'n' => "ոｎ",
        'p' => "рｐ",
        'r' => "гｒ",
        's' => "ѕſｓßẞ",
        't' => "тｔ",
        'v' => "ѵｖ",
        'x' => "хｘ",
        'y' => "уｙ",
        '\'' => "’ʼ`´＇",
        ' ' => "\u{a0}\u{2003}\u{3000}\u{2028}",
        '…' => "⋯.",
        _ => "",
    }
}

/// The name with letters in another case or replaced by look-alikes, and with what a person does not see or overlooks put
/// between them.
fn spelled(name: &'static str) -> impl Strategy<Value = String> {
    let between = select(vec![
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "_",
        "&",
        "~",
        " ",
        "\u{200b}",
        "\u{ad}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{2069}",
        "\u{61c}",
        "\u{e0041}",
        "\u{301}",
        "\u{308}",
        "\u{20dd}",
        "\u{fe0f}",
        "x",
    ]);
    let letters: Vec<char> = name.chars().collect();
    let end = select(vec!["", "", "…", "...", ":", " ", "!", "：", "\u{202c}"]);
    // One letter in forty is replaced, so that many spellings keep all of theirs.
    let one = (any::<bool>(), between, 0_usize..160);
    (prop::collection::vec(one, letters.len()), end).prop_map(move |(changes, end)| {
        let mut text = String::new();
        for (letter, (upper, between, alike)) in letters.iter().zip(changes) {
            if let Some(alike) = look_alikes(*letter).chars().nth(alike) {
                text.push(alike);
            } else if upper {
                text.extend(letter.to_uppercase());
            } else {
                text.push(*letter);
            }
            text.push_str(between);
        }
        text + end
    })
}

/// A chord with its parts under other names, in another order, and with separators that are skipped.
fn spelled_keys() -> impl Strategy<Value = String> {
    let modifiers = ["ctrl", "Control", "CTRL", "shift", "SHIFT", "alt", "Alt", "super", "win"];
    let keys = [
        "s",
        "S",
        "Delete",
        "del",
        "DEL",
        "De_lete",
        "Return",
        "enter",
        "En_ter",
        "F4",
        "f4",
        "Page_Down",
        "pagedown",
        "page-down",
        "ｓ",
        "ѕ",
        "ſ",
        "Ｓ",
        "Rеturn",
        "Ｒｅｔｕｒｎ",
        "De\u{200b}lete",
        "\u{202e}s",
        "s\u{301}",
        "Ｆ４",
    ];
    (prop::collection::vec(select(modifiers.to_vec()), 0..4), select(keys.to_vec()))
        .prop_map(|(modifiers, key)| modifiers.into_iter().chain([key]).collect::<Vec<_>>().join("+"))
}

#[test]
fn a_denied_name_is_denied_in_every_spelling_that_finds_it() {
    let mut runner = TestRunner::new(Config { cases: cases(), ..Config::default() });
    let name = (0..NAMES.len()).prop_flat_map(|at| (Just(NAMES[at]), spelled(NAMES[at])));
    let (found, denied) = (Cell::new(0_u64), Cell::new(0_u64));
    runner
        .run(&name, |(name, spelling)| {
            let subject =
                Subject { tool: "visit".to_owned(), labels: vec![spelling.clone()], ..Subject::default() };
            let decision = denies(name).decide(&subject).decision;
            denied.set(denied.get() + u64::from(decision == PolicyDecision::Deny));
            if names_equal(name, &spelling) {
                found.set(found.get() + 1);
                prop_assert_eq!(decision, PolicyDecision::Deny, "{:?}", spelling);
            }
            Ok(())
        })
        .unwrap();
    let (found, denied) = (found.get(), denied.get());
    println!("{} spellings of {} names: {found} find the element, {denied} are denied", cases(), NAMES.len());
    assert!(found > 0 && found < u64::from(cases()), "the spellings must hit and miss");
}

#[test]
fn denied_keys_are_denied_in_every_spelling_that_presses_them() {
    // What is no chord is refused by the tool.
    let canonical = |text: &str| Some(text.parse::<KeyChord>().ok()?.canonical().to_string().to_lowercase());
    let mut runner = TestRunner::new(Config { cases: cases(), ..Config::default() });
    let found = Cell::new(0_u64);
    runner
        .run(&(select(CHORDS.to_vec()), spelled_keys()), |(chord, spelling)| {
            if canonical(chord) == canonical(&spelling) {
                found.set(found.get() + 1);
                let subject = Subject {
                    tool: "press_keys".to_owned(),
                    keys: vec![spelling.parse::<KeyChord>().unwrap().canonical().to_string()],
                    ..Subject::default()
                };
                prop_assert_eq!(
                    denies(chord).decide(&subject).decision,
                    PolicyDecision::Deny,
                    "{:?}",
                    spelling
                );
            }
            Ok(())
        })
        .unwrap();
    println!("{} spellings of {} chords: {} press a denied one", cases(), CHORDS.len(), found.get());
    assert!(found.get() > 0);
}

/// Labels that the safe guard asks about, in several scripts.
const GUARDED: [&str; 10] = [
    "Delete",
    "Send",
    "Don't Save",
    "Overwrite",
    "Pay now",
    "Empty Trash",
    "Löschen",
    "Supprimer",
    "Удалить",
    "Διαγραφή",
];

/// Labels that it does not ask about, in the same scripts.
const OTHERS: [&str; 12] = [
    "Open",
    "Next",
    "Search",
    "Insert",
    "Find",
    "Speichern unter",
    "Größe",
    "Précédent",
    "Открыть",
    "Правка",
    "Αρχείο",
    "Πίσω",
];

/// Letters that are drawn like this one, as a person or a picture takes them.
fn drawn_alike(letter: char) -> &'static [char] {
    match letter {
        'a' => &['а', 'ａ', '𝐚', 'ɑ', 'á', 'α'],
        'c' => &['с', 'ϲ', 'ｃ'],
        'd' => &['ԁ', 'ｄ', '𝐝', 'ⓓ'],
        'e' => &['е', 'ｅ', 'é', '𝗲', 'ẹ'],
        'i' => &['і', 'ｉ', 'í', 'ı', 'l'],
        'l' => &['ӏ', 'ｌ', 'I', '1', '|'],
        'm' => &['ｍ', '𝐦'],
        'n' => &['ｎ', '𝐧', 'ո'],
        'o' => &['о', 'ο', 'ｏ', '0', 'ó'],
        'p' => &['р', 'ρ', 'ｐ'],
        'r' => &['ｒ', '𝐫', 'г'],
        's' => &['ѕ', 'ｓ', '𝐬'],
        't' => &['ｔ', '𝐭', 'ṭ'],
        'u' => &['ｕ', 'υ', 'ú'],
        'v' => &['ѵ', 'ｖ', 'ν'],
        'w' => &['ｗ', 'ѡ'],
        'y' => &['у', 'ｙ', 'ý'],
        'D' => &['Ｄ', '𝐃', 'Ⓓ'],
        'E' => &['Ε', 'Е', 'Ｅ'],
        'O' => &['О', 'Ο', '0', 'Ｏ'],
        'P' => &['Р', 'Ρ', 'Ｐ'],
        'S' => &['Ѕ', 'Ｓ'],
        'T' => &['Т', 'Τ', 'Ｔ'],
        'а' => &['a', 'ａ'],
        'и' => &['ᴎ'],
        'т' => &['ᴛ'],
        'У' => &['Y'],
        'α' => &['a', 'а'],
        'ρ' => &['p', 'р'],
        'Δ' => &['𝚫'],
        '\'' => &['’', 'ʼ', '`', '＇'],
        ' ' => &['\u{a0}', '\u{2003}', '\u{3000}', '\u{200a}'],
        _ => &[],
    }
}

/// The label as it may be drawn: with other letters, marks on letters, what nobody sees between them, and signs around it.
fn disguised(label: &'static str) -> impl Strategy<Value = String> {
    let between = select(vec![
        "",
        "",
        "",
        "",
        "",
        "",
        "\u{301}",
        "\u{308}",
        "\u{335}",
        "\u{200b}",
        "\u{ad}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{3164}",
        "\u{fe0f}",
        "\u{e0041}",
        "_",
        "\u{200a}",
    ]);
    let around = select(vec![
        ("", ""),
        ("", ""),
        ("🗑 ", ""),
        ("[", "]"),
        ("» ", ""),
        ("", " ▸"),
        ("", "…"),
        ("", "!"),
        ("\u{202e}", "\u{202c}"),
    ]);
    let letters: Vec<char> = label.chars().collect();
    let one = (between, 0_usize..12);
    (prop::collection::vec(one, letters.len()), around).prop_map(move |(changes, (before, after))| {
        let mut text = before.to_owned();
        for (letter, (between, alike)) in letters.iter().zip(changes) {
            text.push(drawn_alike(*letter).get(alike).copied().unwrap_or(*letter));
            text.push_str(between);
        }
        text + after
    })
}

fn pressed(label: &str) -> Subject {
    Subject {
        tool: "click_element".to_owned(),
        does: Does::Press,
        role: Some("push button".to_owned()),
        labels: vec![label.to_owned()],
        ..Subject::default()
    }
}

#[test]
fn what_looks_like_a_guarded_label_asks_and_no_rule_allows_it() {
    let mut runner = TestRunner::new(Config { cases: cases(), ..Config::default() });
    let label = (0..GUARDED.len()).prop_flat_map(|at| (Just(GUARDED[at]), disguised(GUARDED[at])));
    let other = Cell::new(0_u64);
    runner
        .run(&label, |(label, disguise)| {
            let subject = pressed(&disguise);
            prop_assert_eq!(
                Policy::default().decide(&subject).decision,
                PolicyDecision::Ask,
                "{} as {:?}",
                label,
                &disguise
            );
            prop_assert_eq!(
                denies(label).decide(&subject).decision,
                PolicyDecision::Deny,
                "{} as {:?}",
                label,
                &disguise
            );
            // A rule that allows goes by the name alone.
            if !names_equal(label, &disguise) {
                other.set(other.get() + 1);
                let rule =
                    PolicyRule { label: label.to_owned(), ..PolicyRule::new(PolicyDecision::Allow, "fine") };
                let policy = Policy { rules: vec![rule], ..Policy::default() };
                prop_assert_eq!(policy.decide(&subject).decision, PolicyDecision::Ask, "{:?}", &disguise);
            }
            Ok(())
        })
        .unwrap();
    println!("{} disguises of {} labels ask; {} are other names", cases(), GUARDED.len(), other.get());
    assert!(other.get() > u64::from(cases()) / 2, "most disguises must be other names");
}

#[test]
fn what_looks_like_no_guarded_label_asks_nobody() {
    let words = OTHERS.iter().flat_map(|label| {
        [(*label).to_owned(), label.to_uppercase(), format!("{label}…"), format!("_{label}")]
    });
    for label in words {
        assert_eq!(Policy::default().decide(&pressed(&label)).decision, PolicyDecision::Allow, "{label}");
    }
}

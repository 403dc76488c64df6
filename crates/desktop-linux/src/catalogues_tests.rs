//! Catalogues that are made here, byte by byte.

use deskhand_core::policy::{Policy, PolicyDecision, Subject};

use super::*;

/// A catalogue of these texts, as `msgfmt` writes it.
fn catalogue(texts: &[(&str, &str)], number: impl Fn(u32) -> [u8; 4]) -> Vec<u8> {
    let count = u32::try_from(texts.len()).unwrap();
    let (originals, translations) = (28, 28 + 8 * count);
    let (mut tables, mut data) = (Vec::new(), Vec::new());
    let start = 28 + 16 * count;
    for side in 0..2 {
        for (original, translation) in texts {
            let text = if side == 0 { original } else { translation };
            let at = start + u32::try_from(data.len()).unwrap();
            tables.extend(number(u32::try_from(text.len()).unwrap()));
            tables.extend(number(at));
            data.extend(text.as_bytes());
            data.push(0);
        }
    }
    let head = [0x9504_12de, 0, count, originals, translations, 0, 0];
    let head: Vec<u8> = head.into_iter().flat_map(number).collect();
    [head, tables, data].concat()
}

fn asks(words: &SafeGuardLabels, label: &str) -> bool {
    let subject = Subject {
        role: Some("push button".to_owned()),
        labels: vec![label.to_owned()],
        does: deskhand_core::intent::Does::Press,
        ..Subject::default()
    };
    let policy = Policy { words: words.clone(), ..Policy::default() };
    policy.decide(&subject).decision == PolicyDecision::Ask
}

/// The labels of one catalogue in a language that nobody speaks.
fn learnt(bytes: &[u8]) -> SafeGuardLabels {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("qx/LC_MESSAGES");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("gtk30.mo"), bytes).unwrap();
    labels(&[root.path().to_owned()], &["qx".to_owned()])
}

const INVENTED: &[(&str, &str)] = &[
    ("", "Content-Type: text/plain; charset=UTF-8\n"),
    ("Stock label\u{4}_Delete", "_Zorbix"),
    ("querysavedialog|discard\u{4}Do_n't Save", "Flep _nir"),
    ("Empty Trash…\0Empty Trashes…", "Quon mabber…\0Quon"),
    ("_Open", "_Apris"),
];

#[test]
fn the_words_of_a_catalogue_are_guarded_in_both_byte_orders() {
    for bytes in [catalogue(INVENTED, u32::to_le_bytes), catalogue(INVENTED, u32::to_be_bytes)] {
        let words = learnt(&bytes);
        for label in ["Zorbix", "_zorbix…", "Flep nir", "Quon mabber", "Zorbіx"] {
            assert!(asks(&words, label), "{label}: {words:?}");
        }
        assert!(!asks(&words, "Apris"));
    }
    assert!(!asks(&SafeGuardLabels::default(), "Zorbix"));
}

#[test]
fn a_hostile_catalogue_takes_no_word_away_and_adds_no_pattern() {
    let many: Vec<(String, String)> =
        (0..2_000).map(|at| ("Delete".to_owned(), format!("Flood {at}"))).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let long = "x".repeat(10_000);
    let hostile = [
        ("Delete", "*"),
        ("Delete", "?"),
        ("Delete", ""),
        ("Delete", "OK|Next"),
        ("Delete", long.as_str()),
        ("Send", "a\nb"),
    ];
    for texts in [&hostile[..], &many[..]] {
        let words = learnt(&catalogue(texts, u32::to_le_bytes));
        assert!(asks(&words, "Delete") && asks(&words, "Löschen"));
        assert!(!asks(&words, "OK") && !asks(&words, "Next") && !asks(&words, ""), "{words:?}");
        assert!(words.deletes.len() <= SafeGuardLabels::LABELS_MAX);
    }
    // Cut off anywhere, or with places beyond its end, it is read as far as it goes.
    let whole = catalogue(INVENTED, u32::to_le_bytes);
    for end in 0..whole.len() {
        learnt_in_memory(&whole[..end]);
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] = 0xff;
        learnt_in_memory(&damaged);
    }
}

fn learnt_in_memory(bytes: &[u8]) {
    each(bytes, |original, translation| assert!(original.len() + translation.len() <= 2 * bytes.len()));
}

#[test]
fn languages_are_those_of_the_environment_and_of_the_installed_locales() {
    let installed = tempfile::tempdir().unwrap();
    for name in ["C.utf8", "fr_FR.utf8", "locale-archive"] {
        fs::create_dir(installed.path().join(name)).unwrap();
    }
    let variable = |name: &str| match name {
        "LANGUAGE" => Some("de_AT:nl".into()),
        "LANG" => Some("pl_PL.UTF-8@euro".into()),
        _ => None,
    };
    let found = languages(variable, installed.path());
    assert_eq!(found, ["de_AT", "de", "nl", "pl_PL", "pl", "fr_FR", "fr"]);
}

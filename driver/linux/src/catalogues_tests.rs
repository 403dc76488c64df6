//! Catalogues that are made here, byte by byte.

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

/// The texts of one catalogue in a language that nobody speaks, with their translations.
fn texts_of(bytes: &[u8]) -> Vec<(String, String)> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("qx/LC_MESSAGES");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("gtk30.mo"), bytes).unwrap();
    let mut texts = Vec::new();
    let mut add = |label: &str, translation: &str| texts.push((label.to_owned(), translation.to_owned()));
    each_in(&[root.path().to_owned()], &["qx".to_owned()], &mut add);
    texts
}

const INVENTED: &[(&str, &str)] = &[
    ("", "Content-Type: text/plain; charset=UTF-8\n"),
    ("Stock label\u{4}_Delete", "_Zorbix"),
    ("querysavedialog|discard\u{4}Do_n't Save", "Flep _nir"),
    ("Empty Trash…\0Empty Trashes…", "Quon mabber…\0Quon"),
    ("_Open", "_Apris"),
];

#[test]
fn a_catalogue_is_read_in_both_byte_orders() {
    for bytes in [catalogue(INVENTED, u32::to_le_bytes), catalogue(INVENTED, u32::to_be_bytes)] {
        let texts = texts_of(&bytes);
        let pairs: Vec<(&str, &str)> = texts.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            pairs[1..],
            [
                ("_Delete", "_Zorbix"),
                ("Do_n't Save", "Flep _nir"),
                ("Empty Trash…", "Quon mabber…"),
                ("_Open", "_Apris"),
            ]
        );
    }
}

#[test]
fn a_damaged_catalogue_is_read_as_far_as_it_goes() {
    let whole = catalogue(INVENTED, u32::to_le_bytes);
    for end in 0..whole.len() {
        read_in_memory(&whole[..end]);
    }
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] = 0xff;
        read_in_memory(&damaged);
    }
}

fn read_in_memory(bytes: &[u8]) {
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

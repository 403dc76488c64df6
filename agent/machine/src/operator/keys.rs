//! Names of keys as the models of different providers write them.

use deskhand_ui::keys::KeyChord;

/// The most chords in one gesture; as in the tool that presses them.
const CHORDS_MAX: usize = 64;

/// Names without `_`, `-` and case, and what the key is called in a chord.
const NAMES: &[(&str, &str)] = &[
    ("arrowleft", "Left"),
    ("arrowright", "Right"),
    ("arrowup", "Up"),
    ("arrowdown", "Down"),
    ("pgup", "PageUp"),
    ("prior", "PageUp"),
    ("pgdn", "PageDown"),
    ("next", "PageDown"),
    ("kpenter", "Return"),
    ("spacebar", "Space"),
    ("controll", "ctrl"),
    ("controlr", "ctrl"),
    ("ctrll", "ctrl"),
    ("ctrlr", "ctrl"),
    ("shiftl", "shift"),
    ("shiftr", "shift"),
    ("altl", "alt"),
    ("altr", "alt"),
    ("option", "alt"),
    ("superl", "super"),
    ("superr", "super"),
    ("command", "super"),
    ("windows", "super"),
    ("plus", "+"),
    ("minus", "-"),
    ("equal", "="),
    ("comma", ","),
    ("period", "."),
    ("dot", "."),
    ("slash", "/"),
    ("backslash", "\\"),
    ("semicolon", ";"),
    ("colon", ":"),
    ("apostrophe", "'"),
    ("grave", "`"),
    ("bracketleft", "["),
    ("bracketright", "]"),
    ("underscore", "_"),
    ("asterisk", "*"),
];

/// The chords of a text such as `ctrl+s`, `CTRL+ARROWLEFT` or `Tab KP_Enter`.
///
/// # Errors
/// What cannot be read, and how to write it.
pub(crate) fn chords(text: &str) -> Result<Vec<KeyChord>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() {
        return Err("no keys; write chords such as `ctrl+s` or `Return`".to_owned());
    }
    if words.len() > CHORDS_MAX {
        return Err(format!("{} chords are too many; the limit is {CHORDS_MAX}", words.len()));
    }
    words.into_iter().map(chord).collect()
}

fn chord(word: &str) -> Result<KeyChord, String> {
    let renamed: Vec<&str> = word.split('+').map(renamed).collect();
    renamed
        .join("+")
        .parse()
        .map(KeyChord::canonical)
        .map_err(|error: deskhand_ui::keys::ParseChordError| error.to_string())
}

fn renamed(name: &str) -> &str {
    let folded: String = name.to_lowercase().chars().filter(|c| !matches!(c, '_' | '-')).collect();
    NAMES.iter().find(|(known, _)| *known == folded).map_or(name, |(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let written = chords(text).map(|chords| {
            let words: Vec<String> = chords.iter().map(ToString::to_string).collect();
            words.join(" ")
        });
        assert_eq!(written.as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn keys_are_read_in_the_spellings_of_providers() {
        check("CTRL+SHIFT+S", "ctrl+shift+s");
        check("ENTER", "Return");
        check("ARROWLEFT ArrowDown", "Left Down");
        check("Page_Down KP_Enter", "PageDown Return");
        check("Control_L+plus", "ctrl++");
        check("ctrl++", "ctrl++");
        check("cmd+minus", "super+-");
        check("alt+F4", "alt+F4");
        check("-", "-");
    }

    #[test]
    fn what_is_no_chord_is_named() {
        assert!(chords("ctrl").unwrap_err().starts_with("`ctrl` is not a key chord"));
        assert!(chords("hyper+x").unwrap_err().contains("`hyper+x`"));
        assert!(chords("  ").unwrap_err().starts_with("no keys"));
        assert!(chords(&"a ".repeat(65)).unwrap_err().contains("too many"));
    }
}

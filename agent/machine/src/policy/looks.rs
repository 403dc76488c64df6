//! Names as they look: what a person, or a model that looks at a picture, takes for the same name.
//!
//! A page writes *Dеlete* with a Cyrillic *е*, *Ｄｅｌｅｔｅ* in wide letters, or puts marks on letters. Such a name is another one, so an
//! element is not found by it, and nothing is ever allowed because of how it looks. But what is asked about or denied under one
//! name is asked about or denied under all that look like it (Unicode Technical Standard 39).

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_security::confusable_detection::skeleton;

use deskhand_ui::fold_name;
use deskhand_ui::pattern::{NameGlobs, folded, glob};

/// The longest name that is looked at, in characters.
const CHARS_MAX: usize = 500;

/// A name as it looks.
pub(super) struct NameSkeleton {
    /// With the marks on its letters.
    whole: [Vec<char>; 3],
    /// Without them; `None` if it has none.
    bare: Option<[Vec<char>; 3]>,
}

impl NameSkeleton {
    pub(super) fn of(name: &str) -> Self {
        let name: String = name.chars().take(CHARS_MAX).collect();
        let compatible: String = name.nfkc().collect();
        // Some letters look like another one before, some after they are put into their compatible form, some as capitals alone.
        let alike =
            [compatible.to_lowercase(), skeleton(&compatible).collect(), skeleton(&name).nfkc().collect()];
        let forms = alike.map(|form| drawn(&form, &[]));
        let bare = forms.each_ref().map(|form| without_marks(form));
        Self { bare: (bare != forms).then_some(bare), whole: forms }
    }
}

/// Patterns of names, ready to be compared by how names look.
pub(super) struct Alike(Vec<(Vec<char>, Vec<char>)>);

impl Alike {
    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let each = patterns.into_iter().flat_map(|pattern| pattern.split('|'));
        let whole = each.map(|pattern| drawn(&pattern.nfkc().collect::<String>(), &['*', '?']));
        let named = whole.filter(|whole| !whole.is_empty());
        Self(named.map(|whole| (without_marks(&whole), whole)).map(|(bare, whole)| (whole, bare)).collect())
    }

    /// Returns `true` if a name looks like one of them. One that has no marks looks like none that has some: *ode* is not *öde*.
    pub(super) fn have(&self, name: &NameSkeleton) -> bool {
        let fits = |pattern: &[char], forms: &[Vec<char>]| forms.iter().any(|form| glob(pattern, form));
        let marked = |bare: &[char]| name.bare.as_ref().is_some_and(|forms| fits(bare, forms));
        self.0.iter().any(|(whole, bare)| fits(whole, &name.whole) || marked(bare))
    }
}

/// Names that are known as they are, and by how they look.
pub(super) struct KnownNames {
    names: NameGlobs,
    alike: Alike,
}

impl KnownNames {
    pub(super) fn new(patterns: &[&'static str]) -> Self {
        Self { names: NameGlobs::new(patterns), alike: Alike::new(patterns.iter().copied()) }
    }

    /// Returns `true` if a name that was [`folded`] is one of them.
    pub(super) fn have(&self, name: &[char]) -> bool {
        self.names.have(name)
    }

    /// Returns `true` if a name is one of them, or looks like one.
    pub(super) fn seem(&self, name: &str) -> bool {
        self.have(&folded(name)) || self.look_like(&NameSkeleton::of(name))
    }

    /// Returns `true` if a name looks like one of them.
    pub(super) fn look_like(&self, name: &NameSkeleton) -> bool {
        self.alike.have(name)
    }
}

/// Returns `true` if a text has one of these parts, as far as it looks.
pub(super) fn has_part(text: &str, parts: &[&str]) -> bool {
    let text = drawn(&text.nfkc().take(CHARS_MAX).collect::<String>(), &[]);
    let text: String = without_marks(&text).into_iter().collect();
    let mut parts = parts.iter().map(|part| without_marks(&drawn(part, &[])).into_iter().collect::<String>());
    parts.any(|part| text.contains(&part))
}

/// Returns `true` if a name has a word that is written in several scripts and looks like one in Latin letters, as no language writes.
pub(super) fn poses(name: &str) -> bool {
    // Letters that are drawn in another order than they are written.
    if name.contains(['\u{202d}', '\u{202e}']) {
        return true;
    }
    name.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let has = |ascii: bool| word.chars().any(|c| c.is_alphabetic() && c.is_ascii() == ascii);
        let looks = |c: char| skeleton(c.encode_utf8(&mut [0; 4])).all(|c| c.is_ascii_alphabetic());
        let others = || word.chars().filter(|c| !c.is_ascii()).all(|c| is_lettered(c) && looks(c));
        has(true) && has(false) && word.chars().count() >= WORD_MIN && others()
    })
}

/// The shortest word that poses, in characters.
const WORD_MIN: usize = 3;

/// Returns `true` if a letter belongs to a script with letters like Latin ones: Greek, Cyrillic, Armenian, Cherokee.
const fn is_lettered(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}' | '\u{a640}'..='\u{a69f}' | '\u{ab70}'..='\u{abbf}')
}

/// A text as it is drawn: one letter for all that look like it, without spaces and without what stands around its words.
fn drawn(text: &str, keeps: &[char]) -> Vec<char> {
    let alike: String = skeleton(&text.to_lowercase()).collect();
    let plain = fold_name(&alike);
    let is_word = |c: char| c.is_alphanumeric() || is_combining_mark(c) || keeps.contains(&c);
    plain.trim_matches(|c| !is_word(c)).chars().filter(|c| !c.is_whitespace()).map(plainest).collect()
}

fn without_marks(text: &[char]) -> Vec<char> {
    text.iter().copied().filter(|c| !is_combining_mark(*c)).collect()
}

/// The letter that a letter is taken for, beyond the tables of Unicode: small capitals, and *i* for *l*.
const fn plainest(c: char) -> char {
    match c {
        'i' | 'ɪ' | 'ʟ' => 'l',
        'ᴀ' => 'a',
        'ʙ' => 'b',
        'ᴄ' => 'c',
        'ᴅ' => 'd',
        'ᴇ' => 'e',
        'ꜰ' => 'f',
        'ɢ' => 'g',
        'ʜ' => 'h',
        'ᴊ' => 'j',
        'ᴋ' | 'ĸ' => 'k',
        'ɴ' => 'n',
        'ᴏ' => 'o',
        'ᴘ' => 'p',
        'ʀ' => 'r',
        'ꜱ' => 's',
        'ᴛ' => 't',
        'ᴜ' => 'u',
        'ᴠ' => 'v',
        'ᴡ' => 'w',
        'ʏ' => 'y',
        'ᴢ' => 'z',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_taken_for_each_other() {
        let known = Alike::new(["Delete|Don't Save|Mute|Удалить|Löschen|ゴミ箱|Öde"]);
        let alike = |name: &str| known.have(&NameSkeleton::of(name));
        for name in [
            "Dеlete",
            "Ｄｅｌｅｔｅ",
            "D\u{301}elete",
            "DELEТЕ",
            "Ⓓelete",
            "𝐃𝐞𝐥𝐞𝐭𝐞",
            "De\u{200b}lete",
            "DeIete",
            "De1ete",
            "d e l e t e",
            "Dᴇʟᴇᴛᴇ",
            "🗑 Delete",
            "[Delete]",
            "Delete!",
            "Dełete",
            "Délété",
            "Don’t Ѕave",
            "MUТE",
            "Mute",
            "Удaлить",
            "УДАЛИТЬ",
            "Lösсhen",
            "Lö\u{301}schen",
            "ゴミ箱",
            "ｺﾞﾐ箱",
            "D\u{3164}elete",
            "_Delete…",
        ] {
            assert!(alike(name), "{name}");
        }
        for name in
            ["Deleted", "Select", "ode", "Loschen", "Save", "Удалено", "コミ箱", "Правка", "", "🗑", "Deplete"]
        {
            assert!(!alike(name), "{name}");
        }
    }

    #[test]
    fn a_word_in_several_scripts_poses() {
        for name in ["Cоntinue", "Weitеr"] {
            assert!(poses(name), "{name}");
        }
        for name in [
            "Continue",
            "Продолжить",
            "SMS-сообщение",
            "kΩ",
            "Größe",
            "µm",
            "Go on",
            "Σχέδιο",
            "USB-диск",
            "保存する",
            "",
        ] {
            assert!(!poses(name), "{name}");
        }
    }
}

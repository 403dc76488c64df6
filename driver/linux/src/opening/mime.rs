//! MIME types of files, from the shared MIME-info database of the system (freedesktop.org, version 0.21).
//!
//! A name decides where it can, then the content, as the specification says. Files are read here and nothing is started. No crate:
//! `xdg-mime` brings six others for three small text formats and a binary one.

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use super::magic::Magic;

/// Plain text.
pub(super) const TEXT: &str = "text/plain";
/// The type of files that cannot be identified further.
pub(super) const BYTES: &str = "application/octet-stream";
/// A folder.
pub(super) const FOLDER: &str = "inode/directory";

/// Number of bytes read from a file to determine its type: the furthest offset in the database is that of a
/// disc image.
const HEAD_MAX: u64 = 40_000;
/// Number of these bytes that must look like text.
const TEXT_MAX: usize = 4_096;
/// The most lines of a file of the database that are read.
const LINES_MAX: usize = 100_000;
/// The most types that one type is a kind of.
const PARENTS_MAX: usize = 64;
/// The weight of a pattern that has none.
const WEIGHT: u32 = 50;

/// Types of extensions where no database is installed.
const KNOWN: &[(&str, &str)] = &[
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("odg", "application/vnd.oasis.opendocument.graphics"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rtf", "application/rtf"),
    ("tsv", "text/tab-separated-values"),
    ("txt", TEXT),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

/// The database.
#[derive(Debug, Default)]
pub(super) struct MimeTypes {
    globs: Vec<Glob>,
    magic: Vec<Magic>,
    aliases: HashMap<String, String>,
    parents: HashMap<String, Vec<String>>,
}

/// A pattern for names.
#[derive(Debug)]
struct Glob {
    weight: u32,
    mime: String,
    pattern: Vec<char>,
    /// In lower case; `None` for one that counts in its own case alone.
    folded: Option<Vec<char>>,
}

impl MimeTypes {
    /// Reads the `mime` folders of `data_folders`. Blocking.
    pub(super) fn read(data_folders: &[PathBuf]) -> Self {
        let mut all = Self::default();
        let mut deleted = HashSet::new();
        for folder in data_folders.iter().map(|folder| folder.join("mime")) {
            let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
            // What a folder says of all patterns of a type holds for the folders after it.
            let mut deletes = HashSet::new();
            for glob in text("globs2").lines().take(LINES_MAX).filter_map(Glob::parse) {
                if glob.pattern.iter().collect::<String>() == "__NOGLOBS__" {
                    deletes.insert(glob.mime);
                } else if !deleted.contains(&glob.mime) {
                    all.globs.push(glob);
                }
            }
            deleted.extend(deletes);
            all.magic.extend(Magic::parse_all(&fs::read(folder.join("magic")).unwrap_or_default()));
            for (alias, mime) in
                text("aliases").lines().take(LINES_MAX).filter_map(|line| line.split_once(' '))
            {
                all.aliases.entry(alias.to_owned()).or_insert_with(|| mime.trim().to_owned());
            }
            for (mime, parent) in
                text("subclasses").lines().take(LINES_MAX).filter_map(|line| line.split_once(' '))
            {
                all.parents.entry(mime.to_owned()).or_default().push(parent.trim().to_owned());
            }
        }
        all.magic.sort_by_key(|magic| std::cmp::Reverse(magic.priority));
        all
    }

    /// The type of what is at a path; of a file that does not exist, by its name. Blocking.
    pub(super) fn type_of(&self, path: &Path) -> String {
        if path.is_dir() {
            return FOLDER.to_owned();
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = self.by_name(&name);
        if let [only] = named.as_slice() {
            return (*only).to_owned();
        }
        let head = head_of(path);
        let by_content = |mime: &str| named.is_empty() || named.contains(&mime);
        let magic = self.magic.iter().find(|magic| by_content(&magic.mime) && magic.matches(&head));
        let found = magic.map(|magic| magic.mime.as_str()).or_else(|| named.first().copied());
        found.unwrap_or_else(|| if is_text(&head) { TEXT } else { BYTES }).to_owned()
    }

    /// The types that a name stands for: of the patterns with the highest weight, the longest.
    fn by_name(&self, name: &str) -> Vec<&str> {
        let exact: Vec<char> = name.chars().collect();
        let folded: Vec<char> = name.to_lowercase().chars().collect();
        // A name in its own case comes before one in lower case.
        let mut found: Vec<&Glob> = self.globs.iter().filter(|glob| matches(&glob.pattern, &exact)).collect();
        if found.is_empty() {
            let fits = |glob: &&Glob| glob.folded.as_ref().is_some_and(|pattern| matches(pattern, &folded));
            found = self.globs.iter().filter(fits).collect();
        }
        let best = found.iter().map(|glob| (glob.weight, glob.pattern.len())).max();
        let mut types: Vec<&str> = Vec::new();
        for glob in found.into_iter().filter(|glob| Some((glob.weight, glob.pattern.len())) == best) {
            if !types.contains(&glob.mime.as_str()) {
                types.push(&glob.mime);
            }
        }
        if types.is_empty() && self.globs.is_empty() {
            let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
            let known = KNOWN.iter().find(|(known, _)| extension.as_deref() == Some(*known));
            types.extend(known.map(|(_, mime)| *mime));
        }
        types
    }

    /// The name that the database uses for a type.
    pub(super) fn unaliased<'a>(&'a self, mime: &'a str) -> &'a str {
        self.aliases.get(mime).map_or(mime, String::as_str)
    }

    /// A type and all that it is a kind of, the nearest first: every text is plain text, every file is bytes.
    pub(super) fn kinds_of(&self, mime: &str) -> Vec<String> {
        let mut kinds = vec![self.unaliased(mime).to_owned()];
        let mut next = 0;
        while let Some(kind) = kinds.get(next).cloned() {
            next += 1;
            let implied = (kind.starts_with("text/") && kind != TEXT).then(|| TEXT.to_owned());
            let parents = self.parents.get(&kind).into_iter().flatten();
            let parents: Vec<String> =
                parents.map(|parent| self.unaliased(parent).to_owned()).chain(implied).collect();
            for parent in parents {
                if kinds.len() < PARENTS_MAX && !kinds.contains(&parent) && parent != BYTES {
                    kinds.push(parent);
                }
            }
        }
        if !mime.starts_with("inode/") && !mime.starts_with("x-scheme-handler/") && mime != BYTES {
            kinds.push(BYTES.to_owned());
        }
        kinds
    }
}

impl Glob {
    /// Reads `50:text/plain:*.txt` or `50:text/x-c++src:*.C:cs`.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.trim().split(':');
        let weight = parts.next()?;
        if weight.starts_with('#') {
            return None;
        }
        let (mime, pattern) = (parts.next()?.to_owned(), parts.next()?);
        let case_sensitive = parts.next().is_some_and(|flags| flags.split(',').any(|flag| flag == "cs"));
        let folded = (!case_sensitive).then(|| pattern.to_lowercase().chars().collect());
        let weight = weight.parse().unwrap_or(WEIGHT);
        Some(Self { weight, mime, pattern: pattern.chars().collect(), folded })
    }
}

/// The first bytes of a file; none if it cannot be read.
fn head_of(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    // A pipe or a device would wait for data.
    if fs::metadata(path).is_ok_and(|about| about.is_file())
        && let Ok(file) = fs::File::open(path)
    {
        let _ = file.take(HEAD_MAX).read_to_end(&mut head);
    }
    head
}

/// Returns `true` if bytes look like text: valid UTF-8, up to where it was cut off, without control characters.
fn is_text(head: &[u8]) -> bool {
    let head = head.get(..TEXT_MAX).unwrap_or(head);
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            let valid = head.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
        Err(_) => return false,
    };
    text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}'))
}

/// Returns `true` if a shell pattern (`*`, `?`, `[…]`) fits a whole text.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return text.is_empty() };
    match first {
        '*' => (0..=text.len()).any(|skipped| matches(rest, text.get(skipped..).unwrap_or_default())),
        '[' => {
            let Some(end) = rest.iter().skip(1).position(|c| *c == ']').map(|at| at + 1) else {
                return text.split_first().is_some_and(|(c, more)| c == first && matches(rest, more));
            };
            let (set, after) = (rest.get(..end).unwrap_or_default(), rest.get(end + 1..).unwrap_or_default());
            text.split_first().is_some_and(|(c, more)| in_set(set, *c) && matches(after, more))
        }
        _ => text.split_first().is_some_and(|(c, more)| (*first == '?' || c == first) && matches(rest, more)),
    }
}

/// Returns `true` if a character is in the set of a shell pattern: `abc`, `a-z`, `!a`.
fn in_set(set: &[char], wanted: char) -> bool {
    let (negated, mut set) = match set.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        _ => (false, set),
    };
    let mut found = false;
    while let Some((first, rest)) = set.split_first() {
        match rest {
            ['-', last, more @ ..] => {
                found |= (*first..=*last).contains(&wanted);
                set = more;
            }
            _ => {
                found |= *first == wanted;
                set = rest;
            }
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_names() {
        let check = |pattern: &str, text: &str, expected: bool| {
            let (pattern_of, text_of): (Vec<char>, Vec<char>) =
                (pattern.chars().collect(), text.chars().collect());
            assert_eq!(matches(&pattern_of, &text_of), expected, "{pattern} {text}");
        };
        check("*.txt", "a.txt", true);
        check("*.txt", ".txt", true);
        check("*.txt", "a.txt.bak", false);
        check("makefile", "makefile", true);
        check("*.[0-9]", "man.1", true);
        check("*.[0-9]", "man.x", false);
        check("readme*", "readme.first", true);
        check("?.c", "ab.c", false);
        check("a[!b]c", "abc", false);
        check("a[", "a[", true);
    }

    #[test]
    fn what_looks_like_text() {
        let check = |bytes: &[u8], expected: bool| assert_eq!(is_text(bytes), expected, "{bytes:?}");
        check(b"", true);
        check("schön\n".as_bytes(), true);
        check(b"a\0b", false);
        check(b"\xff\xfe", false);
        check(&"ö".as_bytes()[..1], true);
    }
}

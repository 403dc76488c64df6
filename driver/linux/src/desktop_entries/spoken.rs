//! Names that people and models use for applications, beyond those that mean exactly one: the generic name
//! (`text editor`), a part of the name (`Impress`), the name in another language, and the maker's name before
//! it (`Mozilla Firefox`).

use std::path::Path;

use deskhand_process::find_program;
use deskhand_ui::{bare_name, name_words};

use super::{DesktopEntries, DesktopEntry};

/// The most entries that are named where several are meant.
const CANDIDATES_MAX: usize = 6;

/// Meaning of a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ApplicationNameMatch<'a> {
    /// One application.
    One(&'a DesktopEntry),
    /// Any of these.
    Several(Vec<&'a DesktopEntry>),
    /// None that is installed.
    None,
}

impl DesktopEntries {
    /// Finds the meaning of a name: exactly one application by [`Self::find`], with and without the word of its
    /// maker; else those whose kind, or whose name in any language, it is; else those with all of its words in
    /// their names; else in their keywords.
    pub(crate) fn meant(&self, wanted: &str) -> ApplicationNameMatch<'_> {
        let bare = bare_name(wanted);
        if let Some(entry) = self.find(wanted).or_else(|| self.find(&bare)) {
            return ApplicationNameMatch::One(entry);
        }
        let whole = wanted.trim().to_lowercase();
        let words = name_words(&bare);
        if words.is_empty() {
            return ApplicationNameMatch::None;
        }
        let tiers: [&dyn Fn(&DesktopEntry) -> bool; 3] = [
            &|entry| entry.called.contains(&whole) || entry.called.contains(&bare),
            &|entry| words.iter().all(|word| entry.name_words.contains(word)),
            &|entry| words.iter().all(|word| entry.name_words.contains(word) || entry.about.contains(word)),
        ];
        let found = tiers.into_iter().map(|fits| self.shown_where(fits)).find(|found| !found.is_empty());
        match found.unwrap_or_default().as_slice() {
            [] => ApplicationNameMatch::None,
            [one] => ApplicationNameMatch::One(one),
            several => ApplicationNameMatch::Several(several.to_vec()),
        }
    }

    /// The entries of menus for which something holds, one for each command.
    fn shown_where(&self, fits: &dyn Fn(&DesktopEntry) -> bool) -> Vec<&DesktopEntry> {
        let mut found: Vec<&DesktopEntry> = Vec::new();
        for entry in self.all().iter().filter(|entry| !entry.hidden && !entry.terminal && fits(entry)) {
            if found.iter().all(|other| other.exec != entry.exec) {
                found.push(entry);
            }
        }
        found
    }

    /// Returns the names besides its own that mean an entry and no other: its generic name, and the words of its
    /// name.
    pub(super) fn also(&self, entry: &DesktopEntry) -> Vec<String> {
        let words = entry.name_words.iter().filter(|word| word.chars().count() > 2);
        let mut names: Vec<String> = words
            .cloned()
            .chain([entry.generic_name.to_lowercase()])
            .filter(|name| !name.is_empty())
            .collect();
        names.sort();
        names.dedup();
        let own = [&entry.id, &entry.name, &entry.program_name()].map(|name| name.to_lowercase());
        // A program of this name is what is meant by it.
        let is_program = |name: &str| find_program(name, &self.path, Path::new("")).is_some();
        names.retain(|name| {
            !own.contains(name) && self.meant(name) == ApplicationNameMatch::One(entry) && !is_program(name)
        });
        names
    }
}

impl ApplicationNameMatch<'_> {
    /// The names of those that may be meant, each with what distinguishes it.
    pub(crate) fn candidates(several: &[&DesktopEntry]) -> String {
        let shown = several.iter().take(CANDIDATES_MAX);
        let names: Vec<String> = shown.map(|entry| format!("{} (`{}`)", entry.name, entry.id)).collect();
        let more = several.len().saturating_sub(CANDIDATES_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", names.join(", "))
    }
}

//! Figures about names, comments and imports, with a limit for each that only ever goes down.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use super::{code::first_test_line, files::SourceFile, imports, scanner::is_word};

/// Type names that several modules may define: the conventions of Rust.
const SHARED_NAMES: &[&str] = &["Error", "Options", "Output", "Builder", "Result"];
/// Words that look like participles and are nouns.
const NOUNS: &[&str] = &[
    "String", "Heading", "Listing", "Meaning", "Seed", "Feed", "Bed", "Need", "Speed", "Ring", "Thing",
    "Spelling",
];
/// Participles that do not end in `ed`.
const IRREGULAR: &[&str] = &[
    "Found",
    "Shown",
    "Known",
    "Told",
    "Said",
    "Kept",
    "Held",
    "Seen",
    "Sent",
    "Left",
    "Given",
    "Taken",
    "Done",
    "Gone",
    "Made",
    "Met",
    "Written",
    "Drawn",
    "Begun",
    "Born",
    "Built",
    "Bound",
    "Bought",
    "Broken",
    "Brought",
    "Chosen",
    "Cut",
    "Driven",
    "Fallen",
    "Felt",
    "Forgotten",
    "Fought",
    "Frozen",
    "Grown",
    "Heard",
    "Hidden",
    "Laid",
    "Led",
    "Lent",
    "Lost",
    "Meant",
    "Paid",
    "Put",
    "Run",
    "Sold",
    "Sought",
    "Spent",
    "Split",
    "Spoken",
    "Stolen",
    "Struck",
    "Sworn",
    "Taught",
    "Thought",
    "Thrown",
    "Torn",
    "Understood",
    "Woken",
    "Won",
    "Worn",
    "Wound",
];
/// How doc comments of a private dialect begin.
const OPENINGS: &[&str] = &["What", "Whether", "How", "Where", "It"];

/// The limits, in tenths of a percent. Lower one when the figure has come down.
const SHARED_MAX: usize = 2;
const PARTICIPLES_MAX: usize = 2;
const OPENINGS_MAX: usize = 4;
const CIRCLES_MAX: usize = 30;

/// A part of a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    part: usize,
    whole: usize,
}

impl Share {
    /// In tenths of a percent, rounded up.
    fn permille(self) -> usize {
        (self.part * 1000).div_ceil(self.whole.max(1))
    }
}

/// One figure with its limit.
struct Figure {
    name: &'static str,
    share: Share,
    max: usize,
    /// The worst of it.
    examples: String,
}

/// The product: the sources of all crates but doubles and test kits, without tests.
fn product(files: &[SourceFile]) -> impl Iterator<Item = &SourceFile> {
    let is_product = |file: &&SourceFile| {
        let path = file.path.as_str();
        let doubles = ["driver/testkit/", "driver/fake/", "agent/testkit/"];
        file.is_rust()
            && !file.is_test()
            && file.is_in_workspace()
            && path.contains("/src/")
            && !doubles.iter().any(|folder| path.starts_with(folder))
    };
    files.iter().filter(is_product)
}

/// The lines of a file above its tests.
fn product_lines(file: &SourceFile) -> usize {
    file.text().lines().count().min(first_test_line(file.text()) - 1)
}

/// The names of the types that a file defines above its tests.
fn type_names(file: &SourceFile) -> Vec<&str> {
    let line_of = |line: &'_ str| -> Option<usize> {
        let line = line.trim_start();
        let rest = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
            Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
            None => rest,
        });
        let rest = rest.trim_start();
        ["struct ", "enum ", "trait ", "union "].iter().find_map(|word| rest.strip_prefix(word)).map(str::len)
    };
    let lines = file.code().lines().take(product_lines(file));
    lines
        .filter_map(|line| {
            let rest = line.get(line.len() - line_of(line)?..)?;
            let end = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
            rest.get(..end).filter(|name| name.starts_with(char::is_uppercase))
        })
        .collect()
}

/// Returns `true` if a name is one word that is a participle or gerund.
fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(char::is_lowercase);
    let ends = name.ends_with("ed") || name.ends_with("ing");
    is_one_word && !NOUNS.contains(&name) && (ends || IRREGULAR.contains(&name))
}

/// The first lines of the doc comments of a file.
fn doc_openings(file: &SourceFile) -> Vec<&str> {
    let mut openings = Vec::new();
    let mut before = "";
    for line in file.text().lines().take(product_lines(file)).map(str::trim_start) {
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark));
        if let Some(mark) = mark.filter(|mark| !before.starts_with(mark)) {
            openings.push(line.trim_start_matches(mark).trim());
        }
        before = line;
    }
    openings
}

fn figures(files: &[SourceFile]) -> Vec<Figure> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut docs, mut dialect) = (0, BTreeMap::<&str, usize>::new());
    for file in product(files) {
        type_names(file).into_iter().for_each(|name| *places.entry(name).or_default() += 1);
        for opening in doc_openings(file) {
            docs += 1;
            let first = opening.split(|character| !is_word(character)).next().unwrap_or_default();
            if let Some(word) = OPENINGS.iter().find(|word| **word == first) {
                *dialect.entry(word).or_default() += 1;
            }
        }
    }
    let types: usize = places.values().sum();
    let shared: BTreeMap<&str, usize> = places
        .iter()
        .filter(|(name, count)| **count > 1 && !SHARED_NAMES.contains(name))
        .map(|(name, count)| (*name, *count))
        .collect();
    let participles: BTreeMap<&str, usize> =
        places.iter().filter(|(name, _)| is_participle(name)).map(|(name, count)| (*name, *count)).collect();
    let lines: BTreeMap<&str, usize> =
        product(files).map(|file| (file.path.as_str(), product_lines(file))).collect();
    let circles = imports::circles(product(files));
    let in_circles: BTreeSet<&str> = circles.iter().flatten().copied().collect();
    let all = |counts: &BTreeMap<&str, usize>| counts.values().sum();
    let largest = circles.iter().map(Vec::len).max().unwrap_or_default();
    vec![
        Figure {
            name: "types that share their name with another",
            share: Share { part: all(&shared), whole: types },
            max: SHARED_MAX,
            examples: most(&shared),
        },
        Figure {
            name: "types named by a bare participle",
            share: Share { part: all(&participles), whole: types },
            max: PARTICIPLES_MAX,
            examples: most(&participles),
        },
        Figure {
            name: "doc comments that begin with What, Whether, How, Where, It",
            share: Share { part: all(&dialect), whole: docs },
            max: OPENINGS_MAX,
            examples: most(&dialect),
        },
        Figure {
            name: "lines of files that import each other in a circle",
            share: Share {
                part: in_circles.iter().filter_map(|path| lines.get(path)).sum(),
                whole: lines.values().sum(),
            },
            max: CIRCLES_MAX,
            examples: format!("{} circles, the largest of {largest} files", circles.len()),
        },
    ]
}

/// The most frequent ones.
fn most(counts: &BTreeMap<&str, usize>) -> String {
    let mut most: Vec<(&str, usize)> = counts.iter().map(|(name, count)| (*name, *count)).collect();
    most.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
    let shown: Vec<String> = most.iter().take(8).map(|(name, count)| format!("{name} {count}")).collect();
    shown.join(", ")
}

/// The report of `cargo xtask tidy`.
pub(super) fn report(files: &[SourceFile]) -> String {
    let mut text = format!("{:60} {:>15} {:>7} {:>7}\n", "names, comments and imports", "", "share", "limit");
    for Figure { name, share, max, examples } in figures(files) {
        let percent = |permille: usize| format!("{}.{} %", permille / 10, permille % 10);
        let of = format!("{} of {}", share.part, share.whole);
        let _ = writeln!(text, "{name:60} {of:>15} {:>7} {:>7}", percent(share.permille()), percent(max));
        let _ = writeln!(text, "    {examples}");
    }
    text
}

/// Fails for a figure over its limit.
pub(super) fn check(files: &[SourceFile]) -> Vec<String> {
    let over = figures(files).into_iter().filter(|figure| figure.share.permille() > figure.max);
    over.map(|Figure { name, share, max, examples }| {
        let (now, max) = (share.permille(), max);
        format!("{name}: {now} per mille, more than {max}: {examples}")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_above_the_tests() {
        let text = "pub(crate) struct Found;\nenum Kind { A }\n// struct No;\npub trait Act {}\n#[cfg(test)]\nmod tests { struct T; }\n";
        assert_eq!(type_names(&SourceFile::sample("agent/machine/src/a.rs", text)), ["Found", "Kind", "Act"]);
    }

    #[test]
    fn participles_are_single_words() {
        let check = |name: &str, expected: bool| assert_eq!(is_participle(name), expected, "{name}");
        for name in ["Found", "Asked", "Waiting", "Written"] {
            check(name, true);
        }
        for name in ["String", "Heading", "FoundElement", "Element", "Seed"] {
            check(name, false);
        }
    }

    #[test]
    fn a_doc_comment_is_judged_by_its_first_line() {
        let text = "//! What it is.\n\n/// A thing.\n/// What it has.\nstruct A;\n/// Whether.\nfn b() {}\n";
        let file = SourceFile::sample("agent/machine/src/a.rs", text);
        assert_eq!(doc_openings(&file), ["What it is.", "A thing.", "Whether."]);
        let names: Vec<(&str, Share)> =
            figures(&[file]).into_iter().map(|figure| (figure.name, figure.share)).collect();
        assert_eq!(names[2].1, Share { part: 2, whole: 3 });
    }
}

//! Listings and searches.

use std::{fs, os::unix::fs::symlink, path::Path};

use deskhand_files::{
    EntryKind, FileSearchPattern, FolderListOptions, Match, SearchOptions, SearchResult, Sort, list, search,
};
use tempfile::TempDir;

use crate::support::{fixture, message};

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("sub/deeper")).unwrap();
    fs::write(root.join("b.txt"), "alpha\nBeta gamma\n").unwrap();
    fs::write(root.join("a.csv"), "x,alpha").unwrap();
    fs::write(root.join(".hidden"), "alpha").unwrap();
    fs::write(root.join("sub/c.txt"), "one\r\nalpha two\r\n").unwrap();
    fs::write(root.join("sub/deeper/binary"), b"alpha\0\0\0alpha").unwrap();
    symlink("/etc", root.join("link")).unwrap();
    symlink("..", root.join("sub/loop")).unwrap();
    folder
}

fn paths(root: &Path, options: &FolderListOptions) -> Vec<String> {
    list(root, options).unwrap().entries.into_iter().map(|entry| entry.path).collect()
}

#[test]
fn folders_are_listed() {
    let folder = folder();
    let root = folder.path();
    let options = FolderListOptions::default();
    assert_eq!(paths(root, &options), ["a.csv", "b.txt", "link", "sub"]);
    let listing = list(root, &options).unwrap();
    assert_eq!(listing.entries[2].kind, EntryKind::Link { target: "/etc".to_owned() });
    assert_eq!((listing.entries[0].size, &listing.entries[3].kind), (7, &EntryKind::Folder));
    let deep = FolderListOptions { depth_max: 9, hidden: true, ..options.clone() };
    let all = [
        ".hidden",
        "a.csv",
        "b.txt",
        "link",
        "sub",
        "sub/c.txt",
        "sub/deeper",
        "sub/deeper/binary",
        "sub/loop",
    ];
    assert_eq!(paths(root, &deep), all);
    let glob = |glob: &str| FolderListOptions { glob: Some(glob.to_owned()), ..deep.clone() };
    assert_eq!(paths(root, &glob("*.txt")), ["b.txt", "sub/c.txt"]);
    assert_eq!(paths(root, &glob("sub/*.txt")), ["sub/c.txt"]);
    assert_eq!(paths(root, &glob("**/[bc]*")), ["b.txt", "sub/c.txt", "sub/deeper/binary"]);
    let error = message(list(root, &glob("a[")));
    assert!(error.starts_with("understand \"a[\"") && error.contains("*.csv"), "{error}");
    let some = FolderListOptions { entries_max: 2, skip: 1, sort: Sort::Size, ..deep };
    let listing = list(root, &some).unwrap();
    assert_eq!((listing.entries[0].size, listing.total), (16, 9));
    assert_eq!(listing.left_out.unwrap(), "entries 4 to 9; read on with skip 3");
    assert!(message(list(&root.join("b.txt"), &options)).ends_with("it is no folder; read it instead"));
}

fn found(result: &SearchResult) -> Vec<(&str, usize, &str)> {
    result.matches.iter().map(|found| (found.path.as_str(), found.line, found.text.as_str())).collect()
}

#[test]
fn files_are_searched() {
    let folder = folder();
    let root = folder.path();
    let plain = |text: &str| FileSearchPattern::Plain(text.to_owned());
    let options = SearchOptions::default();
    let result = search(root, &plain("alpha"), &options).unwrap();
    assert_eq!(
        found(&result),
        [("a.csv", 1, "x,alpha"), ("b.txt", 1, "alpha"), ("sub/c.txt", 2, "alpha two")]
    );
    assert_eq!((result.files_searched, result.files_binary, result.left_out), (3, 1, None));
    let result = search(root, &FileSearchPattern::Regex("^beta \\w+$".to_owned()), &options).unwrap();
    assert_eq!(found(&result), []);
    let ignore_case = SearchOptions { ignore_case: true, ..options.clone() };
    let result = search(root, &FileSearchPattern::Regex("^beta \\w+$".to_owned()), &ignore_case).unwrap();
    assert_eq!(found(&result), [("b.txt", 2, "Beta gamma")]);
    assert_eq!(found(&search(root, &plain(".*"), &options).unwrap()), []);
    let one = SearchOptions { glob: Some("*.txt".to_owned()), matches_max: 1, ..options.clone() };
    let result = search(root, &plain("alpha"), &one).unwrap();
    assert_eq!(found(&result), [("b.txt", 1, "alpha")]);
    assert!(result.left_out.unwrap().contains("after 1 matches"));
    let small = SearchOptions { bytes_max: 8, ..options.clone() };
    let result = search(root, &plain("alpha"), &small).unwrap();
    assert_eq!(found(&result), [("a.csv", 1, "x,alpha")]);
    assert!(result.skipped[0].why.contains("bytes"), "{:?}", result.skipped);
    let result = search(&root.join("b.txt"), &plain("gamma"), &options).unwrap();
    assert_eq!(found(&result), [("b.txt", 2, "Beta gamma")]);
    assert!(
        message(search(root, &FileSearchPattern::Regex("(".to_owned()), &options))
            .starts_with("understand \"(\"")
    );
    assert!(
        message(search(root, &FileSearchPattern::Regex("(\\w{900}){900}".to_owned()), &options))
            .contains("size limit")
    );
}

#[test]
fn long_lines_are_shown_around_the_match() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("{}needle{}\nsecond needle", "ä".repeat(200_000), "b".repeat(3_000_000));
    fs::write(folder.path().join("a.txt"), line).unwrap();
    let options = SearchOptions { line_characters_max: 40, ..SearchOptions::default() };
    let result = search(folder.path(), &FileSearchPattern::Plain("needle".to_owned()), &options).unwrap();
    let expected = format!("…{}needle{}…", "ä".repeat(10), "b".repeat(24));
    assert_eq!(found(&result), [("a.txt", 1, expected.as_str()), ("a.txt", 2, "second needle")]);
}

#[test]
fn documents_are_searched_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["document.docx", "workbook.xlsx", "slides.pptx"] {
        fs::copy(fixture(name), folder.path().join(name)).unwrap();
    }
    let pattern = FileSearchPattern::Regex("Borealis|hemp|crane".to_owned());
    let without = search(folder.path(), &pattern, &SearchOptions::default()).unwrap();
    assert_eq!((without.matches.len(), without.files_binary), (0, 3));
    let options = SearchOptions { documents: true, ..SearchOptions::default() };
    let result = search(folder.path(), &pattern, &options).unwrap();
    let found = |path: &str, line: usize, place: Option<&str>, text: &str| Match {
        path: path.to_owned(),
        line,
        place: place.map(str::to_owned),
        text: text.to_owned(),
    };
    assert_eq!(
        result.matches,
        [
            found("document.docx", 12, None, "| Borealis | 95 |"),
            found("slides.pptx", 3, Some("slide 1"), "- New crane"),
            found("workbook.xlsx", 2, Some("Orders!A2"), "Rope | hemp"),
        ]
    );
}

//! Files that are made to do harm, and files that are broken at any place.

use std::{fs, path::Path, time::Duration};

use deskhand_files::{
    ContentForm, FileSearchPattern, ReadOptions, SearchOptions,
    archive::{self, UnpackOptions},
    read, search,
};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

use crate::support::{file, fixture, made, message, tables_of, text_of};

/// How long this thread has computed. Unlike the time of day, it does not depend on what else the machine does.
fn computed() -> Duration {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}

/// The longest that one file may compute.
const TIME_MAX: Duration = Duration::from_secs(4);

/// Reads a file in all ways. What comes out does not matter, only that it does.
fn exercise(path: &Path) {
    let start = computed();
    for what in [ContentForm::Auto, ContentForm::Text, ContentForm::Table] {
        let _ = read(path, &ReadOptions { what, ..ReadOptions::default() });
    }
    let _ = archive::list(path, 1_000);
    let folder = tempfile::tempdir().unwrap();
    let _ = archive::unpack(path, &folder.path().join("into"), &UnpackOptions::default());
    let taken = computed() - start;
    assert!(taken < TIME_MAX, "{}: {taken:?}", path.display());
}

#[test]
fn broken_files_are_errors_at_worst() {
    let fixtures = [
        fixture("document.docx"),
        fixture("document.odt"),
        fixture("workbook.xlsx"),
        fixture("workbook.xls"),
        fixture("workbook.ods"),
        fixture("slides.pptx"),
        made("good.tar"),
        made("good.tar.xz"),
        made("good.zip"),
        made("report.txt.zst"),
        made("places.pptx"),
    ];
    let contents: Vec<(String, Vec<u8>)> = fixtures
        .iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy =
        (0..contents.len(), 0.0..1.2_f64, prop::collection::vec((0.0..1.0_f64, any::<u8>()), 0..6));
    let result = runner.run(&strategy, |(index, length, changes)| {
        let (name, content) = &contents[index];
        let mut bytes = content.clone();
        let size = bytes.len() as f64;
        // A sixth of them keep their length.
        bytes.truncate((size * length) as usize);
        for (place, byte) in changes {
            let place = (size * place) as usize;
            if let Some(found) = bytes.get_mut(place) {
                *found = byte;
            }
        }
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        exercise(&path);
        Ok(())
    });
    result.unwrap();
}

#[test]
fn broken_pdf_files_are_errors_at_worst() {
    let content = fs::read(fixture("document.pdf")).unwrap();
    for part in 0..8 {
        let (_folder, path) = file("a.pdf", &content[..content.len() * part / 8]);
        exercise(&path);
    }
}

#[test]
fn xml_that_is_made_to_grow_does_not() {
    let options = ReadOptions::default();
    let check = |name: &str, expected: Result<&str, &str>| {
        let start = computed();
        match (text_of(&made(name), &options), expected) {
            (Ok(text), Ok(expected)) => assert_eq!(text.text, expected, "{name}"),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{name}: {error}"),
            (other, _) => panic!("{name}: {other:?}"),
        }
        assert!(computed() - start < TIME_MAX, "{name}: {:?}", computed() - start);
    };
    check("laughs.docx", Ok("start &j; & A\n"));
    check("deep.docx", Err("more than 1000 levels"));
    check("tables.docx", Ok("| deep |\n|---|\n"));
    check("attributes.docx", Ok("t\n"));
    check("bomb.docx", Err("expands too far"));
}

#[test]
fn workbooks_that_claim_too_much_are_bounded() {
    let tables = tables_of(&made("corners.xlsx"), &ReadOptions::default()).unwrap();
    assert_eq!((tables.sheets[0].rows_total, tables.sheets[0].columns_total), (1_048_576, 16_384));
    assert_eq!(tables.sheets[0].rows.len(), 1);
    let error = message(tables_of(&made("strings.xlsx"), &ReadOptions::default()));
    assert!(error.contains("claims 4000000000000 texts"), "{error}");
    let start = computed();
    let tables = tables_of(&made("repeated.ods"), &ReadOptions::default()).unwrap();
    assert_eq!((tables.sheets[0].rows_total, tables.sheets[0].columns_total), (1_048_576, 16_384));
    assert!(tables.sheets[0].rows.len() <= 500 && tables.sheets[0].left_out.is_some());
    assert!(computed() - start < TIME_MAX, "{:?}", computed() - start);
}

#[test]
fn an_xls_that_spans_too_many_cells_is_refused() {
    // The record of the dimensions claims four billion rows; a parser would make room for all of them.
    let mut bytes = fs::read(fixture("workbook.xls")).unwrap();
    let record = bytes.windows(4).position(|bytes| bytes == [0x00, 0x02, 0x0e, 0x00]).unwrap();
    bytes[record + 8..record + 12].copy_from_slice(&[0xff; 4]);
    let (_folder, path) = file("a.xls", bytes);
    let error = message(tables_of(&path, &ReadOptions::default()));
    assert!(error.contains("a sheet spans") && error.contains("save it as xlsx"), "{error}");
}

#[test]
fn odd_texts_are_bounded() {
    let start = computed();
    let (folder, path) = file("a.txt", vec![b'x'; 100_000_000]);
    let text = text_of(&path, &ReadOptions::default()).unwrap();
    assert_eq!((text.text.len(), text.lines_total), (20_000, Some(1)));
    let result =
        search(folder.path(), &FileSearchPattern::Plain("y".to_owned()), &SearchOptions::default()).unwrap();
    assert_eq!((result.matches.len(), result.files_searched), (0, 1));
    for (name, content) in [
        ("a.csv", "\"".to_owned() + &"x,\n".repeat(500_000)),
        ("a.csv", ",".repeat(2_000_000)),
        ("a.json", "[".repeat(1_000_000)),
        ("a.html", "<div>".repeat(300_000)),
        ("a.html", "<table><tr><td>".repeat(100_000)),
        ("a.html", format!("<p {}>", "a=1 ".repeat(100_000))),
        ("a.html", "<ul>".repeat(100_000) + "<li>x"),
        ("a.html", "&lt".repeat(300_000)),
        ("a.log", "a\0b\n".repeat(1_000)),
        ("a.txt", "\u{1b}[31m\u{202e}\u{fffd}".repeat(1_000)),
    ] {
        let (_folder, path) = file(name, content);
        exercise(&path);
    }
    assert!(computed() - start < TIME_MAX * 3, "{:?}", computed() - start);
}

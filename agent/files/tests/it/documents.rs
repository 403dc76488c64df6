//! Documents and presentations.

use std::{fs, process::Command};

use deskhand_files::{Format, ReadContinuation, ReadOptions, ReadRange, format_of};

use crate::support::{file, fixture, made, message, text_of};

const REPORT: &str = "# Harbour report\nShips & cargo in the year 2026, with an umlaut: Größe.\n\n\
    ## Crew\n- Anna\n  - Deck\n- Ben\nSee the table{note}:\n| Ship | Weight |\n|---|---|\n| Aurora | 120 |\n\
    | Borealis | 95 |\nThe end of the report.\n";

fn text(name: &str) -> String {
    text_of(&fixture(name), &ReadOptions::default()).unwrap().text
}

#[test]
fn documents_keep_their_structure() {
    assert_eq!(text("document.odt"), REPORT.replace("{note}", " [note: Weights in tons.]"));
    assert_eq!(text("document.docx"), REPORT.replace("{note}", "[^2]") + "[^2]: \tWeights in tons.\n");
}

#[test]
fn formats_are_recognised_by_content() {
    let (_folder, path) = file("wrong.txt", fs::read(fixture("document.docx")).unwrap());
    assert_eq!(format_of(&path).unwrap(), Format::Docx);
    for (name, format) in [
        ("document.odt", Format::Odt),
        ("document.pdf", Format::Pdf),
        ("workbook.xls", Format::Xls),
        ("workbook.xlsx", Format::Xlsx),
        ("workbook.ods", Format::Ods),
        ("slides.odp", Format::Odp),
        ("slides.pptx", Format::Pptx),
    ] {
        assert_eq!(format_of(&fixture(name)).unwrap(), format, "{name}");
    }
    assert_eq!(format_of(&made("good.zip")).unwrap(), Format::Zip);
    let error = message(text_of(&made("good.zip"), &ReadOptions::default()));
    assert!(error.ends_with("list its entries or unpack it"), "{error}");
}

#[test]
fn slides_have_titles_items_and_notes() {
    let expected = "--- slide 1 ---\n## Plans for the harbour\n- New crane\n- Longer pier\n\
        Notes: Mention the budget.\n--- slide 2 ---\n## Thank you\n";
    for name in ["slides.odp", "slides.pptx"] {
        let found = text_of(&fixture(name), &ReadOptions::default()).unwrap();
        assert_eq!((found.text.as_str(), found.pages_total), (expected, Some(2)), "{name}");
        let options = ReadOptions { pages: Some(ReadRange::between(1, 1)), ..ReadOptions::default() };
        let found = text_of(&fixture(name), &options).unwrap();
        assert!(found.text.contains("crane") && !found.text.contains("Thank"), "{}", found.text);
        assert_eq!(found.left_out.unwrap().next, Some(ReadContinuation::Page(2)), "{name}");
    }
    let text = text_of(&made("places.pptx"), &ReadOptions::default()).unwrap().text;
    assert_eq!(text, "--- slide 1 ---\n## Harbour\n- Crane\n- Pier\n| x |\n|---|\nNotes: Speak slowly\n");
}

#[test]
fn pdf_pages_keep_their_layout() {
    let path = fixture("document.pdf");
    let program = Command::new("pdftotext").arg("-v").output();
    if program.is_err() {
        let error = message(text_of(&path, &ReadOptions::default()));
        assert!(error.contains("install the package poppler-utils"), "{error}");
        return;
    }
    let found = text_of(&path, &ReadOptions::default()).unwrap();
    assert_eq!(found.pages_total, Some(1));
    let row: Vec<&str> =
        found.text.lines().find(|line| line.starts_with("Borealis")).unwrap().split_whitespace().collect();
    assert_eq!(row, ["Borealis", "95"]);
    let options = ReadOptions { pages: Some(ReadRange::from(2)), ..ReadOptions::default() };
    assert!(message(text_of(&path, &options)).ends_with("it has 1 pages"));
    let (_folder, path) = file("a.pdf", "%PDF-1.7\nnothing");
    let error = message(text_of(&path, &ReadOptions::default()));
    assert!(error.contains("damaged or incomplete"), "{error}");
    let options = ReadOptions { program_time_max: std::time::Duration::ZERO, ..ReadOptions::default() };
    let error = message(text_of(&fixture("document.pdf"), &options));
    assert!(error.contains("took too long"), "{error}");
}

#[test]
fn encrypted_documents_are_named() {
    let error = message(text_of(&made("locked.odt"), &ReadOptions::default()));
    assert!(error.contains("the odt is password protected"), "{error}");
}

//! The model that comes in a wheel, on a picture of labels as interfaces have them, and archives that are none.

use std::{
    fs::{self, File},
    io::{BufReader, Write as _},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use deskhand_local::{
    ArchiveError,
    ocr::{Letters, OcrError, OcrTextReader, Pixels, RecognisedText},
};

/// Where set-up puts the wheels that tests use.
pub(crate) fn wheel() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wheels");
    let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("rapidocr-"));
    file.unwrap_or_else(|| panic!("no wheel in {}: `cargo xtask setup` gets it", folder.display()))
}

pub(crate) fn picture() -> Pixels {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/labels.png");
    let mut png = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    let mut rgb = vec![0; png.output_buffer_size().unwrap()];
    let info = png.next_frame(&mut rgb).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb);
    Pixels { width: info.width, height: info.height, rgb }
}

#[test]
fn labels_of_an_interface_are_read_where_they_are() {
    let reader = OcrTextReader::open(&wheel()).unwrap();
    let read = |stop: bool| reader.read(picture(), Letters::Latin, &AtomicBool::new(stop)).unwrap();
    let found = read(false);
    let texts: Vec<&str> = found.iter().map(|one| one.text.as_str()).collect();
    let expected = [
        "File",
        "Edit",
        "Help",
        "Élève, niño",
        "Straße in Köln",
        "3 of 12 items selected, 1.5 MB free",
        "łódź příliš Øre",
        "Cancel",
    ];
    assert_eq!(texts, expected, "{found:?}");
    // Drawn with the base lines and left edges of the picture.
    let check = |text: &str, left: usize, base: usize| {
        let RecognisedText { area, certainty, .. } = found.iter().find(|one| one.text == text).unwrap();
        assert!(area.left.abs_diff(left) <= 3 && area.bottom.abs_diff(base) <= 2, "{text}: {area:?}");
        assert!(*certainty > 0.8, "{text}: {certainty}");
    };
    check("File", 10, 20);
    check("Edit", 52, 20);
    check("Straße in Köln", 16, 49);
    check("Cancel", 30, 137);
    // The caller is gone: what was read so far.
    assert_eq!(read(true), []);
}

#[test]
fn a_picture_of_other_sides_is_an_error() {
    let reader = OcrTextReader::open(&wheel()).unwrap();
    let odd = Pixels { width: 4, height: 4, rgb: vec![0; 7] };
    let error = reader.read(odd, Letters::All, &AtomicBool::new(false)).unwrap_err();
    assert_eq!(error.to_string(), "7 bytes are not a picture of 4 × 4 pixels");
    for (width, height) in [(1, 1), (3, 70)] {
        let blank = Pixels { width, height, rgb: vec![200; width as usize * height as usize * 3] };
        assert_eq!(reader.read(blank, Letters::All, &AtomicBool::new(false)).unwrap(), []);
    }
}

#[test]
fn an_archive_that_is_no_model_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.zip");
    let open = || OcrTextReader::open(&path).err().unwrap();
    assert!(matches!(open(), OcrError::Archive(ArchiveError::File { .. })));
    fs::write(&path, "not a zip file").unwrap();
    assert!(matches!(open(), OcrError::Archive(ArchiveError::Archive { .. })), "{}", open());
    let write = |files: &[&str]| {
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        for name in files {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(b"not a model").unwrap();
        }
        archive.finish().unwrap();
    };
    write(&["a/dict.onnx"]);
    assert!(open().to_string().contains("contains no ONNX file with `det` in its name"), "{}", open());
    write(&["a/x_det_small.onnx", "a/x-rec.onnx"]);
    assert!(matches!(open(), OcrError::Model { part: "detector", .. }), "{}", open());
}

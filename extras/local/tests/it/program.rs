//! The program, called as Deskhand calls it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use deskhand_local_client::{
    LocalCallError, LocalProgram,
    protocol::{Letters, LocalOutput, LocalRequest},
};

use crate::{embed, ocr};

fn program() -> Arc<LocalProgram> {
    LocalProgram::shared(Some(Path::new(env!("CARGO_BIN_EXE_deskhand-local"))))
}

#[test]
fn pictures_and_texts_are_worked_on_side_by_side() {
    let program = program();
    let picture = ocr::picture();
    let read = |letters: Letters| {
        let (width, height) = (picture.width, picture.height);
        let request = LocalRequest::ReadText { archive: ocr::wheel(), width, height, letters };
        program.call(request, &picture.rgb).unwrap()
    };
    let texts = ["The weather is nice today", "Write the file to disk"].map(str::to_owned).to_vec();
    let near =
        LocalRequest::Nearness { archive: embed::wheel(), query: "Save the document".to_owned(), texts };
    let calls = [read(Letters::Latin), program.call(near, &[]).unwrap(), read(Letters::All)];
    let [latin, near, all] = calls.map(|call| call.wait().unwrap());
    let labels = |output: LocalOutput| match output {
        LocalOutput::Texts(texts) => texts.into_iter().map(|text| text.text).collect::<Vec<_>>(),
        other @ (LocalOutput::Loaded | LocalOutput::Nearness(_)) => panic!("{other:?}"),
    };
    for labels in [labels(latin), labels(all)] {
        assert!(
            ["File", "Edit", "Help"].iter().all(|word| labels.iter().any(|label| label == word)),
            "{labels:?}"
        );
    }
    let LocalOutput::Nearness(near) = near else { panic!("{near:?}") };
    assert!(near[0] < near[1], "{near:?}");
}

#[test]
fn a_call_that_nobody_waits_for_is_stopped_and_the_next_one_is_answered() {
    let program = program();
    let picture = ocr::picture();
    let read = || {
        let (width, height, letters) = (picture.width, picture.height, Letters::Latin);
        let request = LocalRequest::ReadText { archive: ocr::wheel(), width, height, letters };
        program.call(request, &picture.rgb).unwrap()
    };
    let stopped = read();
    drop(stopped.stop_on_drop());
    let LocalOutput::Texts(some) = stopped.wait().unwrap() else { panic!("no texts") };
    let LocalOutput::Texts(all) = read().wait().unwrap() else { panic!("no texts") };
    assert!(some.len() < all.len(), "{} of {}", some.len(), all.len());
}

#[test]
fn what_cannot_be_done_is_said_and_the_program_goes_on() {
    let program = program();
    let archive = PathBuf::from("/no-such-file");
    let size = LocalRequest::ReadText { archive: ocr::wheel(), width: 3, height: 3, letters: Letters::Latin };
    let missing = program.call(LocalRequest::LoadReader { archive }, &[]).unwrap();
    let sides = program.call(size, &[0; 7]).unwrap();
    let [missing, sides] = [missing, sides].map(|call| call.wait().unwrap_err().to_string());
    assert!(missing.contains("/no-such-file"), "{missing}");
    assert!(sides.contains("7 bytes") && sides.contains("3 × 3"), "{sides}");
    let loaded = program.call(LocalRequest::LoadReader { archive: ocr::wheel() }, &[]).unwrap().wait();
    assert_eq!(loaded.unwrap(), LocalOutput::Loaded);
}

#[test]
fn a_program_that_is_missing_or_another_one_is_named() {
    let call = |path: Option<&str>| {
        let request = LocalRequest::LoadReader { archive: PathBuf::new() };
        LocalProgram::shared(path.map(Path::new)).call(request, &[]).unwrap_err()
    };
    let missing = call(None);
    assert!(matches!(missing, LocalCallError::Missing), "{missing:?}");
    assert!(missing.to_string().contains("cargo xtask setup --with local"), "{missing}");
    for other in ["/no-such-program", "/bin/true", "/bin/ls"] {
        let error = call(Some(other));
        assert!(matches!(&error, LocalCallError::Start { .. }), "{error:?}");
        assert!(error.to_string().contains(other), "{error}");
    }
}

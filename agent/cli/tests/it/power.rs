//! Power failures, with the calls that a real session makes: a library that is preloaded into it logs what it writes and syncs, and
//! the disk is built up as it is at worst after each call.
//!
//! Skipped without a desktop or a C compiler, unless `DESKHAND_ALL_TESTS` is set.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use deskhand_runtime::{IntegrityFinding, JournalError, SealProof, SessionStore, verify};
use serde_json::Value;

use self::disk::{Call, Disk, Luck, Worst, read_calls};
use crate::support::{World, has_programs};

mod disk;

const TURNS: &str = r#"
[[turn]]
agent = "HostAgent"
reply = '''
{"thought": "it is open", "status": "ASSIGN", "current_subtask": "write", "control_label": "{{window "Mousepad"}}", "next": []}
'''

[[turn]]
agent = "AppAgent"
reply = '''
{"thought": "type and save", "status": "FINISH", "result": "saved", "action": [
 {"function": "type_text", "arguments": {"id": "{{element "text" ""}}", "text": "alpha"}},
 {"function": "save", "arguments": {}}]}
'''

[[turn]]
agent = "HostAgent"
reply = '{"thought": "done", "status": "FINISH", "result": "written"}'
"#;

/// A model that gets a session back.
const AGAIN: &str = r#"
[[turn]]
reply = '{"thought": "seen", "status": "FINISH", "result": "resumed"}'
"#;

/// How many cuts are resumed, spread over the session: all with `DESKHAND_POWER_EVERYWHERE` in the environment.
const RESUMED: usize = 6;
/// How many states of the disk, besides the worst one, are tried at each cut.
const LUCKY: u64 = 3;

/// Whether a file or folder is one of a kind.
type IsOf<'a> = dyn Fn(&Path) -> bool + 'a;

/// A part of the changes reaches the disk, by a sequence of numbers that depends on its seed alone.
struct Random(u64);

impl Luck for Random {
    fn of(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % (count as u64 + 1)).unwrap()
    }
}

/// A session that was run with the library.
struct Recorded {
    world: World,
    calls: Vec<Call>,
}

impl Recorded {
    fn new() -> Self {
        let world = World::new();
        let library = world.path().join("shim.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/power/shim.c");
        let built =
            Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).output();
        let built = built.unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let home = world.path().join("home");
        fs::create_dir(&home).unwrap();
        let (log, boot) = (world.path().join("calls"), world.file("boot", "an earlier boot\n"));
        world.file("home/note.txt", "");
        world.file("home/turns.toml", TURNS);
        let mut command =
            world.command(&["run", "write", "--open", "note.txt", "--model", "script:turns.toml"]);
        command.args(["--desktop", "virtual", "--size", "800x600"]).current_dir(&home).env("HOME", &home);
        command.env("LD_PRELOAD", &library).env("POWER_ROOT", &home);
        command.env("POWER_LOG", &log).env("POWER_BOOT", boot);
        let shown = world.shown(&command.output().unwrap());
        assert!(shown.starts_with("exit 0\n"), "{shown}");
        assert_eq!(fs::read_to_string(home.join("note.txt")).unwrap().trim_end(), "alpha");
        let calls = read_calls(&log);
        Self { world, calls }
    }

    fn home(&self) -> PathBuf {
        self.world.path().join("home")
    }

    /// The journal of the session.
    fn journal(&self) -> PathBuf {
        let is_journal = |path: &Path| path.ends_with("journal.jsonl");
        self.calls
            .iter()
            .filter_map(Call::written)
            .map(|(path, _)| path.to_owned())
            .find(|path| is_journal(path))
            .unwrap()
    }

    /// The disk after each call.
    fn disks(&self) -> Vec<Disk> {
        let mut disk = Disk::default();
        self.calls
            .iter()
            .map(|call| {
                disk.take(call);
                disk.clone()
            })
            .collect()
    }
}

/// The store in a home folder.
fn store(home: &Path) -> SessionStore {
    let state = home.join(".local/state/deskhand");
    SessionStore::at(state.join("sessions"), state.join("seals"))
}

/// What is wrong with the session of a disk, of whose records `synced` are on it in any case.
fn damages(home: &Path, synced: u64) -> Vec<String> {
    let folder = match store(home).find("last") {
        Ok(folder) => folder,
        Err(JournalError::NoSession { .. }) if synced == 0 => return Vec::new(),
        Err(error) => return vec![format!("{error}; {synced} records were synced")],
    };
    let verified = match verify(&folder) {
        Ok(verified) => verified,
        Err(JournalError::NoRecord { .. }) if synced == 0 => return Vec::new(),
        Err(error) => return vec![format!("{error}; {synced} records were synced")],
    };
    let mut wrong = Vec::new();
    if verified.records < synced {
        wrong.push(format!("{} records of {synced} that were synced", verified.records));
    }
    if !matches!(verified.proof, SealProof::Sealed { since: 1 }) {
        wrong.push(format!("{:?}", verified.proof));
    }
    for finding in verified.findings {
        let is_told = matches!(&finding,
            IntegrityFinding::CutOff { seq: first }
            | IntegrityFinding::Lost { from: first, .. }
            | IntegrityFinding::PictureMissing { seq: first, .. }
            | IntegrityFinding::PictureChanged { seq: first, .. } if *first > synced);
        if !is_told {
            wrong.push(format!("{finding}; {synced} records were synced"));
        }
    }
    wrong
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// What is wrong with the disks after each call, if those that are not `kept` had not been made. What has to be there is what all
/// calls together have synced.
fn all_damages(recorded: &Recorded, kept: &dyn Fn(&Call) -> bool, lucky: u64) -> Vec<String> {
    let (home, journal) = (recorded.home(), recorded.journal());
    let (mut disk, mut promised) = (Disk::default(), Disk::default());
    let mut wrong = Vec::new();
    for (at, call) in recorded.calls.iter().enumerate() {
        promised.take(call);
        if kept(call) {
            disk.take(call);
        }
        let synced = promised.synced(&home, &journal).map_or(0, lines);
        for number in 0..=lucky {
            let after = tempfile::tempdir().unwrap();
            let mut luck: Box<dyn Luck> =
                if number == 0 { Box::new(Worst) } else { Box::new(Random(at as u64 * 1_000 + number)) };
            disk.survive(&home, after.path(), &mut *luck);
            let damages = damages(after.path(), synced);
            wrong.extend(damages.into_iter().map(|damage| format!("call {at}, luck {number}: {damage}")));
        }
    }
    wrong
}

#[test]
fn a_session_survives_a_power_failure_after_any_call() {
    if !has_programs(&["mousepad", "cc"]) {
        return;
    }
    let recorded = Recorded::new();
    let calls = &recorded.calls;
    let in_the_end = recorded.disks().pop().unwrap();
    let synced = in_the_end.synced(&recorded.home(), &recorded.journal()).map(<[u8]>::to_vec);
    assert_eq!(synced, fs::read(recorded.journal()).ok(), "the end is synced");
    assert_eq!(all_damages(&recorded, &|_| true, LUCKY), Vec::<String>::new());
    commands_are_synced_before_they_are_carried_out(&recorded);

    // Every kind of sync matters: without it, something is lost.
    let journal = recorded.journal();
    let session = journal.parent().unwrap().to_owned();
    let anchors = recorded.home().join(".local/state/deskhand/seals/anchors");
    let pictures = session.join("pictures");
    let checks: [(&str, &IsOf); 7] = [
        ("pictures", &|path| path.starts_with(&pictures) && path != pictures),
        ("names of pictures", &|path| path == pictures),
        ("prompts", &|path| {
            path.extension().is_some_and(|extension| extension == "json") && path.starts_with(&session)
        }),
        ("names in the session", &|path| path == session),
        ("name of the session", &|path| Some(path) == session.parent()),
        ("names of anchors", &|path| path == anchors),
        ("key", &|path| path.to_string_lossy().contains("journal.key")),
    ];
    for (what, is) in checks {
        assert!(calls.iter().any(|call| call.syncs(is)), "no sync of {what}");
        let damages = all_damages(&recorded, &|call| !call.syncs(is), 0);
        assert_ne!(damages, Vec::<String>::new(), "{what}");
    }
    cuts_are_resumed(&recorded);
}

/// By the journal alone: when the result of a command is written, the command was synced before it was carried out.
fn commands_are_synced_before_they_are_carried_out(recorded: &Recorded) {
    let (home, journal) = (recorded.home(), recorded.journal());
    let mut disk = Disk::default();
    let mut results = 0;
    for call in &recorded.calls {
        if let Some((path, bytes)) = call.written()
            && path == journal
            && let Ok(line) = serde_json::from_slice::<Value>(&bytes)
            && line["record"]["event"]["came"] == "returned"
        {
            let synced = disk.synced(&home, &journal).map_or(0, lines);
            assert!(synced + 1 >= line["seq"].as_u64().unwrap(), "{synced} records before {}", line["seq"]);
            results += 1;
        }
        disk.take(call);
    }
    assert!(results >= 3, "{results}");
}

/// `resume` goes on after the records that are left, or says that there is none.
fn cuts_are_resumed(recorded: &Recorded) {
    let home = recorded.home();
    let mut states = BTreeMap::new();
    for disk in recorded.disks() {
        let synced = disk.synced(&home, &recorded.journal()).map(<[u8]>::to_vec);
        states.entry(synced).or_insert(disk);
    }
    let every = std::env::var_os("DESKHAND_POWER_EVERYWHERE").map_or(states.len().div_ceil(RESUMED), |_| 1);
    let last = states.len() - 1;
    for (number, (synced, disk)) in states.into_iter().enumerate() {
        if number % every != 0 && number != last {
            continue;
        }
        let after = World::new();
        disk.survive(&home, after.path(), &mut Worst);
        after.file("again.toml", AGAIN);
        after.file("note.txt", "alpha");
        let resume = [
            "resume",
            "last",
            "--model",
            "script:again.toml",
            "--desktop",
            "virtual",
            "--size",
            "800x600",
            "--json",
        ];
        let shown = after.run(&resume);
        let records = synced.as_deref().map_or(0, lines);
        let has_ended = synced
            .as_deref()
            .is_some_and(|text| String::from_utf8_lossy(text).contains("\"came\":\"ended\""));
        if records == 0 {
            assert!(
                shown.contains("no session") || shown.contains("no complete record"),
                "{records}: {shown}"
            );
        } else if has_ended {
            assert!(shown.contains("has ended"), "{records}: {shown}");
        } else if shown.contains("is waiting for a request") {
            // It had begun, and the request was not synced.
            assert!(
                !synced.is_some_and(|text| String::from_utf8_lossy(&text).contains("\"came\":\"requested\""))
            );
        } else {
            assert!(shown.contains("\"kind\":\"summary\""), "{records}: {shown}");
            for command in ["verify", "replay"] {
                let checked = after.run(&[command, "last"]);
                assert!(checked.starts_with("exit 0\n"), "{records}: {checked}");
            }
        }
        assert_eq!(after.orphans(), Vec::<String>::new());
    }
}

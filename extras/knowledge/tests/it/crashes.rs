//! Processes that are killed while they write, and several that write at once.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread,
};

use deskhand_knowledge::experience::{ExperienceStore, Forget, sample};

/// The variables that make this binary a writer: the folder of the store, and the number of its first experience.
const FOLDER: &str = "DESKHAND_TEST_STORE";
const FIRST: &str = "DESKHAND_TEST_FIRST";
const COUNT: &str = "DESKHAND_TEST_COUNT";
/// What a writer says of each experience that was acknowledged.
const ADDED: &str = "added ";

/// Writes experiences and says which were acknowledged. Without its variables it does nothing.
#[test]
fn writer() {
    let variable = |name: &str| env::var(name).ok();
    let (Some(folder), Some(first), Some(count)) = (variable(FOLDER), variable(FIRST), variable(COUNT))
    else {
        return;
    };
    let (first, count): (usize, usize) = (first.parse().unwrap(), count.parse().unwrap());
    let store = ExperienceStore::open(Path::new(&folder)).unwrap();
    for number in first..first + count {
        store.add(sample(number)).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{ADDED}{number}").unwrap();
        out.flush().unwrap();
        if number % 5 == 0 {
            store.note_result(&format!("sample-{number}"), true).unwrap();
        }
        if number % 17 == 4 {
            // Forgetting writes the file anew. Nothing matches.
            store.forget(&Forget::Id(format!("sample-{number}"))).unwrap();
            store.add(sample(number)).unwrap();
        }
    }
}

fn start(folder: &Path, first: usize, count: usize) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["crashes::writer", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(FIRST, first.to_string())
        .env(COUNT, count.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// The numbers of a writer's lines.
fn acknowledged(line: &str) -> Option<usize> {
    line.split_once(ADDED).and_then(|(_, number)| number.trim().parse().ok())
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut added = BTreeSet::new();
    let mut next = 0;
    let mut state = 7_u64;
    for round in 0..25 {
        let (mut child, output) = start(folder.path(), next, 10_000);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lines = usize::try_from(state >> 60).unwrap() + 1;
        let mut lines_seen = 0;
        let mut output = output.lines().map_while(Result::ok);
        while lines_seen < lines {
            let line = output.next().unwrap_or_else(|| panic!("the writer ended in round {round}"));
            if let Some(number) = acknowledged(&line) {
                added.insert(number);
                next = next.max(number + 1);
                lines_seen += 1;
            }
        }
        // A different moment of the next write in each round.
        (0..(state >> 40) % 60).for_each(|_| thread::yield_now());
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had still said before it died.
        for number in output.filter_map(|line| acknowledged(&line)) {
            added.insert(number);
            next = next.max(number + 1);
        }
        let store = ExperienceStore::open(folder.path()).unwrap();
        let there: BTreeSet<String> = store.list().unwrap().into_iter().map(|one| one.id).collect();
        // One that is being forgotten and added again was not acknowledged a second time.
        let may_be_gone = |number: &usize| *number + 1 == next && number % 17 == 4;
        let lost: Vec<_> = added
            .iter()
            .filter(|number| !there.contains(&format!("sample-{number}")) && !may_be_gone(number))
            .collect();
        assert!(lost.is_empty(), "lost in round {round}: {lost:?}");
        let last = added.iter().rev().find(|number| !may_be_gone(number)).unwrap();
        let hits = store.find(&sample(*last).request, None, 100).unwrap();
        assert!(
            hits.iter().any(|hit| hit.origin == format!("sample-{last}")),
            "{last} is not found in round {round}"
        );
        store.add(sample(*last)).unwrap();
        added.retain(|number| there.contains(&format!("sample-{number}")));
        next += 1;
    }
}

#[test]
fn several_processes_write_and_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let count = 40;
    let children: Vec<_> = (0..3).map(|number| start(folder.path(), number * 1_000, count)).collect();
    let store = ExperienceStore::open(folder.path()).unwrap();
    let mut added = BTreeSet::new();
    for (mut child, output) in children {
        for line in output.lines() {
            let Some(number) = acknowledged(&line.unwrap()) else { continue };
            added.insert(number);
            if number % 17 != 4 {
                // What one process was told is there for another.
                assert!(store.show(&format!("sample-{number}")).unwrap().is_some(), "{number}");
            }
            store.find(&sample(number).request, None, 3).unwrap();
        }
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(added.len(), 3 * count);
    let all = store.list().unwrap();
    assert_eq!(all.len(), 3 * count);
    let used = all.iter().filter(|one| one.uses.used == 1).count();
    assert_eq!(
        used,
        all.iter().filter(|one| one.id[7..].parse::<usize>().unwrap() % 5 == 0 && !gone(&one.id)).count()
    );
}

/// Returns `true` if the counters of an experience were forgotten with it.
fn gone(id: &str) -> bool {
    id[7..].parse::<usize>().unwrap() % 17 == 4
}

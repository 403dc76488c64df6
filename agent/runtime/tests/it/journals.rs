//! Reading complete, truncated and modified journals.

use std::fs;

use deskhand_machine::{record::JournalRecord, session::Effect};
use deskhand_runtime::{JournalError, JournalProblem, replay};

use crate::support::{commands, office_script, run_office};

#[tokio::test]
async fn replay_detects_a_modified_reply() {
    let ran = run_office(&office_script()).await;
    let path = ran.end.folder.journal_path();
    let text = fs::read_to_string(&path).unwrap();
    let seq = ran
        .lines
        .iter()
        .find(|line| match &line.record {
            JournalRecord::Event(record) => {
                matches!(record.event, deskhand_machine::session::SessionEvent::Replied { .. })
            }
            JournalRecord::Header(_) | JournalRecord::Effect(_) | JournalRecord::Changed(_) => false,
        })
        .unwrap()
        .seq;
    // One word without effect on what follows, and one that the next effect contains.
    for (from, to) in [("Writer is open", "Writer is oben"), ("read the sales table", "eat the sales table")]
    {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = &mut lines[usize::try_from(seq).unwrap() - 1];
        assert!(line.contains(from), "{line}");
        *line = line.replacen(from, to, 1);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let journal = ran.end.folder.read().unwrap();
        assert_eq!(journal.problems, [JournalProblem::Changed { seq }]);
        let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
        let difference = replay(&journal, prompts).difference.unwrap();
        assert_eq!(difference.seq, seq, "{difference}");
    }
}

#[tokio::test]
async fn replay_names_record_and_field_of_a_modified_effect() {
    let ran = run_office(&office_script()).await;
    let mut journal = ran.end.folder.read().unwrap();
    let seq = commands(&journal.lines).find(|(_, command)| command.tool == "read_table").unwrap().0;
    let line = &mut journal.lines[usize::try_from(seq).unwrap() - 1];
    let JournalRecord::Effect(record) = &mut line.record else { panic!("record {seq} is an effect") };
    let Effect::Call { command } = &mut record.effect else { panic!("record {seq} is a call") };
    command.arguments.insert("name".to_owned(), "Costs".into());
    let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let difference = replay(&journal, prompts).difference.unwrap();
    assert_eq!((difference.seq, difference.field.as_str()), (seq, "effect.command.arguments.name"));
    assert_eq!(difference.recorded, "\"Costs\" (at character 0)");
    assert_eq!(difference.replayed, "\"Sales\" (at character 0)");
}

#[tokio::test]
async fn a_truncated_journal_is_read_up_to_the_last_complete_line() {
    let ran = run_office(&office_script()).await;
    let path = ran.end.folder.journal_path();
    let whole = fs::read(&path).unwrap();
    for cut in [whole.len() - 1, whole.len() - 40, whole.len() / 2, whole.len() / 3] {
        fs::write(&path, &whole[..cut]).unwrap();
        let journal = ran.end.folder.read().unwrap();
        assert!(!journal.lines.is_empty());
        let prompts = ran.end.folder.prompts(&journal.header.prompts_sha256).unwrap();
        let replayed = replay(&journal, prompts);
        assert_eq!(replayed.difference, None, "the complete part is valid");
    }
    fs::write(&path, "").unwrap();
    let last = ran.lines.len() as u64;
    assert!(matches!(ran.end.folder.read(), Err(JournalError::Emptied { last: had, .. }) if had == last));
    fs::remove_file(ran.end.folder.seals().anchor_path(&ran.end.session.0)).unwrap();
    assert!(matches!(ran.end.folder.read(), Err(JournalError::NoRecord { .. })));
    fs::write(&path, "{}\n{}\n").unwrap();
    assert!(matches!(ran.end.folder.read(), Err(JournalError::Record { seq: 1, .. })));
}

#[tokio::test]
async fn sessions_are_found_by_prefix_and_suffix() {
    let ran = run_office(&office_script()).await;
    let (store, id) = (&ran.store.0, &ran.end.session.0);
    assert_eq!(store.find("last").unwrap().path(), ran.end.folder.path());
    assert_eq!(store.find(&id[..12]).unwrap().path(), ran.end.folder.path());
    assert_eq!(store.find(&id[28..]).unwrap().path(), ran.end.folder.path());
    assert!(matches!(store.find("nothing"), Err(JournalError::NoSession { .. })));
    assert!(matches!(store.find(""), Err(JournalError::NoSession { .. })));
}

#[tokio::test]
async fn views_are_stored_as_changes_and_read_whole() {
    let ran = run_office(&office_script()).await;
    let text = fs::read_to_string(ran.end.folder.journal_path()).unwrap();
    let stored = |kind: &str| text.matches(&format!(r#""observation":{{"of":"{kind}""#)).count();
    assert!(stored("window") >= 2, "the first view of each window is whole");
    assert!(stored("window_changes") >= 1, "later views are stored as changes");
    let journal = ran.end.folder.read().unwrap();
    assert_eq!(journal.lines, ran.lines, "a reader gets the original lines");
}

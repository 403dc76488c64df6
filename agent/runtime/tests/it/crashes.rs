//! Kills the process after every record of a session, keeping the world and the journal. The resumed session has the same
//! end state, and nothing is done twice.

use std::sync::Arc;

use deskhand_desktop_fake::{FakeDesktop, office};
use deskhand_machine::{
    outcome::OutcomeKind,
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionEvent},
};
use deskhand_runtime::{HeldSession, RunEnd, UnsealedJournalPolicy, replay, resume, run};
use tokio::task::JoinSet;

use crate::{
    careful::{Careful, Out},
    support::{REQUEST, World, script, tear_last_line},
};

/// When the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Right after writing a line.
    AfterLine,
    /// During the write: half of the line is in the file, and what it records has happened.
    InLine,
}

/// The relevant end state of a session.
#[derive(Debug, PartialEq)]
struct Truth {
    files: Vec<(String, String)>,
    happened: Vec<&'static str>,
    inputs: u64,
}

fn truth(desktop: &FakeDesktop) -> Truth {
    Truth {
        files: desktop.files(),
        happened: desktop.truth().iter().map(|truth| truth.what).collect(),
        inputs: desktop.inputs(),
    }
}

/// Runs a session to its end, or kills it after writing line `stop_at`.
async fn run_until(world: &World<Careful>, stop_at: Option<u64>) -> Option<RunEnd> {
    let world = world.clone();
    let mut process = JoinSet::new();
    process.spawn(async move {
        let mut observer = |line: &JournalEntry| {
            if stop_at == Some(line.seq) {
                std::panic::resume_unwind(Box::new("the process dies"));
            }
        };
        run(world.options(vec![REQUEST.to_owned()]), &mut observer).await.unwrap()
    });
    process.join_next().await.unwrap().ok()
}

/// The command in progress when the process died.
fn out(lines: &[JournalEntry], end: End) -> Option<Out> {
    let index_of = |step: Option<u32>| {
        let calls = lines.iter().filter(|line| {
            matches!(&line.record, JournalRecord::Effect(record) if matches!(record.effect, Effect::Call { .. })
                && record.step.as_ref().map(|step| step.number) == step)
        });
        calls.count() - 1
    };
    let call = |line: &JournalEntry| {
        let JournalRecord::Effect(record) = &line.record else { return None };
        let is_call = matches!(record.effect, Effect::Call { .. });
        is_call.then(|| record.step.as_ref().map(|step| step.number))
    };
    let (last, before) = lines.split_last()?;
    match (end, &last.record) {
        (End::AfterLine, JournalRecord::Effect(_)) => Some(Out { index: index_of(call(last)?), done: false }),
        (End::InLine, JournalRecord::Event(record))
            if matches!(record.event, SessionEvent::Returned { .. }) =>
        {
            Some(Out { index: index_of(call(before.last()?)?), done: true })
        }
        _ => None,
    }
}

/// Kills the process at a line, resumes, and compares with an uninterrupted session.
async fn check(text: &str, seq: u64, end: End, expected: &Truth) {
    let desktop = Arc::new(office());
    let world = World::new(Careful::new(script(text), Arc::clone(&desktop)), desktop);
    assert!(run_until(&world, Some(seq)).await.is_none(), "the process dies at record {seq}");
    let folder = world.store.find("last").unwrap();
    let before = folder.read().unwrap();
    assert_eq!(before.lines.last().unwrap().seq, seq, "nothing was written after it");
    world.model.interrupted(out(&before.lines, end));
    if end == End::InLine {
        assert!(tear_last_line(&folder), "record {seq}");
    }
    let held = HeldSession::take(folder, UnsealedJournalPolicy::Refuse, &mut |_| ()).unwrap();
    assert_eq!(held.cut_off(), (end == End::InLine).then_some(seq));
    let kept = if end == End::InLine { seq - 1 } else { seq };
    assert_eq!(held.records(), kept);
    let asked = |line: &JournalEntry| matches!(&line.record, JournalRecord::Event(event) if matches!(event.event, SessionEvent::Requested { .. }));
    let known = before.lines.iter().filter(|line| line.seq <= kept).any(asked);
    let requests = if known { Vec::new() } else { vec![REQUEST.to_owned()] };
    let ended = resume(held, /*desktop_kept*/ true, world.options(requests), &mut |_| ()).await.unwrap();

    let at = format!("record {seq}, {end:?}");
    let outcome = ended.outcome.unwrap();
    assert_eq!(outcome.kind, OutcomeKind::Finished, "{at}: {}", outcome.reason);
    assert_eq!(&truth(&world.desktop), expected, "{at}");
    let journal = ended.folder.read().unwrap();
    assert_eq!(journal.problems, [], "{at}");
    let prompts = ended.folder.prompts(&journal.header.prompts_sha256).unwrap();
    let replayed = replay(&journal, prompts);
    assert_eq!(replayed.difference, None, "{at}");
    assert!(replayed.complete, "{at}");
    let verified = deskhand_runtime::verify(&ended.folder).unwrap();
    assert_eq!(verified.findings, [], "{at}");
}

/// Checks every record of a flow, in both ways.
async fn check_all(text: &str) -> u64 {
    let desktop = Arc::new(office());
    let whole = World::new(Careful::new(script(text), Arc::clone(&desktop)), desktop);
    let ended = run_until(&whole, None).await.unwrap();
    assert_eq!(ended.outcome.unwrap().kind, OutcomeKind::Finished);
    let expected = truth(&whole.desktop);
    let records = ended.folder.read().unwrap().lines.len() as u64;
    // The last record ends the session, which leaves nothing to resume.
    for seq in 1..records {
        check(text, seq, End::AfterLine, &expected).await;
        // A journal needs its header.
        if seq > 1 {
            check(text, seq, End::InLine, &expected).await;
        }
    }
    records
}

#[tokio::test]
async fn main_job_survives_a_kill_at_every_record() {
    assert!(check_all(include_str!("office.script.toml")).await > 50);
}

#[tokio::test]
async fn question_and_approval_survive_a_kill_at_every_record() {
    let text = include_str!("office.script.toml");
    // The HostAgent first asks a question, and the AppAgent requests approval of its first action.
    let question = r#"
[[turn]]
title = "ask first"
agent = "HostAgent"
expect = 'window ".*" of LibreOffice Writer'
reply = '''
{"observation": "Writer is open", "thought": "which chart?", "status": "PENDING", "questions": ["Which kind of chart?"]}
'''

[[turn]]"#;
    let approval = r#"
[[turn]]
title = "ask for approval"
agent = "AppAgent"
expect = '"rows":'
reply = '''
{"observation": "an empty sheet", "thought": "may I?", "status": "CONFIRM", "action": [
  {"function": "select_cells", "arguments": {"range": "A1:C5"}}]}
'''

[[turn]]
title = "enter the table""#;
    let asks = text.replacen("[[turn]]", question.trim_start(), 1);
    let asks = asks.replacen("[[turn]]\ntitle = \"enter the table\"", approval.trim_start(), 1);
    assert!(asks.contains("may I?"));
    check_all(&asks).await;
}

#[tokio::test]
async fn resuming_on_a_new_desktop_always_reaches_an_outcome() {
    let text = include_str!("office.script.toml");
    let mut seq = 1;
    loop {
        let desktop = Arc::new(office());
        let world = World::new(Careful::new(script(text), Arc::clone(&desktop)), desktop);
        if run_until(&world, Some(seq)).await.is_some() {
            break;
        }
        let held =
            HeldSession::take(world.store.find("last").unwrap(), UnsealedJournalPolicy::Refuse, &mut |_| ())
                .unwrap();
        let (ids, in_round) = (held.ids(), held.in_round());
        if seq > 10 {
            assert!(ids.window > 0, "windows were seen");
        }
        // Another desktop, and a model without matching turns.
        let desktop = Arc::new(office());
        let other = World {
            desktop: Arc::clone(&desktop),
            model: Arc::new(Careful::new(script(text), desktop)),
            ..world
        };
        let ended =
            resume(held, /*desktop_kept*/ false, other.options(Vec::new()), &mut |_| ()).await.unwrap();
        assert!(ended.outcome.is_some() || !in_round, "record {seq}");
        let journal = ended.folder.read().unwrap();
        let prompts = ended.folder.prompts(&journal.header.prompts_sha256).unwrap();
        assert_eq!(replay(&journal, prompts).difference, None, "record {seq}");
        seq += 5;
    }
    assert!(seq > 50);
}

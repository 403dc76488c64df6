//! One session as a time line, and each of its moments: judged by the JSON of the journal, and by the whole journal read line by line.

use std::{collections::BTreeMap, fs, io::Write as _};

use deskhand_desktop_fake::office;
use deskhand_machine::{
    observation::Observation,
    record::{JournalEntry, JournalRecord},
    session::{Effect, SessionEvent, StopReason},
};
use deskhand_runtime::{
    StopSwitch,
    moments::{FollowedMoments, MomentKind, MomentParts, moment_parts, moments},
};
use serde_json::Value;

use crate::{
    people::CONFIRMS,
    support::{Ran, config, office_script, run_office, run_with, script},
};

/// The lines of a journal as JSON.
fn lines(ran: &Ran) -> Vec<Value> {
    let text = fs::read_to_string(ran.end.folder.journal_path()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How often a word occurs at a place of the records.
fn count(lines: &[Value], pointer: &str, words: &[&str]) -> usize {
    let word = |line: &&Value| {
        line.pointer(pointer).and_then(Value::as_str).is_some_and(|word| words.contains(&word))
    };
    lines.iter().filter(word).count()
}

#[tokio::test]
async fn the_time_line_has_a_moment_for_everything_that_happened() {
    for ran in [run_office(&office_script()).await, run_office(&script(CONFIRMS)).await] {
        let journal = lines(&ran);
        let line = moments(&ran.end.folder).unwrap();
        let (want, came) = ("/record/effect/want", "/record/event/came");
        let of = |kind: MomentKind| line.moments.iter().filter(|moment| moment.kind == kind).count();
        let refused: usize =
            journal.iter().filter_map(|line| line["record"]["refused"].as_array()).map(Vec::len).sum();
        assert_eq!(of(MomentKind::Request), count(&journal, came, &["requested"]));
        assert_eq!(of(MomentKind::Prompt), count(&journal, want, &["ask"]));
        assert_eq!(of(MomentKind::Reply), count(&journal, came, &["replied"]));
        assert_eq!(of(MomentKind::Call), count(&journal, want, &["call"]) + refused);
        assert_eq!(of(MomentKind::Approval), count(&journal, want, &["await_approval"]));
        assert_eq!(of(MomentKind::Answer), count(&journal, came, &["approved", "rejected", "unanswered"]));
        assert_eq!(of(MomentKind::Outcome), count(&journal, want, &["finish"]));
        let left =
            journal.iter().filter(|line| line.pointer("/record/event/picture/sha256").is_some()).count();
        assert_eq!(of(MomentKind::Observation), count(&journal, came, &["observed"]) + left);
        assert_eq!((line.records, line.ended, line.left_out), (journal.len() as u64, true, 0));
        // In order, each with the time of its record; calls have the verdict of their answer.
        assert!(line.moments.is_sorted_by_key(|moment| moment.record));
        for moment in &line.moments {
            let record = &journal[usize::try_from(moment.record).unwrap() - 1];
            assert_eq!(moment.at_ms, record["at_ms"], "{moment:?}");
            if let Some(answer) = moment.answer.filter(|_| moment.kind == MomentKind::Call) {
                let result = &journal[usize::try_from(answer).unwrap() - 1]["record"]["event"]["result"];
                let effect = result["effect"].as_str().map(|effect| effect.replace('_', " "));
                assert!(result.is_null() || effect.is_none() || effect == moment.verdict, "{moment:?}");
            }
        }
    }
}

#[tokio::test]
async fn pictures_of_the_time_line_are_files() {
    let ran = run_office(&office_script()).await;
    let line = moments(&ran.end.folder).unwrap();
    let pictures: Vec<&String> = line.moments.iter().filter_map(|moment| moment.picture.as_ref()).collect();
    assert!(pictures.len() > 5, "{}", pictures.len());
    for picture in pictures {
        assert!(ran.end.folder.path().join("pictures").join(picture).is_file(), "{picture}");
    }
    let mut shown = None;
    for moment in &line.moments {
        shown = moment.picture.clone().or(shown);
        assert_eq!(moment.shown, shown, "{moment:?}");
    }
}

#[tokio::test]
async fn a_time_line_that_is_followed_is_that_of_the_whole_journal() {
    let ran = run_office(&office_script()).await;
    let (folder, journal) = (&ran.end.folder, ran.end.folder.journal_path());
    let text = fs::read(&journal).unwrap();
    let header = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(&journal, &text[..header]).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&journal).unwrap();
    let mut followed = FollowedMoments::of(folder);
    let mut last = followed.now().unwrap().moments.len();
    // A piece ends anywhere in a line.
    for piece in text[header..].chunks(text.len() / 7) {
        file.write_all(piece).unwrap();
        let now = followed.now().unwrap();
        assert!(now.moments.len() > last, "each piece has moments");
        last = now.moments.len();
    }
    let whole = moments(folder).unwrap();
    assert_eq!(followed.now().unwrap(), whole);
    assert_eq!((last, whole.ended), (whole.moments.len(), true));
}

/// What a reader of the whole journal knows at each record.
#[derive(Default, Clone)]
struct Known {
    observation: Option<(u64, Observation)>,
    asked: Option<u64>,
    replied: Option<u64>,
}

fn known(lines: &[JournalEntry]) -> BTreeMap<u64, Known> {
    let mut known = Known::default();
    let mut all = BTreeMap::new();
    for line in lines {
        match &line.record {
            JournalRecord::Event(record) => {
                if let SessionEvent::Observed { observation } = &record.event {
                    known = Known { observation: Some((line.seq, observation.clone())), ..Known::default() };
                } else if let SessionEvent::Replied { .. } | SessionEvent::ModelFailed { .. } = &record.event
                {
                    known.replied = Some(line.seq);
                }
            }
            JournalRecord::Effect(record) => {
                if let Effect::Ask { .. } = record.effect {
                    known.asked = Some(line.seq);
                    known.replied = None;
                }
            }
            JournalRecord::Header(_) | JournalRecord::Changed(_) => {}
        }
        all.insert(line.seq, known.clone());
    }
    all
}

#[track_caller]
fn agrees(parts: &MomentParts, known: &Known, journal: &[Value]) {
    let at = |record: u64| &journal[usize::try_from(record).unwrap() - 1];
    assert_eq!(parts.at_ms, at(parts.record)["at_ms"]);
    assert_eq!(parts.seen, known.observation.as_ref().map(|(seq, _)| *seq));
    let ids: Vec<String> = match &known.observation {
        Some((_, Observation::Window(view))) => {
            view.elements().map(|element| element.id.to_string()).collect()
        }
        Some((_, Observation::Desktop(view))) => {
            view.windows.iter().map(|window| window.id.to_string()).collect()
        }
        Some((_, Observation::Agent(_))) | None => Vec::new(),
    };
    let mut tree = parts.tree.iter();
    for id in &ids {
        assert!(
            tree.any(|line| line.contains(id.as_str())),
            "record {}: {id} in {:?}",
            parts.record,
            parts.tree
        );
    }
    assert_eq!(parts.asked, known.asked, "record {}", parts.record);
    let messages = known.asked.map(|asked| &at(asked)["record"]["effect"]["request"]["messages"]);
    let messages = messages.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    assert_eq!(parts.prompt.len(), messages.len());
    for (told, message) in parts.prompt.iter().zip(messages) {
        for part in message["parts"].as_array().unwrap() {
            let text = part["text"].as_str().unwrap_or("[picture, ");
            assert!(told.text.contains(text), "record {}", parts.record);
        }
    }
    assert_eq!(parts.reply.as_ref().map(|reply| reply.record), known.replied);
    if let Some(reply) = &parts.reply {
        assert_eq!(reply.text, at(reply.record)["record"]["event"]["reply"]["text"]);
    }
}

#[tokio::test]
async fn each_moment_is_what_a_reader_of_the_whole_journal_knows() {
    let ran = run_office(&office_script()).await;
    let journal = lines(&ran);
    let whole = ran.end.folder.read().unwrap().lines;
    let mut calls = 0;
    for (record, known) in known(&whole) {
        let parts = moment_parts(&ran.end.folder, record).unwrap().unwrap();
        agrees(&parts, &known, &journal);
        let line = &journal[usize::try_from(record).unwrap() - 1]["record"];
        if line["effect"]["want"] == "call" {
            calls += 1;
            let [call] = parts.calls.as_slice() else { panic!("record {record}: {:?}", parts.calls) };
            let answer = usize::try_from(call.answer.unwrap()).unwrap();
            let result = &journal[answer - 1]["record"]["event"]["result"];
            assert_eq!(
                (call.tool.as_str(), &Value::from(call.arguments.clone())),
                (
                    line["effect"]["command"]["tool"].as_str().unwrap(),
                    &line["effect"]["command"]["arguments"]
                )
            );
            let verdict = result["effect"].as_str().map(|effect| effect.replace('_', " "));
            assert_eq!(call.verdict, verdict.unwrap_or_else(|| "read".to_owned()));
            assert_eq!(call.elapsed_ms, result["elapsed_ms"]);
            let evidence = result.pointer("/report/action/evidence");
            assert!(evidence.is_none() || call.proof.first() == evidence, "record {record}");
            // The answer tells the same.
            let by_answer = moment_parts(&ran.end.folder, call.answer.unwrap()).unwrap().unwrap();
            assert_eq!(by_answer.calls, parts.calls);
        }
    }
    assert_eq!(calls, count(&journal, "/record/effect/want", &["call"]));
    let last = whole.len() as u64;
    assert_eq!(moment_parts(&ran.end.folder, last + 1).unwrap(), None);
    assert_eq!(moment_parts(&ran.end.folder, 0).unwrap(), None);
}

#[tokio::test]
async fn a_moment_needs_only_its_own_lines() {
    let ran = run_office(&office_script()).await;
    let path = ran.end.folder.journal_path();
    let text = fs::read_to_string(&path).unwrap();
    let journal = lines(&ran);
    let at = |came: &str| journal.iter().position(|line| line["record"]["event"]["came"] == came).unwrap();
    let first_reply = at("replied");
    let expected = moment_parts(&ran.end.folder, first_reply as u64 + 1).unwrap();
    // Lines before and after that cannot be parsed; that of the header among them.
    let needed = [at("observed"), first_reply - 1, first_reply];
    let spoilt = text
        .lines()
        .enumerate()
        .map(|(place, line)| if needed.contains(&place) { line.to_owned() } else { "#".repeat(line.len()) });
    fs::write(&path, spoilt.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    assert_eq!(moment_parts(&ran.end.folder, first_reply as u64 + 1).unwrap(), expected);
}

#[tokio::test]
async fn a_call_without_a_result_says_so() {
    let stop = StopSwitch::new();
    let ran = run_with(&office_script(), config(), office(), &stop, |line, _| {
        if let JournalRecord::Effect(record) = &line.record
            && matches!(&record.effect, Effect::Call { command } if command.tool == "write_table")
        {
            stop.cancel(StopReason::User);
        }
    })
    .await;
    let line = moments(&ran.end.folder).unwrap();
    let call = line.moments.iter().rfind(|moment| moment.kind == MomentKind::Call).unwrap();
    assert_eq!((call.verdict.as_deref(), call.answer), (None, None), "{call:?}");
    let parts = moment_parts(&ran.end.folder, call.record).unwrap().unwrap();
    assert_eq!((parts.calls[0].verdict.as_str(), parts.calls[0].answer), ("no result", None));
    assert!(line.moments.iter().any(|moment| moment.kind == MomentKind::Note), "the stop is a moment");
}

//! What the prompts of recorded sessions cost. `cargo xtask bench prompts` prints it by part.

#[path = "../../examples/prompts/measure.rs"]
mod measure;

use std::{collections::BTreeMap, path::Path};

use measure::{Measured, measure, recordings};

#[test]
fn prompts_are_a_third_shorter_than_they_were_and_lack_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sessions/steps");
    let sessions: Vec<Measured> = recordings(&folder).iter().map(|file| measure(file)).collect();
    assert_eq!(sessions.len(), 10);
    for session in &sessions {
        assert!(session.questions > 3, "{}: {} questions", session.name, session.questions);
    }
    let all = Measured::all(&sessions);
    let (before, after): (usize, usize) = (all.before.values().sum(), all.after.values().sum());
    // A third, to the percent: listings also say how far what they show goes on.
    assert!(after * 100 <= before * 67, "{before} tokens before, {after} now");
    assert_eq!(all.missing, [""; 0], "decisions used it");
    assert!(all.cached * 10 >= all.later * 7, "a cache would serve {} of {} tokens", all.cached, all.later);
}

#[test]
fn recordings_are_summed_by_part() {
    let one = |before: usize, after: usize| Measured {
        questions: 2,
        before: BTreeMap::from([("Tools".to_owned(), before)]),
        after: BTreeMap::from([("Tools".to_owned(), after), ("Rules".to_owned(), 5)]),
        later: 100,
        cached: 75,
        ..Measured::default()
    };
    let all = Measured::all(&[one(100, 50), one(60, 30)]);
    assert_eq!((all.questions, all.later, all.cached), (4, 200, 150));
    assert_eq!(all.before, BTreeMap::from([("Tools".to_owned(), 160)]));
    assert_eq!(all.after, BTreeMap::from([("Tools".to_owned(), 80), ("Rules".to_owned(), 10)]));
}

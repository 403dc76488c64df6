//! What the prompts of recorded sessions cost. `cargo xtask bench prompts` prints it by part.

#[path = "../../examples/prompts/measure.rs"]
mod measure;

use std::path::Path;

use measure::{Measured, measure, recordings};

impl Measured {
    fn tokens_before(&self) -> usize {
        self.before.values().sum()
    }

    fn tokens_after(&self) -> usize {
        self.after.values().sum()
    }

    /// Adds another session.
    fn add(&mut self, other: &Self) {
        self.questions += other.questions;
        for (mine, theirs) in [(&mut self.before, &other.before), (&mut self.after, &other.after)] {
            for (part, tokens) in theirs {
                *mine.entry(part.clone()).or_default() += tokens;
            }
        }
        self.later += other.later;
        self.cached += other.cached;
        self.missing.extend(other.missing.iter().cloned());
    }
}

#[test]
fn prompts_are_a_third_shorter_than_they_were_and_lack_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sessions/steps");
    let sessions: Vec<Measured> = recordings(&folder).iter().map(|file| measure(file)).collect();
    assert_eq!(sessions.len(), 10);
    let mut all = Measured::default();
    for session in &sessions {
        assert!(session.questions > 8, "{}: {} questions", session.name, session.questions);
        all.add(session);
    }
    let (before, after) = (all.tokens_before(), all.tokens_after());
    assert!(after * 100 <= before * 65, "{before} tokens before, {after} now");
    assert_eq!(all.missing, [""; 0], "decisions used it");
    assert!(all.cached * 10 >= all.later * 7, "a cache would serve {} of {} tokens", all.cached, all.later);
}

//! Answers of the user, and their substitutes.

use super::{event::NoAnswer, state::Session};
use crate::reply::UserQuestion;

/// The answer given to an agent if nobody can be asked.
const DECIDE_YOURSELF: &str = "nobody can be asked; decide yourself and do not ask again";

impl Session {
    /// Records answers, in the order of the questions. An open question gets its default.
    pub(super) fn note_answers(&mut self, questions: &[UserQuestion], answers: &[String]) {
        for (index, question) in questions.iter().enumerate() {
            let answer = answers.get(index).map(|answer| answer.trim()).filter(|answer| !answer.is_empty());
            // A default is the model's word, also where the user left it as it was.
            let is_own = |answer: &&str| question.default.as_deref() != Some(*answer);
            self.said.add(answer.filter(is_own).unwrap_or_default());
            let note = match (answer, &question.default) {
                (Some(answer), _) => answer.to_owned(),
                (None, Some(default)) => format!("{default} (the default, because the user left it open)"),
                (None, None) => "no answer".to_owned(),
            };
            self.blackboard.add_answer(&question.text, &note);
        }
    }

    /// Records that nobody answered. Returns false if the agent cannot continue without an answer. After a timeout the
    /// default applies.
    pub(super) fn note_no_answer(&mut self, questions: &[UserQuestion], why: NoAnswer) -> bool {
        for question in questions {
            let note = match (why, &question.default) {
                (NoAnswer::NoChannel, None) => DECIDE_YOURSELF.to_owned(),
                (NoAnswer::NoChannel, Some(default)) => {
                    format!("{DECIDE_YOURSELF}; you named “{default}” as the default")
                }
                (NoAnswer::TimedOut, None) => "no answer came in time".to_owned(),
                (NoAnswer::TimedOut, Some(default)) => {
                    format!("{default} (the default, because no answer came in time)")
                }
            };
            self.blackboard.add_answer(&question.text, &note);
        }
        match why {
            NoAnswer::NoChannel => true,
            NoAnswer::TimedOut => {
                !questions.iter().any(|question| question.required && question.default.is_none())
            }
        }
    }
}

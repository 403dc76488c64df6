//! Answers of the user, and their substitutes.

use super::{event::NoAnswer, ledgers::Ledgers};
use crate::reply::UserQuestion;

/// The answer given to an agent if nobody can be asked.
const DECIDE_YOURSELF: &str = "nobody can be asked; decide yourself and do not ask again";

/// Why a proposed action is not executed.
pub(super) enum NotApproved {
    /// A person rejected it, perhaps with an instruction.
    Rejected(Option<String>),
    /// Refused on a person's behalf, with a message that is not theirs.
    Refused(String),
    /// Nobody decided.
    Unanswered(NoAnswer),
}

impl NotApproved {
    /// The question and the instruction for the blackboard; without an instruction, the reason to end.
    fn instruction(self, what: &str) -> Result<(String, String), String> {
        match self {
            Self::Rejected(Some(instruction)) | Self::Refused(instruction) => {
                Ok((format!("May I run {what}?"), format!("No. {instruction}")))
            }
            Self::Rejected(None) => Err(format!("{what} was not approved")),
            Self::Unanswered(NoAnswer::NoChannel) => {
                Err(format!("{what} was not approved: there is nobody to ask"))
            }
            Self::Unanswered(NoAnswer::TimedOut) => {
                Err(format!("{what} was not approved: the request timed out"))
            }
        }
    }
}

/// Records answers, in the order of the questions. An open question gets its default.
pub(super) fn note_answers(ledgers: &mut Ledgers, questions: &[UserQuestion], answers: &[String]) {
    for (index, question) in questions.iter().enumerate() {
        let answer = answers.get(index).map(|answer| answer.trim()).filter(|answer| !answer.is_empty());
        // A default is the model's word, also where the user left it as it was.
        let is_own = |answer: &&str| question.default.as_deref() != Some(*answer);
        ledgers.people.says(answer.filter(is_own).unwrap_or_default());
        let note = match (answer, &question.default) {
            (Some(answer), _) => answer.to_owned(),
            (None, Some(default)) => format!("{default} (the default, because the user left it open)"),
            (None, None) => "no answer".to_owned(),
        };
        ledgers.blackboard.add_answer(&question.text, &note);
    }
}

/// Records that nobody answered. Returns false if the agent cannot continue without an answer. After a timeout the
/// default applies.
pub(super) fn note_no_answer(ledgers: &mut Ledgers, questions: &[UserQuestion], why: NoAnswer) -> bool {
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
        ledgers.blackboard.add_answer(&question.text, &note);
    }
    match why {
        NoAnswer::NoChannel => true,
        NoAnswer::TimedOut => {
            !questions.iter().any(|question| question.required && question.default.is_none())
        }
    }
}

/// Notes what the agents learn of an action that was not approved; returns the instruction, or the reason to end.
pub(super) fn note_not_approved(
    ledgers: &mut Ledgers,
    what: &str,
    why: NotApproved,
) -> Result<String, String> {
    let is_said = matches!(why, NotApproved::Rejected(_));
    let (question, instruction) = why.instruction(what)?;
    ledgers.blackboard.add_answer(&question, &instruction);
    if is_said {
        ledgers.people.says(&instruction);
    }
    Ok(instruction)
}

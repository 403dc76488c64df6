//! The frontend for programs: JSON Lines in both directions.

use deskhand_machine::{
    provenance::Provenance,
    reply::UserQuestion,
    session::{ApprovalScope, FollowerPlan},
};
use deskhand_ui::duration::milliseconds;

use super::{
    ApprovalReply, ApprovalRequest, Frontend, InputLine, LINE_BYTES_MAX, PauseNotice, QuestionRequest,
    UserInput, UserPrompt, UserRequest,
    protocol::{Approve, FromSession, ToSession},
    words_problem,
};

/// Writes a line to the program.
pub type WriteLine = Box<dyn Fn(&FromSession<'_>) + Send>;

/// Prompts and answers as JSON lines.
pub struct JsonFrontend {
    write: WriteLine,
    line: u64,
}

impl JsonFrontend {
    /// A frontend that writes lines with `write`.
    pub fn new(write: WriteLine) -> Self {
        Self { write, line: 0 }
    }

    fn error(&self, message: &str) -> UserInput {
        (self.write)(&FromSession::Error { message, line: self.line });
        UserInput::Handled
    }

    fn read(&self, text: &str, open: Option<&UserPrompt>) -> UserInput {
        let line: ToSession = match serde_json::from_str(text) {
            Ok(line) => line,
            Err(error) => return self.error(&format!("invalid line: {error}")),
        };
        match line {
            ToSession::Request { text, .. } if text.trim().is_empty() => self.error("the request is empty"),
            ToSession::Request { plan: Some(plan), .. } if plan.steps.is_empty() => {
                self.error("the plan of the request has no steps")
            }
            ToSession::Request { plan: Some(plan), .. } if plan.workflow.is_some() => {
                self.error("the plan of a request has steps, and no workflow")
            }
            ToSession::Request { text, plan } => {
                // Who is at the other end of the pipe started the session: its plans are the user's.
                let plan = plan.map(|plan| FollowerPlan { provenance: Provenance::Made, ..plan });
                UserInput::Request(UserRequest { text, plan })
            }
            ToSession::Answer { id, answers } => match open {
                Some(UserPrompt::Questions(asked)) if asked.id == id => self.answers(asked, answers),
                Some(UserPrompt::Request | UserPrompt::Questions(_) | UserPrompt::Approval(_)) | None => {
                    self.error(&format!("no open questions with id {id}"))
                }
            },
            ToSession::Decide { id, approve, instruction } => match open {
                Some(UserPrompt::Approval(asked)) if asked.id == id => self.decided(approve, instruction),
                Some(UserPrompt::Request | UserPrompt::Questions(_) | UserPrompt::Approval(_)) | None => {
                    self.error(&format!("no open approval with id {id}"))
                }
            },
            ToSession::Say { text } => match words_problem(&text) {
                Some(problem) => self.error(&problem),
                None => UserInput::Said(text),
            },
            ToSession::TakeOver {} => UserInput::TakeOver,
            ToSession::HandBack { note } => {
                match note.as_deref().filter(|note| !note.trim().is_empty()).map(words_problem) {
                    Some(Some(problem)) => self.error(&problem),
                    Some(None) => UserInput::HandBack(note),
                    None => UserInput::HandBack(None),
                }
            }
            ToSession::Pause {} => UserInput::Pause,
            ToSession::Resume {} => UserInput::Resume,
            ToSession::Stop { now } => UserInput::Stop { now },
            ToSession::End {} => UserInput::End,
        }
    }

    fn answers(&self, asked: &QuestionRequest, answers: Vec<Option<String>>) -> UserInput {
        let (given, wanted) = (answers.len(), asked.questions.len());
        if given != wanted {
            return self.error(&format!("{given} answers to {wanted} questions; use null for no answer"));
        }
        let answers: Vec<String> = answers.into_iter().map(Option::unwrap_or_default).collect();
        let wrong = |(answer, question): (&String, &UserQuestion)| {
            let any = answer.trim().is_empty() || question.choices.is_empty();
            (!any && !question.choices.contains(answer))
                .then(|| format!("`{answer}` is not one of the choices"))
        };
        match answers.iter().zip(&asked.questions).find_map(wrong) {
            Some(problem) => self.error(&problem),
            None => UserInput::Answered(answers),
        }
    }

    fn decided(&self, approve: Approve, instruction: Option<String>) -> UserInput {
        match (approve, instruction) {
            (Approve::Once | Approve::Session, Some(_)) => {
                self.error("an instruction requires `\"approve\": \"no\"`: it says what to do instead")
            }
            (Approve::Once, None) => UserInput::Decided(ApprovalReply::Approved(ApprovalScope::Once)),
            (Approve::Session, None) => UserInput::Decided(ApprovalReply::Approved(ApprovalScope::Session)),
            (Approve::No, instruction) => UserInput::Decided(ApprovalReply::Rejected(instruction)),
        }
    }
}

impl Frontend for JsonFrontend {
    fn show(&mut self, prompt: &UserPrompt) {
        let line = match prompt {
            UserPrompt::Request => FromSession::AwaitingRequest,
            UserPrompt::Questions(QuestionRequest { id, questions, timeout }) => {
                FromSession::Questions { id: *id, questions, timeout_ms: timeout.map(milliseconds) }
            }
            UserPrompt::Approval(ApprovalRequest {
                id,
                agent,
                actions,
                reason,
                asked_by,
                covers,
                timeout,
            }) => FromSession::Approval {
                id: *id,
                agent: agent.to_string(),
                actions,
                reason,
                asked_by,
                covers,
                timeout_ms: timeout.map(milliseconds),
            },
        };
        (self.write)(&line);
    }

    fn parse(&mut self, line: &InputLine, open: Option<&UserPrompt>) -> UserInput {
        self.line += 1;
        match line {
            InputLine::TooLong => self.error(&format!("longer than {LINE_BYTES_MAX} bytes")),
            InputLine::Text(text) if text.trim().is_empty() => UserInput::Handled,
            InputLine::Text(text) => self.read(text, open),
        }
    }

    fn withdrawn(&mut self, prompt: &UserPrompt) {
        let id = match prompt {
            UserPrompt::Request => return,
            UserPrompt::Questions(asked) => asked.id,
            UserPrompt::Approval(asked) => asked.id,
        };
        (self.write)(&FromSession::Withdrawn { id });
    }

    fn notify(&mut self, notice: &PauseNotice) {
        (self.write)(&match notice {
            PauseNotice::Paused { before } => FromSession::Paused { before },
            PauseNotice::Resumed => FromSession::Resumed,
            PauseNotice::TakenOver { before, watched } => {
                FromSession::TakenOver { before, watched: *watched }
            }
            PauseNotice::HandedBack => FromSession::HandedBack,
        });
    }

    fn reject(&mut self, problem: &str) {
        self.error(problem);
    }
}

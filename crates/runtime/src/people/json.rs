//! The frontend for programs: JSON Lines in both directions.

use deskhand_core::{
    duration::milliseconds,
    provenance::Provenance,
    reply::Question,
    session::{ApprovalScope, FollowerPlan},
};

use super::{
    ApprovalRequest, Decided, Frontend, InputLine, LINE_BYTES_MAX, PauseNotice, Prompt, Questions, Request,
    UserInput,
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

    fn read(&self, text: &str, open: Option<&Prompt>) -> UserInput {
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
                UserInput::Request(Request { text, plan })
            }
            ToSession::Answer { id, answers } => match open {
                Some(Prompt::Questions(asked)) if asked.id == id => self.answers(asked, answers),
                Some(Prompt::Request | Prompt::Questions(_) | Prompt::Approval(_)) | None => {
                    self.error(&format!("no open questions with id {id}"))
                }
            },
            ToSession::Decide { id, approve, instruction } => match open {
                Some(Prompt::Approval(asked)) if asked.id == id => self.decided(approve, instruction),
                Some(Prompt::Request | Prompt::Questions(_) | Prompt::Approval(_)) | None => {
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

    fn answers(&self, asked: &Questions, answers: Vec<Option<String>>) -> UserInput {
        let (given, wanted) = (answers.len(), asked.questions.len());
        if given != wanted {
            return self.error(&format!("{given} answers to {wanted} questions; use null for no answer"));
        }
        let answers: Vec<String> = answers.into_iter().map(Option::unwrap_or_default).collect();
        let wrong = |(answer, question): (&String, &Question)| {
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
            (Approve::Once, None) => UserInput::Decided(Decided::Approved(ApprovalScope::Once)),
            (Approve::Session, None) => UserInput::Decided(Decided::Approved(ApprovalScope::Session)),
            (Approve::No, instruction) => UserInput::Decided(Decided::Rejected(instruction)),
        }
    }
}

impl Frontend for JsonFrontend {
    fn show(&mut self, prompt: &Prompt) {
        let line = match prompt {
            Prompt::Request => FromSession::AwaitingRequest,
            Prompt::Questions(Questions { id, questions, timeout }) => {
                FromSession::Questions { id: *id, questions, timeout_ms: timeout.map(milliseconds) }
            }
            Prompt::Approval(ApprovalRequest { id, agent, actions, reason, asked_by, covers, timeout }) => {
                FromSession::Approval {
                    id: *id,
                    agent: agent.to_string(),
                    actions,
                    reason,
                    asked_by,
                    covers,
                    timeout_ms: timeout.map(milliseconds),
                }
            }
        };
        (self.write)(&line);
    }

    fn parse(&mut self, line: &InputLine, open: Option<&Prompt>) -> UserInput {
        self.line += 1;
        match line {
            InputLine::TooLong => self.error(&format!("longer than {LINE_BYTES_MAX} bytes")),
            InputLine::Text(text) if text.trim().is_empty() => UserInput::Handled,
            InputLine::Text(text) => self.read(text, open),
        }
    }

    fn withdrawn(&mut self, prompt: &Prompt) {
        let id = match prompt {
            Prompt::Request => return,
            Prompt::Questions(asked) => asked.id,
            Prompt::Approval(asked) => asked.id,
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

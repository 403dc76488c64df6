//! The face for programs: one JSON object a line, both ways.

use deskhand_core::{reply::Question, session::ApprovalScope};

use super::{
    ApprovalRequest, Decided, Face, Heard, InputLine, LINE_BYTES_MAX, Notice, Prompt, Questions, Request,
    protocol::{Approve, FromSession, ToSession},
};

/// Writes a line to the program.
pub type WriteLine = Box<dyn Fn(&FromSession<'_>) + Send>;

/// Prompts and answers as lines of JSON.
pub struct JsonFace {
    write: WriteLine,
    line: u64,
}

impl JsonFace {
    /// A face that writes its lines with `write`.
    pub fn new(write: WriteLine) -> Self {
        Self { write, line: 0 }
    }

    fn error(&self, message: &str) -> Heard {
        (self.write)(&FromSession::Error { message, line: self.line });
        Heard::Nothing
    }

    fn read(&self, text: &str, open: Option<&Prompt>) -> Heard {
        let said: ToSession = match serde_json::from_str(text) {
            Ok(said) => said,
            Err(error) => return self.error(&format!("not a line of the protocol: {error}")),
        };
        match said {
            ToSession::Request { text, .. } if text.trim().is_empty() => self.error("the request is empty"),
            ToSession::Request { plan: Some(plan), .. } if plan.steps.is_empty() => {
                self.error("the plan of the request has no steps")
            }
            ToSession::Request { text, plan } => Heard::Request(Request { text, plan }),
            ToSession::Answer { id, answers } => match open {
                Some(Prompt::Questions(asked)) if asked.id == id => self.answers(asked, answers),
                Some(Prompt::Request | Prompt::Questions(_) | Prompt::Approval(_)) | None => {
                    self.error(&format!("no questions with the id {id} wait"))
                }
            },
            ToSession::Decide { id, approve, instruction } => match open {
                Some(Prompt::Approval(asked)) if asked.id == id => self.decided(approve, instruction),
                Some(Prompt::Request | Prompt::Questions(_) | Prompt::Approval(_)) | None => {
                    self.error(&format!("no approval with the id {id} waits"))
                }
            },
            ToSession::Pause {} => Heard::Pause,
            ToSession::Resume {} => Heard::GoOn,
            ToSession::Stop { now } => Heard::Stop { now },
            ToSession::End {} => Heard::End,
        }
    }

    fn answers(&self, asked: &Questions, answers: Vec<Option<String>>) -> Heard {
        let (given, wanted) = (answers.len(), asked.questions.len());
        if given != wanted {
            return self.error(&format!("{given} answers to {wanted} questions; give null for none"));
        }
        let answers: Vec<String> = answers.into_iter().map(Option::unwrap_or_default).collect();
        let wrong = |(answer, question): (&String, &Question)| {
            let any = answer.trim().is_empty() || question.choices.is_empty();
            (!any && !question.choices.contains(answer)).then(|| format!("`{answer}` is none of the choices"))
        };
        match answers.iter().zip(&asked.questions).find_map(wrong) {
            Some(problem) => self.error(&problem),
            None => Heard::Answered(answers),
        }
    }

    fn decided(&self, approve: Approve, instruction: Option<String>) -> Heard {
        match (approve, instruction) {
            (Approve::Once | Approve::Session, Some(_)) => {
                self.error("an instruction goes with `\"approve\": \"no\"`: it says what to do instead")
            }
            (Approve::Once, None) => Heard::Decided(Decided::Approved(ApprovalScope::Once)),
            (Approve::Session, None) => Heard::Decided(Decided::Approved(ApprovalScope::Session)),
            (Approve::No, instruction) => Heard::Decided(Decided::Rejected(instruction)),
        }
    }
}

impl Face for JsonFace {
    fn show(&mut self, prompt: &Prompt) {
        let line = match prompt {
            Prompt::Request => FromSession::AwaitingRequest,
            Prompt::Questions(Questions { id, questions, timeout }) => FromSession::Questions {
                id: *id,
                questions,
                timeout_ms: timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            },
            Prompt::Approval(ApprovalRequest { id, agent, actions, reason, asked_by, timeout }) => {
                FromSession::Approval {
                    id: *id,
                    agent: agent.to_string(),
                    actions,
                    reason,
                    asked_by,
                    timeout_ms: timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
                }
            }
        };
        (self.write)(&line);
    }

    fn hear(&mut self, line: &InputLine, open: Option<&Prompt>) -> Heard {
        self.line += 1;
        match line {
            InputLine::TooLong => self.error(&format!("longer than {LINE_BYTES_MAX} bytes")),
            InputLine::Text(text) if text.trim().is_empty() => Heard::Nothing,
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

    fn tell(&mut self, notice: &Notice) {
        (self.write)(&match notice {
            Notice::Paused { before } => FromSession::Paused { before },
            Notice::GoesOn => FromSession::Resumed,
        });
    }

    fn refuse(&mut self, problem: &str) {
        self.error(problem);
    }
}

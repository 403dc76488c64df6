//! The terminal frontend: prints prompts and parses what is typed.

use deskhand_machine::{
    agent::AgentRef,
    reply::UserQuestion,
    session::{ApprovalScope, AskedBy, PlannedAction},
};
use deskhand_runtime::people::{
    ApprovalReply, ApprovalRequest, Frontend, InputLine, PauseNotice, QuestionRequest, UserInput, UserPrompt,
    UserRequest, words_problem,
};
use deskhand_ui::{
    duration::milliseconds,
    text::{clip, one_line},
};

use super::editor::EditSwitch;
use crate::{
    output::{Output, OutputTone, StyledLine},
    render::{action_details, command_words, seconds},
};

/// Maximum length of a displayed value, in characters; JSON lines and the journal have all of it.
const DETAIL_MAX: usize = 4_000;
const DECIDE: &str = "y yes · n no · a always yes for this · or type what to do instead";
const DECIDE_SHORT: &str = "type y, n, a, or what to do instead";
const WHILE_WORKING: &str = "while a request runs: p pauses, r resumes, s stops, t takes over, h hands back; a sentence, or say and a \
                             word, goes to the agents";

/// The prompt for the next request.
pub(super) const REQUEST_MARK: &str = "request> ";

/// Prompts and answers on a terminal.
pub(super) struct TerminalFrontend {
    output: Output,
    /// Edits requests, if the terminal can.
    editor: Option<EditSwitch>,
    /// Answers to the open questions so far.
    answers: Vec<String>,
}

impl TerminalFrontend {
    /// A frontend that writes to `output`; requests are edited with `editor`.
    pub(super) const fn new(output: Output, editor: Option<EditSwitch>) -> Self {
        Self { output, editor, answers: Vec::new() }
    }

    fn prompt_for_request(&self) {
        match &self.editor {
            Some(editor) => {
                self.output.leave_line();
                editor.begin();
            }
            None => self.output.prompt(&StyledLine::of(OutputTone::Strong, REQUEST_MARK)),
        }
    }

    fn note(&self, word: &str, text: impl Into<String>) {
        self.output.line(&noted(word, text));
    }

    /// Rejects a line and prompts again.
    fn again(&self, problem: &str, mark: &str) -> UserInput {
        self.note("", problem);
        self.output.prompt(&StyledLine::of(OutputTone::Strong, mark));
        UserInput::Handled
    }

    fn show_question(&self, asked: &QuestionRequest, number: usize) {
        let Some(question) = asked.questions.get(number) else { return };
        question_lines(question, (number, asked.questions.len()))
            .iter()
            .for_each(|line| self.output.line(line));
        self.output.prompt(&StyledLine::of(OutputTone::Strong, question_mark(question)));
    }

    fn show_approval(&self, asked: &ApprovalRequest) {
        approval_lines(asked).iter().for_each(|line| self.output.line(line));
        self.output.prompt(&StyledLine::of(OutputTone::Strong, "> "));
    }

    fn parse_request(&self, text: &str) -> UserInput {
        match text.to_lowercase().as_str() {
            "" => {
                self.note("", "type a request, or N to end");
                self.prompt_for_request();
                UserInput::Handled
            }
            "n" | "q" | "quit" | "exit" => UserInput::End,
            _ => UserInput::Request(UserRequest::from(text)),
        }
    }

    fn parse_answer(&mut self, text: &str, asked: &QuestionRequest) -> UserInput {
        let Some(question) = asked.questions.get(self.answers.len()) else { return UserInput::Handled };
        match answer_of(text, question) {
            Err(problem) => self.again(&problem, &question_mark(question)),
            Ok(answer) => {
                self.answers.push(answer);
                if self.answers.len() < asked.questions.len() {
                    self.show_question(asked, self.answers.len());
                    return UserInput::Handled;
                }
                UserInput::Answered(std::mem::take(&mut self.answers))
            }
        }
    }

    fn parse_decision(&self, text: &str) -> UserInput {
        match text.to_lowercase().as_str() {
            "" => self.again(&format!("please answer: {DECIDE_SHORT}"), "> "),
            "y" | "yes" => UserInput::Decided(ApprovalReply::Approved(ApprovalScope::Once)),
            "a" | "always" => UserInput::Decided(ApprovalReply::Approved(ApprovalScope::Session)),
            "n" | "no" => UserInput::Decided(ApprovalReply::Rejected(None)),
            "s" | "stop" => UserInput::Stop { now: false },
            // A single word is more likely a typo than an instruction.
            word if word.is_ascii() && !word.contains(' ') => {
                self.again(&format!("unknown answer `{text}`; {DECIDE_SHORT}"), "> ")
            }
            _ => UserInput::Decided(ApprovalReply::Rejected(Some(text.to_owned()))),
        }
    }

    fn parse_while_working(&self, text: &str) -> UserInput {
        match text.to_lowercase().as_str() {
            "" => UserInput::Handled,
            "p" | "pause" => {
                self.note("pause", "after the current action; r resumes");
                UserInput::Pause
            }
            "r" | "resume" | "go" => UserInput::Resume,
            "t" | "take over" => {
                self.note(
                    "take over",
                    "after the current action; h hands back, h and a word tells it to the agents",
                );
                UserInput::TakeOver
            }
            "h" | "hand back" => UserInput::HandBack(None),
            "s" | "stop" => {
                self.note("stop", "nothing more is sent");
                UserInput::Stop { now: false }
            }
            _ => match spoken(text) {
                Some(input) => self.checked(input),
                None => {
                    self.note("", format!("unknown command `{}`; {WHILE_WORKING}", one_line(text)));
                    UserInput::Handled
                }
            },
        }
    }

    /// Words for the agents, unless they cannot be taken in.
    fn checked(&self, input: UserInput) -> UserInput {
        let problem = match &input {
            UserInput::Said(text) | UserInput::HandBack(Some(text)) => words_problem(text),
            UserInput::Handled
            | UserInput::Request(_)
            | UserInput::End
            | UserInput::Answered(_)
            | UserInput::Decided(_)
            | UserInput::TakeOver
            | UserInput::HandBack(None)
            | UserInput::Pause
            | UserInput::Resume
            | UserInput::Stop { .. } => None,
        };
        match problem {
            None => input,
            Some(problem) => {
                self.note("", problem);
                UserInput::Handled
            }
        }
    }
}

impl Frontend for TerminalFrontend {
    fn show(&mut self, prompt: &UserPrompt) {
        match prompt {
            UserPrompt::Request => self.prompt_for_request(),
            UserPrompt::Questions(asked) => {
                self.answers.clear();
                if let Some(timeout) = asked.timeout {
                    self.note("", format!("waiting {} for an answer", seconds(milliseconds(timeout))));
                }
                self.show_question(asked, 0);
            }
            UserPrompt::Approval(asked) => self.show_approval(asked),
        }
    }

    fn parse(&mut self, line: &InputLine, open: Option<&UserPrompt>) -> UserInput {
        // The typed line break moved the cursor.
        Output::cursor_moved_on();
        let text = match line {
            InputLine::Text(text) => text.trim(),
            InputLine::TooLong => {
                self.note("", "that line is too long and was ignored");
                return UserInput::Handled;
            }
        };
        match open {
            Some(UserPrompt::Request) => self.parse_request(text),
            Some(UserPrompt::Questions(asked)) => self.parse_answer(text, asked),
            Some(UserPrompt::Approval(_)) => self.parse_decision(text),
            None => self.parse_while_working(text),
        }
    }

    fn withdrawn(&mut self, _: &UserPrompt) {
        self.answers.clear();
    }

    fn notify(&mut self, notice: &PauseNotice) {
        match notice {
            PauseNotice::Paused { before } => {
                self.note("paused", format!("before {}; r resumes, s stops", before.replace('_', " ")));
            }
            PauseNotice::Resumed => self.note("resumed", ""),
            PauseNotice::TakenOver { before, watched } => {
                let watched = if *watched { "what you do is watched" } else { "what you do is not watched" };
                let before = before.replace('_', " ");
                self.note("yours", format!("before {before}; {watched}; h hands back, s stops"));
            }
            PauseNotice::HandedBack => self.note("theirs", "the agents look again"),
        }
    }

    fn reject(&mut self, problem: &str) {
        self.note("", problem);
    }
}

/// Parses a message from a person to the agents, alone or with a hand-over. A single word is more likely a
/// mistyped command.
fn spoken(text: &str) -> Option<UserInput> {
    let after = |command: &str| {
        let head = text.get(..command.len())?;
        let rest = text.get(command.len()..)?;
        (head.eq_ignore_ascii_case(command) && rest.starts_with(char::is_whitespace))
            .then(|| rest.trim().to_owned())
    };
    let handed_back = ["hand back", "h"].into_iter().find_map(after);
    if let Some(note) = handed_back {
        return Some(UserInput::HandBack(Some(note)));
    }
    let said = after("say");
    let is_sentence = !text.is_ascii() || text.contains(char::is_whitespace);
    said.or_else(|| is_sentence.then(|| text.to_owned())).map(UserInput::Said)
}

fn labelled(tone: OutputTone, word: &str) -> StyledLine {
    StyledLine::of(tone, format!("  {word:<10}"))
}

fn noted(word: &str, text: impl Into<String>) -> StyledLine {
    labelled(OutputTone::Faint, word).with(OutputTone::Plain, text)
}

/// A question with its choices; `place` is its number among how many.
fn question_lines(question: &UserQuestion, place: (usize, usize)) -> Vec<StyledLine> {
    let (number, count) = place;
    let mut line = labelled(OutputTone::Strong, "question").with(OutputTone::Plain, one_line(&question.text));
    if count > 1 {
        line = line.with(OutputTone::Faint, format!("  ({} of {count})", number + 1));
    }
    let choice = |(index, choice): (usize, &String)| noted("", format!("{}  {choice}", index + 1));
    [line].into_iter().chain(question.choices.iter().enumerate().map(choice)).collect()
}

/// Renders an approval request: the action, the reason, and the possible replies.
fn approval_lines(asked: &ApprovalRequest) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let mut word = "approve?";
    for action in &asked.actions {
        let place = action.application.as_ref().map(|name| format!("  in {name}")).unwrap_or_default();
        let line = labelled(OutputTone::Doubtful, word).with(OutputTone::Strong, action_words(action));
        lines.push(line.with(OutputTone::Plain, place));
        for (name, text) in action_details(&action.command) {
            lines.push(noted("", format!("{name}: {}", clip(&one_line(&text), DETAIL_MAX))));
        }
        word = "";
    }
    if !asked.reason.trim().is_empty() {
        lines.push(noted("because", one_line(&asked.reason)));
    }
    let who = match &asked.asked_by {
        AskedBy::Model => format!("the model ({})", agent_words(&asked.agent)),
        AskedBy::Policy { rule } if *rule == asked.reason => "the policy".to_owned(),
        AskedBy::Policy { rule } => format!("the policy: {}", one_line(rule)),
    };
    lines.push(noted("asked by", who));
    if let Some(timeout) = asked.timeout {
        lines
            .push(noted("", format!("rejected without an answer within {}", seconds(milliseconds(timeout)))));
    }
    for covered in &asked.covers {
        lines.push(noted(
            "always",
            format!("a approves for this session: {}", clip(&one_line(covered), DETAIL_MAX)),
        ));
    }
    lines.push(noted("", DECIDE));
    lines
}

/// A short description of a proposed action.
fn action_words(action: &PlannedAction) -> String {
    command_words(&action.command, action.target.as_deref())
}

/// The display name of an agent: `HostAgent`, `AppAgent of mousepad`.
fn agent_words(agent: &AgentRef) -> String {
    match agent {
        AgentRef::AppAgent { application, .. } => format!("AppAgent of {application}"),
        AgentRef::HostAgent | AgentRef::Agent { .. } | AgentRef::EvaluationAgent | AgentRef::Unnamed => {
            agent.to_string()
        }
    }
}

fn question_mark(question: &UserQuestion) -> String {
    match &question.default {
        Some(default) => format!("[{}] > ", one_line(default)),
        None => "> ".to_owned(),
    }
}

/// Parses the answer to a question.
fn answer_of(text: &str, question: &UserQuestion) -> Result<String, String> {
    if text.is_empty() {
        return match &question.default {
            None if question.required => Err("this question needs an answer".to_owned()),
            default => Ok(default.clone().unwrap_or_default()),
        };
    }
    if question.choices.is_empty() {
        return Ok(text.to_owned());
    }
    let by_number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let by_name = || question.choices.iter().find(|choice| choice.eq_ignore_ascii_case(text));
    by_name()
        .or_else(|| by_number.and_then(|index| question.choices.get(index)))
        .cloned()
        .ok_or_else(|| format!("`{}` is not one of the choices; type one or its number", one_line(text)))
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;

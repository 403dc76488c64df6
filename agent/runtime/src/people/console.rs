//! A user channel over lines of text, for a person or a program.
//!
//! The driver uses a [`Console`]; its [`ConsoleListener`] reads lines continuously and passes each to the open prompt, or treats
//! it as a command or words to the session (pause, stop, take over, say). A [`Frontend`] parses lines and shows prompts. A line that arrived before
//! a prompt was shown never answers it.

use std::collections::VecDeque;

use deskhand_machine::session::StopReason;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{
    ApprovalReply, ApprovalRequest, InputLine, InputLines, LINES_WAITING_MAX, PauseNotice, PauseSwitch,
    QuestionReply, QuestionRequest, UserChannel, UserRequest,
};
use crate::stop::StopSwitch;

/// The most queued requests.
pub const REQUESTS_WAITING_MAX: usize = 1_000;

/// The most words of the user that wait to be taken in.
pub const WORDS_WAITING_MAX: usize = 64;

/// The capacity of the channel from session to listener.
const MESSAGES_WAITING_MAX: usize = 16;

/// A prompt to the user.
#[derive(Debug, Clone, PartialEq)]
pub enum UserPrompt {
    /// The next request.
    Request,
    /// Questions to answer.
    Questions(QuestionRequest),
    /// An action to approve.
    Approval(ApprovalRequest),
}

/// The meaning of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum UserInput {
    /// Nothing for the session; the frontend has handled it.
    Handled,
    /// A request, for now or later.
    Request(UserRequest),
    /// No further requests.
    End,
    /// Answers to the open questions.
    Answered(Vec<String>),
    /// The decision on the open approval.
    Decided(ApprovalReply),
    /// Words for the agents, said of the user's own accord.
    Said(String),
    /// The user takes over mouse and keyboard before the next effect.
    TakeOver,
    /// The user hands back, perhaps with a word to the agents.
    HandBack(Option<String>),
    /// Pause before the next effect.
    Pause,
    /// Resume.
    Resume,
    /// Stop the round: the running call is cancelled and reports what it did, or is dropped.
    Stop {
        /// Drop the running call.
        now: bool,
    },
}

impl UserInput {
    /// Returns `true` if it does something in the user's name that only the user may do: all but a stop.
    const fn is_of_the_user(&self) -> bool {
        match self {
            Self::Handled | Self::Stop { .. } => false,
            Self::Request(_)
            | Self::End
            | Self::Answered(_)
            | Self::Decided(_)
            | Self::Said(_)
            | Self::TakeOver
            | Self::HandBack(_)
            | Self::Pause
            | Self::Resume => true,
        }
    }
}

/// The rights of an input other than the user's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteeringScope {
    /// Everything: approve, answer, say, take over, pause, stop.
    Whole,
    /// Watch and stop. Applications that nothing confines could otherwise speak as the user.
    StopOnly,
}

/// Why an input is refused that may only stop the session.
const STOP_ONLY: &str = "refused: applications of this session are not confined, so its control socket only watches and stops; \
                         install bubblewrap, or set `people.socket = \"always\"`";

/// Shows prompts and parses lines.
pub trait Frontend: Send {
    /// Shows a prompt.
    fn show(&mut self, prompt: &UserPrompt);

    /// Parses a line; `open` is the open prompt.
    fn parse(&mut self, line: &InputLine, open: Option<&UserPrompt>) -> UserInput;

    /// A prompt was closed without an answer.
    fn withdrawn(&mut self, prompt: &UserPrompt);

    /// Shows a notice.
    fn notify(&mut self, notice: &PauseNotice);

    /// Rejects a line, for example when too many requests are queued.
    fn reject(&mut self, problem: &str);
}

/// The reply to a prompt.
enum UserPromptReply {
    Request(Option<UserRequest>),
    Answered(QuestionReply),
    Decided(ApprovalReply),
}

enum ConsoleMessage {
    Open(UserPrompt, oneshot::Sender<UserPromptReply>),
    Notify(PauseNotice),
}

/// The channel. It works while its [`ConsoleListener`] runs.
#[derive(Debug)]
pub struct Console {
    messages: mpsc::Sender<ConsoleMessage>,
    words: Mutex<mpsc::Receiver<String>>,
}

/// Reads lines and serves the [`Console`].
pub struct ConsoleListener<F> {
    messages: mpsc::Receiver<ConsoleMessage>,
    words: mpsc::Sender<String>,
    lines: Option<InputLines>,
    frontend: F,
    stop: StopSwitch,
    pause: PauseSwitch,
    requests: VecDeque<UserRequest>,
    /// No further requests.
    ended: bool,
    /// If `true`, a pause stays in force when this input ends.
    beside: bool,
    /// The rights of this input: only to stop the session, or more.
    steering: SteeringScope,
    open: Option<(UserPrompt, oneshot::Sender<UserPromptReply>)>,
}

/// Creates a channel over lines, with the listener that must run beside the session.
pub fn console<F: Frontend>(
    lines: InputLines,
    frontend: F,
    stop: StopSwitch,
    pause: PauseSwitch,
) -> (Console, ConsoleListener<F>) {
    let (sender, receiver) = mpsc::channel(MESSAGES_WAITING_MAX);
    let (said, words) = mpsc::channel(WORDS_WAITING_MAX);
    let listener = ConsoleListener {
        messages: receiver,
        words: said,
        lines: Some(lines),
        frontend,
        stop,
        pause,
        requests: VecDeque::new(),
        ended: false,
        beside: false,
        steering: SteeringScope::Whole,
        open: None,
    };
    (Console { messages: sender, words: Mutex::new(words) }, listener)
}

/// The same for an input beside others: when it ends, the others can still resume what it paused. Its words go where those of all go.
pub(super) fn console_beside<F: Frontend>(
    lines: InputLines,
    frontend: F,
    (stop, pause): (StopSwitch, PauseSwitch),
    words: mpsc::Sender<String>,
    steering: SteeringScope,
) -> (Console, ConsoleListener<F>) {
    let (console, listener) = console(lines, frontend, stop, pause);
    (console, ConsoleListener { beside: true, words, steering, ..listener })
}

impl Console {
    async fn prompt(&self, prompt: UserPrompt) -> Option<UserPromptReply> {
        let (sender, receiver) = oneshot::channel();
        self.messages.send(ConsoleMessage::Open(prompt, sender)).await.ok()?;
        receiver.await.ok()
    }
}

impl UserChannel for Console {
    async fn next_request(&self) -> Option<UserRequest> {
        match self.prompt(UserPrompt::Request).await {
            Some(UserPromptReply::Request(request)) => request,
            Some(UserPromptReply::Answered(_) | UserPromptReply::Decided(_)) | None => None,
        }
    }

    async fn ask(&self, questions: &QuestionRequest) -> QuestionReply {
        match self.prompt(UserPrompt::Questions(questions.clone())).await {
            Some(UserPromptReply::Answered(answered)) => answered,
            Some(UserPromptReply::Request(_) | UserPromptReply::Decided(_)) | None => QuestionReply::Nobody,
        }
    }

    async fn decide(&self, decision: &ApprovalRequest) -> ApprovalReply {
        match self.prompt(UserPrompt::Approval(decision.clone())).await {
            Some(UserPromptReply::Decided(decided)) => decided,
            Some(UserPromptReply::Request(_) | UserPromptReply::Answered(_)) | None => ApprovalReply::Nobody,
        }
    }

    async fn notify(&self, notice: PauseNotice) {
        self.messages.send(ConsoleMessage::Notify(notice)).await.ok();
    }

    async fn heard(&self) -> String {
        match self.words.lock().await.recv().await {
            Some(words) => words,
            // The listener has ended.
            None => std::future::pending().await,
        }
    }
}

impl<F: Frontend> ConsoleListener<F> {
    /// Serves the console until it is dropped.
    pub async fn listen(mut self) {
        loop {
            tokio::select! {
                message = self.messages.recv() => match message {
                    Some(ConsoleMessage::Open(prompt, reply)) => self.opened(prompt, reply),
                    Some(ConsoleMessage::Notify(notice)) => self.frontend.notify(&notice),
                    None => return,
                },
                () = withdrawn(self.open.as_mut()) => {
                    if let Some((prompt, _)) = self.open.take() {
                        self.frontend.withdrawn(&prompt);
                    }
                }
                line = next_line(self.lines.as_mut()) => match line {
                    Some(line) => self.handle(&line),
                    None => self.input_ended(),
                },
            }
        }
    }

    fn opened(&mut self, prompt: UserPrompt, reply: oneshot::Sender<UserPromptReply>) {
        // Lines written before the prompt is shown cannot be answers to it.
        for _ in 0..LINES_WAITING_MAX {
            let Some(line) = self.lines.as_mut().and_then(InputLines::waiting) else { break };
            self.handle(&line);
        }
        if prompt == UserPrompt::Request && (self.ended || !self.requests.is_empty()) {
            reply.send(UserPromptReply::Request(self.requests.pop_front())).ok();
            return;
        }
        if self.lines.is_none() {
            reply.send(nobody(&prompt)).ok();
            return;
        }
        self.frontend.show(&prompt);
        self.open = Some((prompt, reply));
    }

    fn input_ended(&mut self) {
        self.lines = None;
        self.ended = true;
        // Without input, nothing could resume the session. A person who has taken over may still be at work.
        if !self.beside && !self.pause.is_taken_over() {
            self.pause.resume();
        }
        if let Some((prompt, reply)) = self.open.take() {
            self.frontend.withdrawn(&prompt);
            reply.send(nobody(&prompt)).ok();
        }
    }

    fn handle(&mut self, line: &InputLine) {
        let open = self.open.as_ref().map(|(prompt, _)| prompt);
        let input = self.frontend.parse(line, open);
        if self.steering == SteeringScope::StopOnly && input.is_of_the_user() {
            self.frontend.reject(STOP_ONLY);
            return;
        }
        match input {
            UserInput::Handled => {}
            UserInput::Request(request) => self.request(request),
            UserInput::End => {
                self.ended = true;
                self.answer(UserPromptReply::Request(None));
            }
            UserInput::Answered(answers) => {
                self.answer(UserPromptReply::Answered(QuestionReply::Answers(answers)));
            }
            UserInput::Decided(decided) => self.answer(UserPromptReply::Decided(decided)),
            UserInput::Said(words) => self.said(words),
            UserInput::TakeOver => {
                if !self.pause.take_over() {
                    self.frontend.reject("somebody has taken over already");
                }
            }
            UserInput::HandBack(note) => {
                if !self.pause.hand_back(note) {
                    self.frontend.reject("nobody has taken over, so nothing is handed back");
                }
            }
            UserInput::Pause => {
                self.pause.pause();
            }
            UserInput::Resume => {
                self.pause.resume();
            }
            UserInput::Stop { now: true } => self.stop.now(StopReason::User),
            UserInput::Stop { now: false } => self.stop.cancel(StopReason::User),
        }
    }

    fn said(&mut self, words: String) {
        if self.words.try_send(words).is_err() {
            self.frontend.reject(&format!(
                "not said: {WORDS_WAITING_MAX} earlier words have not reached the session yet"
            ));
        }
    }

    fn request(&mut self, request: UserRequest) {
        if self.ended {
            self.frontend.reject("request ignored: it follows the end of the requests");
        } else if matches!(self.open, Some((UserPrompt::Request, _))) {
            self.answer(UserPromptReply::Request(Some(request)));
        } else if self.requests.len() >= REQUESTS_WAITING_MAX {
            self.frontend
                .reject(&format!("request ignored: {REQUESTS_WAITING_MAX} requests are already queued"));
        } else {
            self.requests.push_back(request);
        }
    }

    /// Answers the open prompt if the reply is of its kind.
    fn answer(&mut self, reply: UserPromptReply) {
        let fits = matches!(
            (self.open.as_ref().map(|(prompt, _)| prompt), &reply),
            (Some(UserPrompt::Request), UserPromptReply::Request(_))
                | (Some(UserPrompt::Questions(_)), UserPromptReply::Answered(_))
                | (Some(UserPrompt::Approval(_)), UserPromptReply::Decided(_))
        );
        if fits && let Some((_, sender)) = self.open.take() {
            sender.send(reply).ok();
        }
    }
}

/// The reply to a prompt without a user.
fn nobody(prompt: &UserPrompt) -> UserPromptReply {
    match prompt {
        UserPrompt::Request => UserPromptReply::Request(None),
        UserPrompt::Questions(_) => UserPromptReply::Answered(QuestionReply::Nobody),
        UserPrompt::Approval(_) => UserPromptReply::Decided(ApprovalReply::Nobody),
    }
}

async fn next_line(lines: Option<&mut InputLines>) -> Option<InputLine> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

async fn withdrawn(open: Option<&mut (UserPrompt, oneshot::Sender<UserPromptReply>)>) {
    match open {
        Some((_, reply)) => reply.closed().await,
        None => std::future::pending().await,
    }
}

//! One person, or one program, at the other end of lines of text.
//!
//! A [`Console`] is the channel that the driver asks; the [`Listener`] reads the lines as they come, also while nothing
//! is asked, and gives each to the prompt that is open or takes it as a word to the session (pause, stop). What a line
//! means and how a prompt is shown is the business of a [`Face`]. A line that came before a prompt was shown never answers it.

use std::collections::VecDeque;

use deskhand_core::session::StopReason;
use tokio::sync::{mpsc, oneshot};

use super::{
    Answered, ApprovalRequest, Decided, InputLine, InputLines, LINES_WAITING_MAX, Notice, PauseSwitch,
    Questions, Request, UserChannel,
};
use crate::stop::StopSwitch;

/// The most requests that wait for their turn.
pub const REQUESTS_WAITING_MAX: usize = 1_000;

/// The most messages of a session that wait for the listener; it takes them at once.
const MESSAGES_WAITING_MAX: usize = 16;

/// What is asked of the user.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// The next request.
    Request,
    /// Answers.
    Questions(Questions),
    /// A decision.
    Approval(ApprovalRequest),
}

/// What a line meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing for the session; the face has dealt with it.
    Nothing,
    /// A request, for now or later.
    Request(Request),
    /// There will be no further request.
    End,
    /// Answers to the open questions.
    Answered(Vec<String>),
    /// The decision that is open.
    Decided(Decided),
    /// Hold before what comes next.
    Pause,
    /// Go on.
    GoOn,
    /// Stop the round: after the call that is out, or at once.
    Stop {
        /// At once.
        now: bool,
    },
}

/// How prompts look and what lines mean.
pub trait Face: Send {
    /// Shows a prompt.
    fn show(&mut self, prompt: &Prompt);

    /// Reads a line; `open` is the prompt that waits.
    fn hear(&mut self, line: &InputLine, open: Option<&Prompt>) -> Heard;

    /// A prompt is no longer open, and nothing answered it.
    fn withdrawn(&mut self, prompt: &Prompt);

    /// Shows a notice.
    fn tell(&mut self, notice: &Notice);

    /// A line could not be followed, such as a request too many.
    fn refuse(&mut self, problem: &str);
}

/// What answers a prompt.
enum Reply {
    Request(Option<Request>),
    Answered(Answered),
    Decided(Decided),
}

enum Message {
    Open(Prompt, oneshot::Sender<Reply>),
    Tell(Notice),
}

/// The channel. It works as long as its [`Listener`] runs.
#[derive(Debug)]
pub struct Console {
    messages: mpsc::Sender<Message>,
}

/// Reads the lines and serves the [`Console`].
pub struct Listener<F> {
    messages: mpsc::Receiver<Message>,
    lines: Option<InputLines>,
    face: F,
    stop: StopSwitch,
    pause: PauseSwitch,
    requests: VecDeque<Request>,
    /// No further request comes.
    ended: bool,
    open: Option<(Prompt, oneshot::Sender<Reply>)>,
}

/// A channel over lines, with the listener that must run beside the session.
pub fn console<F: Face>(
    lines: InputLines,
    face: F,
    stop: StopSwitch,
    pause: PauseSwitch,
) -> (Console, Listener<F>) {
    let (sender, receiver) = mpsc::channel(MESSAGES_WAITING_MAX);
    let listener = Listener {
        messages: receiver,
        lines: Some(lines),
        face,
        stop,
        pause,
        requests: VecDeque::new(),
        ended: false,
        open: None,
    };
    (Console { messages: sender }, listener)
}

impl Console {
    async fn prompt(&self, prompt: Prompt) -> Option<Reply> {
        let (sender, receiver) = oneshot::channel();
        self.messages.send(Message::Open(prompt, sender)).await.ok()?;
        receiver.await.ok()
    }
}

impl UserChannel for Console {
    async fn next_request(&self) -> Option<Request> {
        match self.prompt(Prompt::Request).await {
            Some(Reply::Request(request)) => request,
            Some(Reply::Answered(_) | Reply::Decided(_)) | None => None,
        }
    }

    async fn ask(&self, questions: &Questions) -> Answered {
        match self.prompt(Prompt::Questions(questions.clone())).await {
            Some(Reply::Answered(answered)) => answered,
            Some(Reply::Request(_) | Reply::Decided(_)) | None => Answered::Nobody,
        }
    }

    async fn decide(&self, decision: &ApprovalRequest) -> Decided {
        match self.prompt(Prompt::Approval(decision.clone())).await {
            Some(Reply::Decided(decided)) => decided,
            Some(Reply::Request(_) | Reply::Answered(_)) | None => Decided::Nobody,
        }
    }

    async fn tell(&self, notice: Notice) {
        self.messages.send(Message::Tell(notice)).await.ok();
    }
}

impl<F: Face> Listener<F> {
    /// Serves the console until it is dropped.
    pub async fn listen(mut self) {
        loop {
            tokio::select! {
                message = self.messages.recv() => match message {
                    Some(Message::Open(prompt, reply)) => self.opened(prompt, reply),
                    Some(Message::Tell(notice)) => self.face.tell(&notice),
                    None => return,
                },
                () = withdrawn(self.open.as_mut()) => {
                    if let Some((prompt, _)) = self.open.take() {
                        self.face.withdrawn(&prompt);
                    }
                }
                line = next_line(self.lines.as_mut()) => match line {
                    Some(line) => self.heard(&line),
                    None => self.input_ended(),
                },
            }
        }
    }

    fn opened(&mut self, prompt: Prompt, reply: oneshot::Sender<Reply>) {
        // What was written before the prompt is shown cannot be meant for it.
        for _ in 0..LINES_WAITING_MAX {
            let Some(line) = self.lines.as_mut().and_then(InputLines::waiting) else { break };
            self.heard(&line);
        }
        if prompt == Prompt::Request && (self.ended || !self.requests.is_empty()) {
            reply.send(Reply::Request(self.requests.pop_front())).ok();
            return;
        }
        if self.lines.is_none() {
            reply.send(nobody(&prompt)).ok();
            return;
        }
        self.face.show(&prompt);
        self.open = Some((prompt, reply));
    }

    fn input_ended(&mut self) {
        self.lines = None;
        self.ended = true;
        // Nobody could let it go on any more.
        self.pause.go_on();
        if let Some((prompt, reply)) = self.open.take() {
            self.face.withdrawn(&prompt);
            reply.send(nobody(&prompt)).ok();
        }
    }

    fn heard(&mut self, line: &InputLine) {
        let open = self.open.as_ref().map(|(prompt, _)| prompt);
        match self.face.hear(line, open) {
            Heard::Nothing => {}
            Heard::Request(request) => self.request(request),
            Heard::End => {
                self.ended = true;
                self.answer(Reply::Request(None));
            }
            Heard::Answered(answers) => self.answer(Reply::Answered(Answered::Answers(answers))),
            Heard::Decided(decided) => self.answer(Reply::Decided(decided)),
            Heard::Pause => {
                self.pause.pause();
            }
            Heard::GoOn => {
                self.pause.go_on();
            }
            Heard::Stop { now: true } => self.stop.now(StopReason::User),
            Heard::Stop { now: false } => self.stop.after_call(StopReason::User),
        }
    }

    fn request(&mut self, request: Request) {
        if self.ended {
            self.face.refuse("a request after the end; it is not carried out");
        } else if matches!(self.open, Some((Prompt::Request, _))) {
            self.answer(Reply::Request(Some(request)));
        } else if self.requests.len() >= REQUESTS_WAITING_MAX {
            self.face.refuse(&format!("{REQUESTS_WAITING_MAX} requests wait already; it is not carried out"));
        } else {
            self.requests.push_back(request);
        }
    }

    /// Answers the open prompt if the reply is one to it.
    fn answer(&mut self, reply: Reply) {
        let fits = matches!(
            (self.open.as_ref().map(|(prompt, _)| prompt), &reply),
            (Some(Prompt::Request), Reply::Request(_))
                | (Some(Prompt::Questions(_)), Reply::Answered(_))
                | (Some(Prompt::Approval(_)), Reply::Decided(_))
        );
        if fits && let Some((_, sender)) = self.open.take() {
            sender.send(reply).ok();
        }
    }
}

/// What a prompt gets when there is nobody.
fn nobody(prompt: &Prompt) -> Reply {
    match prompt {
        Prompt::Request => Reply::Request(None),
        Prompt::Questions(_) => Reply::Answered(Answered::Nobody),
        Prompt::Approval(_) => Reply::Decided(Decided::Nobody),
    }
}

async fn next_line(lines: Option<&mut InputLines>) -> Option<InputLine> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

async fn withdrawn(open: Option<&mut (Prompt, oneshot::Sender<Reply>)>) {
    match open {
        Some((_, reply)) => reply.closed().await,
        None => std::future::pending().await,
    }
}

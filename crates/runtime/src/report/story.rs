//! A journal as a story: its steps, each with everything that belongs to it, and what happened between them.
//!
//! Holds one step at a time, however long the journal is.

use deskhand_core::{
    agent::{AgentDefinition, AgentRef, AgentReport},
    command::{CallResult, Command},
    ids::EffectId,
    model::{Message, ModelFailure, ModelReply, ReplyKind},
    money::{Money, Price},
    observation::Observation,
    outcome::Outcome,
    record::{Header, Line, Record},
    session::{AskedBy, Effect, EffectRecord, Event, NoAnswer, StepRef, StopReason},
};

use super::{
    decision::{Decision, decision},
    target::{Target, target_of},
};
use crate::summary::PhaseTimes;

/// How something is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// A part of a session.
#[derive(Debug)]
pub(super) enum Chapter {
    /// A round begins.
    Begun(Begun),
    /// A step was taken.
    Step(Box<StepStory>),
    /// The user was asked between two steps.
    Talk(Talk),
    /// Something happened to the session as a whole.
    Note(Note),
    /// A round ended.
    Ended { round: u32, outcome: Outcome },
}

/// A request of the user.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) round: u32,
    pub(super) request: String,
    /// The steps of a plan to follow; empty without one.
    pub(super) plan: Vec<String>,
}

/// Something to know, with how it is to be taken.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Note {
    pub(super) tone: Tone,
    pub(super) text: String,
}

/// One step with everything that belongs to it.
#[derive(Debug)]
pub(super) struct StepStory {
    pub(super) number: u32,
    pub(super) round: u32,
    pub(super) agent: AgentRef,
    pub(super) subtask: String,
    pub(super) began_ms: u64,
    pub(super) times: PhaseTimes,
    /// How long it waited for a person.
    pub(super) waited_ms: u64,
    /// What was seen last.
    pub(super) observation: Option<Observation>,
    pub(super) asks: Vec<AskStory>,
    /// What the model's last usable reply says.
    pub(super) decision: Option<Decision>,
    pub(super) acts: Vec<ActStory>,
    /// Approvals that were asked for.
    pub(super) talks: Vec<Talk>,
    pub(super) notes: Vec<Note>,
}

/// The model was asked.
#[derive(Debug)]
pub(super) struct AskStory {
    pub(super) reply: ReplyKind,
    pub(super) messages: Vec<Message>,
    pub(super) came: Came,
    /// None where the price or the number of tokens is not known.
    pub(super) cost: Option<Money>,
}

/// What came of a question to the model.
#[derive(Debug)]
pub(super) enum Came {
    Reply(ModelReply),
    Failure(ModelFailure),
    /// The session was stopped, or its process ended.
    Nothing,
}

/// A command went out, or a sub-task went to another agent.
#[derive(Debug)]
pub(super) struct ActStory {
    pub(super) command: Command,
    /// The control or window it is about, as it was seen before.
    pub(super) target: Option<Target>,
    /// None where the session was stopped, or its process ended, before it came back.
    pub(super) result: Option<CallResult>,
}

/// The user was asked.
#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Talk {
    /// `question` or `approval`.
    pub(super) kind: &'static str,
    /// The step it belongs to or follows; 0 before the first.
    pub(super) step: u32,
    /// The questions, or the commands that would be run.
    pub(super) asked: Vec<String>,
    /// Why it is asked.
    pub(super) reason: String,
    pub(super) tone: Tone,
    /// What the user said, or what stood in for it; an answer for each question.
    pub(super) answers: Vec<String>,
    pub(super) waited_ms: u64,
}

/// What the session was at when something came, or its journal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Observe,
    Ask,
    Act,
    People,
    Nothing,
}

/// How the journal ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    /// Whether the session came to its end.
    pub(super) complete: bool,
    /// What it was at; empty where it is complete.
    pub(super) at: String,
    /// The number of the last line.
    pub(super) seq: u64,
}

/// Tells the story of a journal, line by line.
#[derive(Debug)]
pub(super) struct Teller {
    price: Option<Price>,
    agents: Vec<AgentDefinition>,
    round: u32,
    steps: u32,
    step: Option<StepStory>,
    talk: Option<Talk>,
    open: Option<(EffectId, Phase, String)>,
    complete: bool,
    last_ms: u64,
    seq: u64,
}

impl Teller {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            price: header.config.prices.find(&header.config.model).copied(),
            agents: header.config.agents.clone(),
            round: 0,
            steps: 0,
            step: None,
            talk: None,
            open: None,
            complete: false,
            last_ms: header.created_ms,
            seq: 1,
        }
    }

    /// Takes the next line, and tells what it brings to an end.
    pub(super) fn read(&mut self, line: Line) -> Vec<Chapter> {
        let since = line.at_ms.saturating_sub(self.last_ms);
        self.last_ms = line.at_ms;
        self.seq = line.seq;
        let mut chapters = Vec::new();
        match line.record {
            Record::Header(_) => {}
            Record::Effect(record) => self.wanted(*record, line.at_ms, since, &mut chapters),
            Record::Event(record) => self.came(record.event, since, &mut chapters),
            Record::Changed(change) => {
                self.price = change.config.prices.find(&change.config.model).copied();
                self.agents = change.config.agents;
                let text = format!(
                    "from here on the session runs with model {} on desktop {} ({})",
                    change.model, change.desktop, change.program
                );
                self.note(Tone::Plain, text, &mut chapters);
            }
        }
        chapters
    }

    /// What is left when the journal ends, and how it ends.
    pub(super) fn end(mut self) -> (Vec<Chapter>, End) {
        let mut chapters = Vec::new();
        self.flush(&mut chapters);
        chapters.extend(self.talk.take().map(Chapter::Talk));
        let at = match (&self.open, self.complete) {
            (Some((_, _, at)), false) => at.clone(),
            _ => String::new(),
        };
        (chapters, End { complete: self.complete, at, seq: self.seq })
    }

    fn flush(&mut self, chapters: &mut Vec<Chapter>) {
        chapters.extend(self.step.take().map(|step| Chapter::Step(Box::new(step))));
    }

    fn wanted(&mut self, record: EffectRecord, at_ms: u64, since: u64, chapters: &mut Vec<Chapter>) {
        // Between an event and the next effect, core worked and the journal was written.
        if let Some(step) = &mut self.step {
            step.times.record = step.times.record.saturating_add(since);
        }
        // A resumed session performs again what was under way.
        let again = self.open.as_ref().is_some_and(|(id, ..)| *id == record.id);
        self.round = record.round;
        let (phase, at) = phase_of(&record.effect);
        self.open = Some((record.id, phase, at));
        if again {
            return;
        }
        match &record.step {
            Some(step) if self.step.as_ref().is_some_and(|open| open.number == step.number) => {}
            Some(step) => {
                self.flush(chapters);
                self.steps = step.number;
                self.step = Some(StepStory::begin(step, record.round, at_ms));
            }
            None => self.flush(chapters),
        }
        self.perform(record.effect, chapters);
    }

    fn perform(&mut self, effect: Effect, chapters: &mut Vec<Chapter>) {
        match effect {
            Effect::AwaitRequest | Effect::Observe { .. } => {}
            Effect::Ask { request } => {
                if let Some(step) = &mut self.step {
                    step.asks.push(AskStory {
                        reply: request.reply,
                        messages: request.messages,
                        came: Came::Nothing,
                        cost: None,
                    });
                }
            }
            Effect::Call { command } => {
                if let Some(step) = &mut self.step {
                    let target = target_of(&command, step.observation.as_ref());
                    step.acts.push(ActStory { command, target, result: None });
                }
            }
            Effect::Delegate { agent, subtask, message, request: _ } => {
                if let Some(step) = &mut self.step {
                    let arguments = [
                        ("agent".to_owned(), agent.to_string().into()),
                        ("subtask".to_owned(), subtask.into()),
                        ("message".to_owned(), message.into()),
                    ];
                    let command = Command {
                        tool: "delegate".to_owned(),
                        arguments: arguments.into_iter().collect(),
                        window: None,
                        agent: None,
                    };
                    step.acts.push(ActStory { command, target: None, result: None });
                }
            }
            Effect::AskUser { questions } => {
                let asked = questions.into_iter().map(|question| question.text).collect();
                self.talk = Some(Talk::new("question", self.steps, asked, String::new()));
            }
            Effect::AwaitApproval { approval } => {
                let asked = approval.commands.iter().map(Command::to_line).collect();
                let reason = match approval.asked_by {
                    AskedBy::Model => approval.reason,
                    AskedBy::Policy { rule } => format!("{} (rule: {rule})", approval.reason),
                };
                self.talk = Some(Talk::new("approval", self.steps, asked, reason));
            }
            Effect::Finish { outcome } => {
                chapters.push(Chapter::Ended { round: self.round, outcome });
            }
        }
    }

    fn came(&mut self, event: Event, since: u64, chapters: &mut Vec<Chapter>) {
        self.spend(since);
        match event {
            Event::Requested { text, plan } => {
                let plan = plan.map(|plan| plan.steps).unwrap_or_default();
                // The round's number comes with its first effect.
                let round = self.round.saturating_add(1);
                chapters.push(Chapter::Begun(Begun { round, request: text, plan }));
            }
            Event::Ended => self.complete = true,
            Event::Observed { observation } => {
                if let Some(step) = &mut self.step {
                    step.observation = Some(observation);
                }
            }
            Event::ObserveFailed { failure } => {
                self.note(Tone::Bad, format!("nothing could be seen: {failure}"), chapters);
            }
            Event::Replied { reply } => self.replied(reply),
            Event::ModelFailed { failure } => {
                if let Some(ask) = self.step.as_mut().and_then(|step| step.asks.last_mut()) {
                    ask.came = Came::Failure(failure);
                }
            }
            Event::Returned { result } => self.returned(result),
            Event::Delegated { report } => self.returned(result_of(&report)),
            Event::Answered { answers } => self.answered(Tone::Plain, answers, chapters),
            Event::Unanswered { why } => {
                let why = match why {
                    NoAnswer::NoChannel => "nobody could be asked",
                    NoAnswer::TimedOut => "no answer came in time",
                };
                self.answered(Tone::Doubtful, vec![why.to_owned()], chapters);
            }
            Event::Approved { scope } => {
                let scope = match scope {
                    deskhand_core::session::ApprovalScope::Once => "approved",
                    deskhand_core::session::ApprovalScope::Session => "approved for the whole session",
                };
                self.answered(Tone::Good, vec![scope.to_owned()], chapters);
            }
            Event::Rejected { instruction } => {
                let said =
                    instruction.map_or_else(|| "rejected".to_owned(), |text| format!("rejected: {text}"));
                self.answered(Tone::Bad, vec![said], chapters);
            }
            Event::Acknowledged => {}
            Event::Stopped { reason } => {
                let text = match reason {
                    StopReason::WallTime => "the time of the round ran out",
                    StopReason::User => "the user stopped it",
                    StopReason::Signal => "the process was told to end",
                };
                self.note(Tone::Bad, text.to_owned(), chapters);
                self.complete |= self.step.is_none() && self.talk.is_none();
            }
            Event::Resumed { desktop_kept } => {
                let desktop = if desktop_kept { "kept" } else { "gone with all its windows" };
                let text = format!(
                    "the process had ended here, and the session was resumed; the desktop was {desktop}"
                );
                self.note(Tone::Doubtful, text, chapters);
                return;
            }
        }
        self.open = None;
    }

    /// Counts time that passed between an effect and its event.
    fn spend(&mut self, ms: u64) {
        let phase = self.open.as_ref().map_or(Phase::Nothing, |(_, phase, _)| *phase);
        if let Some(step) = &mut self.step {
            let times = &mut step.times;
            let spent = match phase {
                Phase::Observe => &mut times.observe,
                Phase::Ask => &mut times.ask,
                Phase::Act => &mut times.act,
                Phase::People | Phase::Nothing => &mut step.waited_ms,
            };
            *spent = spent.saturating_add(ms);
        }
        if let Some(talk) = &mut self.talk {
            talk.waited_ms = talk.waited_ms.saturating_add(ms);
        }
    }

    fn note(&mut self, tone: Tone, text: String, chapters: &mut Vec<Chapter>) {
        let note = Note { tone, text };
        match &mut self.step {
            Some(step) => step.notes.push(note),
            None => chapters.push(Chapter::Note(note)),
        }
    }

    fn replied(&mut self, reply: ModelReply) {
        let price = self.price;
        let Some(step) = &mut self.step else { return };
        let Some(ask) = step.asks.last_mut() else { return };
        step.decision = Some(decision(ask.reply, &step.agent, &self.agents, &reply.text));
        ask.cost = price.and_then(|price| price.of(reply.usage));
        ask.came = Came::Reply(reply);
    }

    fn returned(&mut self, result: CallResult) {
        if let Some(act) = self.step.as_mut().and_then(|step| step.acts.last_mut()) {
            act.result = Some(result);
        }
    }

    fn answered(&mut self, tone: Tone, answers: Vec<String>, chapters: &mut Vec<Chapter>) {
        let Some(mut talk) = self.talk.take() else { return };
        talk.tone = tone;
        talk.answers = answers;
        match &mut self.step {
            Some(step) => step.talks.push(talk),
            None => chapters.push(Chapter::Talk(talk)),
        }
    }
}

impl StepStory {
    fn begin(step: &StepRef, round: u32, at_ms: u64) -> Self {
        Self {
            number: step.number,
            round,
            agent: step.agent.clone(),
            subtask: step.subtask.clone(),
            began_ms: at_ms,
            times: PhaseTimes::default(),
            waited_ms: 0,
            observation: None,
            asks: Vec::new(),
            decision: None,
            acts: Vec::new(),
            talks: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Talk {
    fn new(kind: &'static str, step: u32, asked: Vec<String>, reason: String) -> Self {
        let tone = Tone::Doubtful;
        Self { kind, step, asked, reason, tone, answers: vec!["no answer yet".to_owned()], waited_ms: 0 }
    }
}

/// The report of another agent as the result of a call.
fn result_of(report: &AgentReport) -> CallResult {
    use deskhand_core::{command::CallStatus, session::SubtaskStatus};
    let status = match report.status {
        SubtaskStatus::Finished => CallStatus::Success,
        SubtaskStatus::Failed | SubtaskStatus::Rejected | SubtaskStatus::Error => CallStatus::Failure,
    };
    let summary = format!("{}: {}", report.status, report.result);
    CallResult { status, ..CallResult::failure(None, summary) }
}

/// What an effect is counted as, and what the session is at while it is out.
fn phase_of(effect: &Effect) -> (Phase, String) {
    match effect {
        Effect::AwaitRequest => (Phase::Nothing, "while it waited for the next request".to_owned()),
        Effect::Observe { .. } => (Phase::Observe, "while it looked".to_owned()),
        Effect::Ask { .. } => (Phase::Ask, "while the model was asked".to_owned()),
        Effect::Call { command } => {
            (Phase::Act, format!("while `{}` ran; whether that took effect is not known", command.tool))
        }
        Effect::Delegate { agent, .. } => {
            (Phase::Act, format!("while agent {agent} worked; whether that took effect is not known"))
        }
        Effect::AskUser { .. } => (Phase::People, "while the user was asked a question".to_owned()),
        Effect::AwaitApproval { .. } => {
            (Phase::People, "while an approval was awaited; nothing of it was carried out".to_owned())
        }
        Effect::Finish { .. } => (Phase::Nothing, "right after the outcome was known".to_owned()),
    }
}

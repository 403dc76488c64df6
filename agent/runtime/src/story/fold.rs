//! The fold: applies each record and collects what it completes.

mod outside;

use std::collections::BTreeMap;

use deskhand_machine::{
    agent::{AgentDefinition, AgentRef},
    command::{CallResult, ToolCommand},
    model::ModelReply,
    observation::Observation,
    record::{JournalEntry, JournalHeader, JournalRecord, SettingsChange},
    reply::AgentReply,
    session::{Effect, EffectRecord, RefusedCommand, RoundLimits, SessionEvent, StepRef, SubtaskStatus},
};
use deskhand_ui::{
    DocumentInfo, PictureRef, WindowInfo,
    action::{ActionProof, CallReport, Evidence},
    ids::{EffectId, IdsSeen, WindowId},
};

use super::{
    ActStory, AskResult, AskStory, Chapter, DecisionSummary, JournalEnd, Moment, RoundStart, RunSummary,
    SessionActivity, SessionNote, StepStory, StoryUpdate, SubtaskEnd, Talk, UserInquiry, UserReply,
    effects::{asking, begins, delegation, doing_of, has_failed, result_of, subtask_end},
    ids,
    ledger::LedgerPhase,
    prices::Prices,
    target::target_of,
};

/// An effect in progress.
#[derive(Debug)]
pub(super) struct OpenEffect {
    id: EffectId,
    phase: LedgerPhase,
    pub(super) doing: SessionActivity,
}

/// The story of a session up to the last line read.
#[derive(Debug, Default)]
pub struct Story {
    header: Option<Box<JournalHeader>>,
    prices: Prices,
    agents: Vec<AgentDefinition>,
    pub(super) picture: Option<PictureRef>,
    pub(super) limits: Option<Box<RoundLimits>>,
    summary: RunSummary,
    ids: IdsSeen,
    windows: BTreeMap<WindowId, WindowInfo>,
    round: u32,
    steps: u32,
    pub(super) step: Option<StepStory>,
    step_ref: Option<StepRef>,
    talk: Option<Talk>,
    pub(super) open: Option<OpenEffect>,
    /// The effect in progress.
    unanswered: Option<EffectId>,
    /// The agent and sub-task announced last.
    assigned: Option<StepRef>,
    /// The reported end of the sub-task, pending the machine's confirmation.
    said: Option<SubtaskEnd>,
    /// Set while the round performs a workflow.
    performs: bool,
    pub(super) complete: bool,
    first_ms: Option<u64>,
    last_ms: u64,
    away_ms: u64,
    seq: u64,
}

impl Story {
    /// The journal's header, once read.
    pub fn header(&self) -> Option<&JournalHeader> {
        self.header.as_deref()
    }

    /// The totals so far.
    pub const fn summary(&self) -> &RunSummary {
        &self.summary
    }

    /// Returns the totals.
    pub fn into_summary(self) -> RunSummary {
        self.summary
    }

    /// The ids in use.
    pub const fn ids(&self) -> IdsSeen {
        self.ids
    }

    /// The effect without an event.
    pub const fn unanswered(&self) -> Option<EffectId> {
        self.unanswered
    }

    /// The last observation of the current step.
    pub fn observation(&self) -> Option<&Observation> {
        self.step.as_ref()?.observation.as_ref()
    }

    /// The number of known windows.
    pub fn windows(&self) -> usize {
        self.windows.len()
    }

    /// The files that windows showed when they were last seen, in the order of their windows.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.windows.values().filter_map(|window| window.document.as_ref()?.path.as_deref())
    }

    /// The application name of an AppAgent, from its windows.
    pub fn application_of(&self, agent: &AgentRef) -> Option<&str> {
        let AgentRef::AppAgent { application, window } = agent else { return None };
        let own = window.and_then(|id| self.windows.get(&id));
        let any = || self.windows.values().find(|window| window.app.root == *application);
        own.or_else(any).map(|window| window.app.name.as_str())
    }

    /// Reads the next line; returns its updates.
    pub fn read(&mut self, line: &JournalEntry) -> Vec<StoryUpdate> {
        let first_ms = *self.first_ms.get_or_insert(line.at_ms);
        let since = line.at_ms.saturating_sub(if self.last_ms == 0 { first_ms } else { self.last_ms });
        self.last_ms = line.at_ms;
        self.seq = line.seq;
        let mut updates = Vec::new();
        match &line.record {
            JournalRecord::Header(header) => {
                self.prices = Prices::new(&header.config);
                self.agents.clone_from(&header.config.agents);
                self.limits = Some(Box::new(header.config.limits.clone()));
                self.header = Some(header.clone());
                updates.push(StoryUpdate::moment(Moment::Opened));
            }
            JournalRecord::Effect(record) => {
                let times = (line.at_ms, since, line.paused_ms.min(since));
                self.wanted(record, times, &mut updates);
            }
            JournalRecord::Event(record) => {
                if !matches!(record.event, SessionEvent::Suspended { .. } | SessionEvent::Told { .. }) {
                    self.unanswered = None;
                }
                self.returned_event(&record.event, line.at_ms, since, &mut updates);
            }
            JournalRecord::Changed(change) => {
                self.was_away(since);
                self.changed(change, &mut updates);
            }
        }
        self.summary.elapsed_ms = line.at_ms.saturating_sub(first_ms).saturating_sub(self.away_ms);
        self.summary.passed(line.at_ms);
        updates
    }

    /// The remaining chapters at the end of the journal, and its end.
    pub fn end(mut self) -> (Vec<Chapter>, JournalEnd) {
        let mut chapters: Vec<Chapter> =
            self.step.take().map(|step| Chapter::Step(Box::new(step))).into_iter().collect();
        chapters.extend(self.talk.take().map(Chapter::Talk));
        let doing = self.open.filter(|_| !self.complete).map(|open| open.doing);
        (chapters, JournalEnd { complete: self.complete, doing, seq: self.seq })
    }

    /// Time without a process is not counted.
    fn was_away(&mut self, ms: u64) {
        self.away_ms = self.away_ms.saturating_add(ms);
        self.summary.was_away(ms);
    }

    fn changed(&mut self, change: &SettingsChange, updates: &mut Vec<StoryUpdate>) {
        self.prices = Prices::new(&change.config);
        self.agents.clone_from(&change.config.agents);
        self.limits = Some(Box::new(change.config.limits.clone()));
        let note = SessionNote::Changed {
            model: change.model.clone(),
            desktop: change.desktop.clone(),
            program: change.program.clone(),
        };
        self.note(note, updates);
    }

    fn wanted(
        &mut self,
        record: &EffectRecord,
        (at_ms, since, paused_ms): (u64, u64, u64),
        updates: &mut Vec<StoryUpdate>,
    ) {
        // Between an event and the next effect, the time went to core and the journal, unless the session was paused.
        self.spend(LedgerPhase::Record, since.saturating_sub(paused_ms));
        self.spend_outside(paused_ms);
        // A resumed session repeats the effect in progress.
        let again = self.open.as_ref().is_some_and(|open| open.id == record.id);
        self.round = record.round;
        self.unanswered = Some(record.id);
        let (phase, doing) = doing_of(&record.effect);
        self.open = Some(OpenEffect { id: record.id, phase, doing });
        if again {
            return;
        }
        self.refuse(&record.refused, updates);
        match &record.step {
            Some(step) if self.step.as_ref().is_some_and(|open| open.number == step.number) => {}
            Some(step) => {
                self.flush(updates);
                self.steps = step.number;
                self.summary.stepped(step.number);
                self.step = Some(StepStory::begin(step, record.round, at_ms));
            }
            None => self.flush(updates),
        }
        self.step_ref.clone_from(&record.step);
        self.assign(record, updates);
        self.perform(&record.effect, updates);
    }

    /// Sub-tasks start and end with the steps that work on them.
    fn assign(&mut self, record: &EffectRecord, updates: &mut Vec<StoryUpdate>) {
        let ends = matches!(record.effect, Effect::Finish { .. });
        let same = |step: &StepRef| {
            self.assigned.as_ref().is_some_and(|known| {
                (&known.agent, known.subtask.as_str()) == (&step.agent, step.subtask.as_str())
            })
        };
        if !ends && record.step.as_ref().is_none_or(same) {
            return;
        }
        // The agents of a workflow say nothing: their work is done when other work begins.
        let done = || SubtaskEnd { finished: !has_failed(&record.effect), words: String::new() };
        let end = self.said.take().or_else(|| self.performs.then(done));
        if let Some(before) = self.assigned.take().filter(|step| !step.subtask.is_empty()) {
            updates.push(StoryUpdate::moment(Moment::SubtaskEnded { subtask: before.subtask, end }));
        }
        self.assigned = record.step.clone().filter(|_| !ends);
        if let Some(step) = record.step.clone().filter(|_| begins(record)) {
            updates.push(StoryUpdate::moment(Moment::Assigned(step)));
        }
    }

    fn flush(&mut self, updates: &mut Vec<StoryUpdate>) {
        updates.extend(self.step.take().map(|step| StoryUpdate::Chapter(Chapter::Step(Box::new(step)))));
    }

    fn perform(&mut self, effect: &Effect, updates: &mut Vec<StoryUpdate>) {
        match effect {
            Effect::AwaitRequest | Effect::Observe { .. } | Effect::Rank { .. } | Effect::Retrieve { .. } => {
            }
            Effect::Ask { request } => {
                if let Some(step) = &mut self.step {
                    step.asks.push(AskStory {
                        reply: request.reply,
                        messages: request.messages.clone(),
                        result: AskResult::Nothing,
                        decision: DecisionSummary::default(),
                        cost: None,
                    });
                }
            }
            Effect::Call { command } => self.act(command.clone()),
            Effect::Delegate { agent, subtask, message, request: _, context } => {
                self.act(delegation(*agent, subtask, message, context));
            }
            Effect::AskUser { questions } => self.ask(UserInquiry::Questions(questions.clone()), updates),
            Effect::AwaitApproval { approval } => self.ask(UserInquiry::Approval(approval.clone()), updates),
            Effect::Finish { outcome } => {
                self.summary.end(outcome);
                let (round, outcome) = (self.round, outcome.clone());
                updates.push(StoryUpdate::Chapter(Chapter::Ended { round, outcome }));
            }
        }
    }

    /// Adds commands that were never sent to the step that proposed them.
    fn refuse(&mut self, refused: &[RefusedCommand], updates: &mut Vec<StoryUpdate>) {
        for RefusedCommand { command, result } in refused {
            self.act(command.clone());
            self.result(result.clone());
            self.acted(updates);
        }
    }

    /// Reports the last command of the step with its result.
    fn acted(&self, updates: &mut Vec<StoryUpdate>) {
        let act = self.step.as_ref().and_then(|step| step.acts.last());
        let (Some(act), Some(step)) = (act, self.step_ref.clone()) else { return };
        let (command, target) = (act.command.clone(), act.target.clone());
        if let Some(result) = act.result.clone() {
            updates.push(StoryUpdate::moment(Moment::Acted { step, command, target, result }));
        }
    }

    fn act(&mut self, command: ToolCommand) {
        if let Some(step) = &mut self.step {
            let target = target_of(&command, step.observation.as_ref());
            step.acts.push(ActStory { record: self.seq, command, target, result: None });
        }
    }

    fn returned_event(
        &mut self,
        event: &SessionEvent,
        at_ms: u64,
        since: u64,
        updates: &mut Vec<StoryUpdate>,
    ) {
        if let SessionEvent::Resumed { desktop_kept } = event {
            self.was_away(since);
            self.complete = false;
            self.note(SessionNote::Resumed { desktop_kept: *desktop_kept }, updates);
            return;
        }
        if self.is_of_person(event, since, updates) {
            return;
        }
        self.wait(since);
        if self.is_suspended(event, updates) {
            return;
        }
        match event {
            SessionEvent::Requested { text, plan } => {
                self.performs = plan.as_ref().is_some_and(|plan| plan.workflow.is_some());
                self.summary.begin(text, at_ms);
                let plan = plan.as_ref().map(|plan| plan.steps.clone()).unwrap_or_default();
                // The round number comes with its first effect.
                let round = self.round.saturating_add(1);
                updates.push(StoryUpdate::Chapter(Chapter::Begun(RoundStart {
                    round,
                    request: text.clone(),
                    plan,
                })));
            }
            SessionEvent::Ended => self.complete = true,
            SessionEvent::Observed { observation } => self.observed(observation, updates),
            SessionEvent::Ranked { .. } => {}
            SessionEvent::Retrieved { hits, problems } => {
                self.step.iter_mut().for_each(|step| step.found.clone_from(hits));
                if !problems.is_empty() {
                    self.note(SessionNote::NotRetrieved(problems.clone()), updates);
                }
            }
            SessionEvent::ObserveFailed { failure } => {
                self.note(SessionNote::LookFailed(failure.clone()), updates);
            }
            SessionEvent::Replied { reply, .. } => self.replied(reply, updates),
            SessionEvent::ModelFailed { failure } => {
                self.summary.model_failed(&asking(self.step_ref.as_ref()), failure, &self.prices);
                if let Some(ask) = self.step.as_mut().and_then(|step| step.asks.last_mut()) {
                    ask.result = AskResult::Failure(failure.clone());
                }
                updates.push(StoryUpdate::moment(Moment::ModelFailed(failure.clone())));
            }
            SessionEvent::Returned { result } => self.returned(result, updates),
            SessionEvent::Delegated { report } => {
                self.result(result_of(report));
                let finished = report.status == SubtaskStatus::Finished;
                self.said = Some(SubtaskEnd { finished, words: report.result.clone() });
                updates.push(StoryUpdate::moment(Moment::Delegated(report.clone())));
            }
            SessionEvent::Answered { answers } => {
                self.user_replied(UserReply::Answers(answers.clone()), updates);
            }
            SessionEvent::Unanswered { why } => self.user_replied(UserReply::Nobody(*why), updates),
            SessionEvent::Approved { scope } => self.user_replied(UserReply::Approved(*scope), updates),
            SessionEvent::Rejected { instruction, .. } => {
                self.user_replied(UserReply::Rejected(instruction.clone()), updates);
            }
            SessionEvent::Stopped { reason } => {
                self.note(SessionNote::Stopped(*reason), updates);
                self.complete |= self.step.is_none() && self.talk.is_none();
            }
            SessionEvent::Acknowledged { picture: Some(picture) } => {
                updates.push(StoryUpdate::Chapter(Chapter::Left {
                    round: self.round,
                    picture: picture.clone(),
                }));
            }
            SessionEvent::Acknowledged { picture: None }
            | SessionEvent::Suspended { .. }
            | SessionEvent::Told { .. }
            | SessionEvent::TakenOver { .. }
            | SessionEvent::HandedBack { .. }
            | SessionEvent::Disclosed { .. }
            | SessionEvent::Resumed { .. } => {}
        }
        self.open = None;
    }

    /// Records the time between an effect and its event.
    fn wait(&mut self, ms: u64) {
        let phase = self.open.as_ref().map_or(LedgerPhase::Outside, |open| open.phase);
        self.spend(phase, ms);
        if phase == LedgerPhase::Outside {
            self.spend_outside(ms);
        }
        if let Some(talk) = &mut self.talk {
            talk.waited_ms = talk.waited_ms.saturating_add(ms);
        }
    }

    fn spend_outside(&mut self, ms: u64) {
        if let Some(step) = &mut self.step {
            step.waited_ms = step.waited_ms.saturating_add(ms);
        }
    }

    fn spend(&mut self, phase: LedgerPhase, ms: u64) {
        if let Some(step) = &mut self.step {
            step.times.spend(phase, ms);
            self.summary.spend(step.number, phase, ms);
        }
    }

    fn note(&mut self, note: SessionNote, updates: &mut Vec<StoryUpdate>) {
        updates.push(StoryUpdate::moment(Moment::Noted(note.clone())));
        match &mut self.step {
            Some(step) => step.notes.push(note),
            None => updates.push(StoryUpdate::Chapter(Chapter::Note(note))),
        }
    }

    fn observed(&mut self, observation: &Observation, updates: &mut Vec<StoryUpdate>) {
        ids::observed(&mut self.ids, observation);
        match observation {
            Observation::Desktop(view) => {
                self.windows = view.windows.iter().map(|window| (window.id, window.clone())).collect();
            }
            Observation::Window(view) => {
                let windows = view.surfaces.iter().map(|surface| &surface.window);
                self.windows.extend(windows.map(|window| (window.id, window.clone())));
            }
            Observation::Agent(_) => {}
        }
        if let Some(step) = &mut self.step {
            step.observation = Some(observation.clone());
        }
        self.picture = observation.picture().or(self.picture.as_ref()).cloned();
        updates.push(StoryUpdate::moment(Moment::Looked));
    }

    fn replied(&mut self, reply: &ModelReply, updates: &mut Vec<StoryUpdate>) {
        self.summary.replied(&asking(self.step_ref.as_ref()), reply, &self.prices);
        let Some(step) = &mut self.step else { return };
        let Some(ask) = step.asks.last_mut() else { return };
        let said = AgentReply::read(ask.reply, &step.agent, &self.agents, &reply.text);
        ask.decision = DecisionSummary::of(&said, &reply.text);
        step.decision = Some(ask.decision.clone());
        ask.cost = self.prices.of(reply.by.as_deref()).and_then(|price| price.of(reply.usage));
        ask.result = AskResult::Reply(reply.clone());
        self.said = subtask_end(&said).or_else(|| self.said.take().filter(|_| said.is_err()));
        if let Some(step) = self.step_ref.clone() {
            updates.push(StoryUpdate::moment(Moment::Replied { step, reply: reply.clone(), said }));
        }
    }

    fn returned(&mut self, result: &CallResult, updates: &mut Vec<StoryUpdate>) {
        self.summary.called();
        // A failed action vetoes FINISH.
        if !result.is_success() {
            self.said.take_if(|said| said.finished);
        }
        ids::returned(&mut self.ids, result);
        self.windows.extend(result.window.iter().map(|window| (window.id, window.clone())));
        self.proven(&result.report);
        self.result(result.clone());
        self.acted(updates);
    }

    /// Notes which document a window shows once it was saved, and which windows were closed.
    fn proven(&mut self, report: &CallReport) {
        let mut window = None;
        if let Some(AgentRef::AppAgent { window: own, .. }) = self.step_ref.as_ref().map(|step| &step.agent) {
            window = *own;
        }
        for action in report.actions() {
            match &action.evidence {
                Evidence::Seen { proof: ActionProof::Saved { path, .. } } => {
                    if let Some(window) = window.and_then(|id| self.windows.get_mut(&id)) {
                        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
                        window.document =
                            Some(DocumentInfo { name, path: Some(path.clone()), modified: Some(false) });
                    }
                }
                Evidence::Seen { proof: ActionProof::WindowClosed { window } } => {
                    self.windows.remove(&window.id);
                }
                Evidence::Seen { .. }
                | Evidence::NotSeen { .. }
                | Evidence::Unknown { .. }
                | Evidence::Refused { .. } => {}
            }
        }
    }

    fn result(&mut self, result: CallResult) {
        if let Some(act) = self.step.as_mut().and_then(|step| step.acts.last_mut()) {
            act.result = Some(result);
        }
    }
}

//! The moments of a whole session.

use deskhand_machine::{
    agent::AgentRef,
    observation::Observation,
    record::{JournalEntry, JournalRecord},
    session::{Effect, EffectRecord, StepRef},
};
use deskhand_ui::{
    PictureRef,
    text::{clip, one_line},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::line::{MomentKind, MomentLine};
use crate::{
    journal::{JournalError, JournalItem, JournalLines, JournalTail, SessionFolder},
    passwords::{hidden, veil_of},
    report::{NoteLine, TalkLine},
    story::{Chapter, DecisionSummary, Moment, RoundStart, Story, StoryUpdate, Talk, UserInquiry},
    words::{command_words, effect_word},
};

/// The most moments of a session; the first ones.
pub const MOMENTS_MAX: usize = 100_000;
/// The most characters of the words of a moment.
const WORDS_CHARS_MAX: usize = 160;

/// The moments of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionMoments {
    /// Its id.
    pub session: String,
    /// The number of complete records.
    pub records: u64,
    /// Set if the session ended.
    pub ended: bool,
    /// Its moments, in order.
    pub moments: Vec<MomentLine>,
    /// The number of moments after those.
    pub left_out: usize,
}

/// Reads the moments of a session, also of one that is in progress; passwords are replaced by dots. Blocking.
///
/// # Errors
/// [`JournalError`] if the journal or the prompts of passwords cannot be read.
pub fn moments(folder: &SessionFolder) -> Result<SessionMoments, JournalError> {
    let veil = veil_of(folder)?;
    let mut lines = JournalLines::open(folder)?;
    let mut timeline = Timeline::default();
    while let Some(read) = lines.next()? {
        if let JournalItem::Line(line) = read {
            timeline.read(&if veil.is_empty() { *line } else { hidden(*line, &veil) });
        }
    }
    Ok(timeline.moments_of(folder))
}

/// The moments of a session that may be in progress: each look reads what is new.
pub struct FollowedMoments {
    folder: SessionFolder,
    tail: JournalTail,
    timeline: Timeline,
}

impl FollowedMoments {
    /// Follows a session from its first record on.
    pub fn of(folder: &SessionFolder) -> Self {
        Self { folder: folder.clone(), tail: JournalTail::of(folder), timeline: Timeline::default() }
    }

    /// The moments so far, as [`moments`] has them. Blocking.
    ///
    /// # Errors
    /// As [`moments`].
    pub fn now(&mut self) -> Result<SessionMoments, JournalError> {
        if !veil_of(&self.folder)?.is_empty() {
            // What was read before a password was known may have it in clear.
            return moments(&self.folder);
        }
        let Self { folder, tail, timeline } = self;
        tail.read_new(&mut |line| timeline.read(line))?;
        Ok(timeline.moments_of(folder))
    }
}

#[derive(Default)]
struct Timeline {
    story: Story,
    moments: Vec<MomentLine>,
    left_out: usize,
    record: u64,
    at_ms: u64,
    round: u32,
    step: Option<StepRef>,
    seen: Option<u64>,
    shown: Option<String>,
}

impl Timeline {
    fn moments_of(&self, folder: &SessionFolder) -> SessionMoments {
        SessionMoments {
            session: folder.name(),
            records: self.record,
            ended: self.story.is_complete(),
            moments: self.moments.clone(),
            left_out: self.left_out,
        }
    }

    fn read(&mut self, line: &JournalEntry) {
        self.record = line.seq;
        self.at_ms = line.at_ms;
        if let JournalRecord::Effect(record) = &line.record {
            self.round = record.round;
            self.step.clone_from(&record.step);
        }
        let updates = self.story.read(line);
        let mut refused =
            if let JournalRecord::Effect(record) = &line.record { record.refused.len() } else { 0 };
        for update in updates {
            match update {
                // Commands that were refused are reported by the effect after them, results by their own event.
                StoryUpdate::Moment(moment) => self.moment(&moment, &mut refused),
                StoryUpdate::Chapter(chapter) => self.chapter(&chapter),
            }
        }
        if let JournalRecord::Effect(record) = &line.record {
            self.wanted(record);
        }
    }

    fn wanted(&mut self, record: &EffectRecord) {
        match &record.effect {
            Effect::Ask { request } => {
                let parts: usize = request.messages.iter().map(|message| message.parts.len()).sum();
                let words = format!("asks a model, in {parts} parts");
                self.add(MomentKind::Prompt, &words);
            }
            Effect::Call { .. } | Effect::Delegate { .. } => {
                // A resumed session repeats the effect in progress.
                let Some(act) = self.story.step().and_then(|step| step.acts.last()) else { return };
                if act.record != self.record {
                    return;
                }
                let target = act.target.as_ref().map(|target| target.label.as_str());
                let words = command_words(&act.command, target);
                self.add(MomentKind::Call, &words);
            }
            Effect::AwaitRequest
            | Effect::Observe { .. }
            | Effect::Rank { .. }
            | Effect::Retrieve { .. }
            | Effect::AskUser { .. }
            | Effect::AwaitApproval { .. }
            | Effect::Finish { .. } => {}
        }
    }

    fn chapter(&mut self, chapter: &Chapter) {
        match chapter {
            Chapter::Begun(RoundStart { round, request, .. }) => {
                (self.round, self.step) = (*round, None);
                self.add(MomentKind::Request, request);
            }
            Chapter::Ended { outcome, .. } => {
                let words = format!("{}: {}", outcome.kind, outcome.reason);
                self.add(MomentKind::Outcome, &words);
            }
            Chapter::Left { picture, .. } => {
                self.show(picture);
                self.add(MomentKind::Observation, "the screen at the end");
                self.picture(picture);
            }
            Chapter::Step(_) | Chapter::Talk(_) | Chapter::Note(_) => {}
        }
    }

    fn moment(&mut self, moment: &Moment, refused: &mut usize) {
        match moment {
            Moment::Assigned(step) if !step.subtask.is_empty() => {
                self.add(MomentKind::Subtask, &step.subtask);
            }
            Moment::Looked => self.looked(),
            Moment::Replied { said: Err(error), .. } => {
                let words = format!("the reply cannot be used: {error}");
                self.answered(MomentKind::Reply, &words);
            }
            Moment::Replied { .. } => {
                let said = self.story.step().and_then(|step| step.decision.as_ref());
                let words = said.map(decision_words).unwrap_or_default();
                self.answered(MomentKind::Reply, &words);
            }
            Moment::ModelFailed(failure) => self.answered(MomentKind::Reply, &failure.to_string()),
            Moment::Acted { step, command, target, result } => {
                if *refused > 0 {
                    *refused -= 1;
                    // It belongs to the step that proposed it.
                    let next = self.step.replace(step.clone());
                    let words = command_words(command, target.as_ref().map(|target| target.label.as_str()));
                    self.add(MomentKind::Call, &words);
                    self.step = next;
                }
                self.returned(effect_word(result), result.elapsed_ms);
                if let Some(picture) = &result.picture {
                    self.returned_picture(picture);
                }
            }
            Moment::Delegated(report) => {
                let verdict = report.status.to_string();
                self.returned(&verdict, 0);
            }
            Moment::Asked(asked) => {
                let talk = Talk { step: 0, asked: asked.clone(), reply: None, waited_ms: 0 };
                let kind = match asked {
                    UserInquiry::Questions(_) => MomentKind::Question,
                    UserInquiry::Approval(_) => MomentKind::Approval,
                };
                self.add(kind, &TalkLine::of(&talk).asked.join(" · "));
            }
            Moment::UserReply(reply) => {
                let words = crate::report::reply_words(reply).join(" · ");
                self.answered(MomentKind::Answer, &words);
            }
            Moment::Noted(note) => {
                let words = NoteLine::of(note).text;
                self.add(MomentKind::Note, &words);
            }
            Moment::Opened | Moment::Assigned(_) | Moment::SubtaskEnded { .. } => {}
        }
    }

    fn looked(&mut self) {
        let Some(observation) = self.story.observation() else { return };
        let words = match observation {
            Observation::Desktop(view) => format!("the desktop with {} windows", view.windows.len()),
            Observation::Window(view) => {
                let title = view.surfaces.first().map(|surface| surface.window.title.clone());
                format!("{}, {} elements", title.unwrap_or_default(), view.elements().count())
            }
            Observation::Agent(view) => one_line(&view.text),
        };
        let picture = observation.picture().cloned();
        self.seen = Some(self.record);
        if let Some(picture) = &picture {
            self.show(picture);
        }
        self.add(MomentKind::Observation, &words);
        if let Some(picture) = &picture {
            self.picture(picture);
        }
    }

    fn show(&mut self, picture: &PictureRef) {
        self.shown = Some(file_of(picture));
    }

    /// Notes the picture that was taken at the last moment.
    fn picture(&mut self, picture: &PictureRef) {
        if let Some(last) = self.moments.last_mut().filter(|last| last.record == self.record) {
            last.picture = Some(file_of(picture));
        }
    }

    /// Adds what answers an earlier moment.
    fn answered(&mut self, kind: MomentKind, words: &str) {
        let asked = |line: &&mut MomentLine| line.answer.is_none() && answers(kind, line.kind);
        let (record, at_ms) = (self.record, self.at_ms);
        if let Some(asked) = self.moments.last_mut().filter(asked) {
            asked.answer = Some(record);
            asked.elapsed_ms = at_ms.saturating_sub(asked.at_ms);
        }
        self.add(kind, words);
    }

    /// Notes the result of the last call.
    fn returned(&mut self, verdict: &str, elapsed_ms: u64) {
        let (record, at_ms) = (self.record, self.at_ms);
        let call = self.moments.iter_mut().rfind(|line| line.kind == MomentKind::Call);
        if let Some(call) = call.filter(|call| call.answer.is_none()) {
            call.verdict = Some(verdict.to_owned());
            call.answer = Some(record);
            call.elapsed_ms = if elapsed_ms == 0 { at_ms.saturating_sub(call.at_ms) } else { elapsed_ms };
        }
    }

    /// Notes the picture that the last call returned.
    fn returned_picture(&mut self, picture: &PictureRef) {
        if let Some(call) = self.moments.iter_mut().rfind(|line| line.kind == MomentKind::Call) {
            call.picture = Some(file_of(picture));
        }
    }

    fn add(&mut self, kind: MomentKind, words: &str) {
        if self.moments.len() >= MOMENTS_MAX {
            self.left_out += 1;
            return;
        }
        let step = self.step.as_ref();
        self.moments.push(MomentLine {
            record: self.record,
            at_ms: self.at_ms,
            round: self.round,
            step: step.map_or(0, |step| step.number),
            agent: step.map(|step| &step.agent).map(AgentRef::to_string).unwrap_or_default(),
            kind,
            words: clip(&one_line(words), WORDS_CHARS_MAX),
            verdict: None,
            answer: None,
            elapsed_ms: 0,
            picture: None,
            seen: self.seen,
            shown: self.shown.clone(),
        });
    }
}

/// The name of the file of a picture.
pub(super) fn file_of(picture: &PictureRef) -> String {
    format!("{}.{}", picture.sha256, picture.extension())
}

/// Returns `true` if moments of one kind answer those of another.
const fn answers(answer: MomentKind, asked: MomentKind) -> bool {
    matches!(
        (answer, asked),
        (MomentKind::Reply, MomentKind::Prompt)
            | (MomentKind::Answer, MomentKind::Question | MomentKind::Approval)
    )
}

/// Summarizes the decision of an agent.
fn decision_words(said: &DecisionSummary) -> String {
    let texts = [&said.subtask, &said.result, &said.comment, &said.thought];
    match texts.into_iter().find(|text| !text.is_empty()) {
        Some(text) => format!("{}: {text}", said.status),
        None => said.status.clone(),
    }
}

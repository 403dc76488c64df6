//! One step on the page.

use std::collections::HashMap;

use deskhand_machine::{
    agent::AgentRef,
    command::CallStatus,
    model::{MessagePart, ModelMessage, ReplyKind, Speaker},
    observation::Observation,
    prompt::{ViewListOptions, view_text, window_line},
    retrieval::Hit,
};
use deskhand_ui::{PictureRef, text::clip};
use serde::Serialize;

use super::{
    figure::{StepFigure, figure_of},
    html_parts::TalkPage,
    overview::{ReportOverview, step_tone, title_of, tone_of, total, word_of},
    pictures::{Album, PagePicture},
    times::{BarSegment, parts, phase_words},
    words::{NoteLine, ReportTone, status_tone},
};
use crate::{
    story::{ActStory, AskResult, AskStory, DecisionSummary, StepStory},
    words::{agent_words, count, duration, local_time, number, result_words, whole_command_words},
};

/// The most bytes of prompts per page; longer sessions show them only for problems.
const TEXT_BYTES_MAX: u64 = 24 * 1024 * 1024;
/// The most characters of a call's output.
const OUTPUT_CHARS_MAX: usize = 20_000;

#[derive(Serialize)]
struct ActPage {
    number: usize,
    marked: bool,
    tone: ReportTone,
    word: &'static str,
    what: String,
    came: String,
    picture: Option<WholePicture>,
    call: String,
    output: String,
    route: String,
    time: String,
}

#[derive(Serialize)]
struct MessagePage {
    speaker: String,
    /// The step that shows the same text; 0 for none.
    same_as: u32,
    text: String,
}

#[derive(Serialize)]
struct AskPage {
    heading: String,
    meta: String,
    messages: Vec<MessagePage>,
    left_out: &'static str,
    end: &'static str,
    reply: String,
}

/// A hit of a retriever.
#[derive(Serialize)]
struct HitPage {
    head: String,
    text: String,
}

impl HitPage {
    fn of(hit: &Hit) -> Self {
        let Hit { retriever, trust, score, title, origin, text, .. } = hit;
        Self {
            head: format!("{retriever}: {title} — {origin} ({trust}, fits {score} of 1000)"),
            text: text.clone(),
        }
    }
}

/// One step.
#[derive(Serialize)]
pub(super) struct StepPage {
    number: u32,
    tone: ReportTone,
    host: bool,
    agent: String,
    title: String,
    status: String,
    status_tone: ReportTone,
    time: String,
    phase_words: String,
    parts: Vec<BarSegment>,
    subtask: String,
    notes: Vec<NoteLine>,
    found: Vec<HitPage>,
    said: Option<DecisionSummary>,
    talks: Vec<TalkPage>,
    acts: Vec<ActPage>,
    figure: Option<StepFigure>,
    asks: Vec<AskPage>,
    listing: String,
    listing_meta: String,
}

/// Renders steps, and remembers what the page already contains.
pub(super) struct StepWriter {
    album: Album,
    /// Instructions by kind of reply, with the step that shows them.
    instructions: HashMap<ReplyKind, (String, u32)>,
    brief: bool,
}

/// A picture that is shown as it was taken: of the end of a round, or that a call returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct WholePicture {
    width: u32,
    height: u32,
    /// Its data; empty if it is shown above.
    data: String,
    /// The id of its data on the page; empty if it is not there.
    id: String,
    /// Why it is not there.
    why: &'static str,
}

impl StepWriter {
    /// A picture as it was taken.
    pub(super) fn whole(&mut self, picture: &PictureRef) -> WholePicture {
        let (width, height) = (picture.width, picture.height);
        let (data, id, why) = match self.album.show(picture) {
            PagePicture::Whole { id, data } => (data, id, ""),
            PagePicture::Again { id } => (String::new(), id, ""),
            PagePicture::LeftOut { why } => (String::new(), String::new(), why),
        };
        WholePicture { width, height, data, id, why }
    }

    pub(super) fn new(overview: &ReportOverview, album: Album) -> Self {
        Self { album, instructions: HashMap::new(), brief: overview.text_bytes > TEXT_BYTES_MAX }
    }

    /// One that leaves prompts out where nothing went wrong.
    pub(super) fn brief(album: Album) -> Self {
        Self { album, instructions: HashMap::new(), brief: true }
    }

    /// A note on omitted content; empty if nothing is omitted.
    pub(super) fn note(&self) -> String {
        if self.brief {
            "Prompts are shown only for steps with problems, to keep this page small; `deskhand report --format jsonl` \
            contains all of them."
                .to_owned()
        } else {
            String::new()
        }
    }

    /// Renders the next step.
    pub(super) fn page(&mut self, step: &StepStory) -> StepPage {
        let tone = step_tone(step);
        let whole = !self.brief || tone >= ReportTone::Doubtful;
        let seen = step.observation.as_ref();
        let figure = seen.and_then(|seen| figure_of(seen, &step.acts, step.number, &mut self.album));
        let marked = figure.as_ref().map(StepFigure::marked).unwrap_or_default();
        let listing = match &step.observation {
            Some(seen) if whole => listing(seen),
            Some(_) | None => String::new(),
        };
        let status = step.decision.as_ref().map(|said| said.status.clone()).unwrap_or_default();
        StepPage {
            number: step.number,
            tone,
            host: step.agent == AgentRef::HostAgent,
            agent: agent_words(&step.agent),
            title: clip(&title_of(step), 200),
            status_tone: status_tone(step.decision.as_ref().and_then(|said| said.meaning)),
            status,
            time: format!(
                "{} · {}",
                clock_words(step.began_ms),
                duration(total(&step.times) + step.waited_ms)
            ),
            phase_words: phase_words(&step.times, step.waited_ms),
            parts: parts(&step.times, step.waited_ms),
            subtask: step.subtask.clone(),
            notes: step.notes.iter().map(NoteLine::of).collect(),
            found: step.found.iter().map(HitPage::of).collect(),
            said: step.decision.clone(),
            talks: step.talks.iter().map(TalkPage::of).collect(),
            acts: step
                .acts
                .iter()
                .enumerate()
                .map(|(index, act)| self.act(index + 1, act, marked.contains(&(index + 1))))
                .collect(),
            figure,
            asks: self.asks(step, whole),
            listing_meta: if listing.is_empty() {
                String::new()
            } else {
                count(listing.lines().count() as u64, "line")
            },
            listing,
        }
    }

    fn act(&mut self, index: usize, act: &ActStory, marked: bool) -> ActPage {
        let picture = act.result.as_ref().and_then(|result| result.picture.as_ref());
        ActPage { picture: picture.map(|picture| self.whole(picture)), ..act_page(index, act, marked) }
    }

    fn asks(&mut self, step: &StepStory, whole: bool) -> Vec<AskPage> {
        let mut pages = Vec::new();
        let mut shown = 0;
        for (index, ask) in step.asks.iter().enumerate() {
            // A repeated request contains all messages of the previous one.
            let messages = ask.messages.get(shown..).unwrap_or_default();
            shown = ask.messages.len();
            let (messages, left_out) = if whole {
                (messages.iter().map(|message| self.message(message, step, ask)).collect(), "")
            } else {
                (Vec::new(), "The prompt is omitted to keep this page small.")
            };
            let heading = if index == 0 { "Prompt and reply" } else { "Repeated request" };
            let (end, reply) = match &ask.result {
                AskResult::Reply(reply) => ("reply", reply.text.clone()),
                AskResult::Failure(failure) => ("no reply", failure.to_string()),
                AskResult::Nothing => ("no reply", "the session ended or was stopped first".to_owned()),
            };
            pages.push(AskPage {
                heading: heading.to_owned(),
                meta: ask_meta(ask),
                messages,
                left_out,
                end,
                reply,
            });
        }
        pages
    }

    fn message(&mut self, message: &ModelMessage, step: &StepStory, ask: &AskStory) -> MessagePage {
        let parts = message.parts.iter().map(|part| match part {
            MessagePart::Text { text } => text.clone(),
            MessagePart::Picture { picture } => {
                format!("[picture, {} × {} pixels]", picture.width, picture.height)
            }
        });
        let mut text = parts.collect::<Vec<_>>().join("\n");
        let mut same_as = 0;
        if message.speaker == Speaker::System {
            match self.instructions.get(&ask.reply) {
                Some((known, number)) if *known == text && *number != step.number => {
                    same_as = *number;
                    text.clear();
                }
                Some(_) | None => {
                    self.instructions.insert(ask.reply, (text.clone(), step.number));
                }
            }
        }
        let speaker = match message.speaker {
            Speaker::System => "instructions",
            Speaker::User => "question",
            Speaker::Assistant => "earlier reply",
        };
        MessagePage { speaker: speaker.to_owned(), same_as, text }
    }
}

fn ask_meta(ask: &AskStory) -> String {
    let tokens = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), number);
    match &ask.result {
        AskResult::Reply(reply) => {
            let cost = ask.cost.map_or_else(|| "cost unknown".to_owned(), |cost| cost.to_string());
            let again =
                if reply.attempts > 1 { format!(" · {} requests", reply.attempts) } else { String::new() };
            format!(
                "{} · {} tokens read, {} written · {} · {cost}{again}",
                reply.model,
                tokens(reply.usage.prompt_tokens),
                tokens(reply.usage.completion_tokens),
                duration(reply.elapsed_ms),
            )
        }
        AskResult::Failure(failure) => {
            format!("{} · {}", count(u64::from(failure.attempts), "request"), duration(failure.elapsed_ms))
        }
        AskResult::Nothing => String::new(),
    }
}

fn act_page(index: usize, act: &ActStory, marked: bool) -> ActPage {
    let what = whole_command_words(&act.command, act.target.as_ref().map(|target| target.label.as_str()));
    let route = act.result.as_ref().and_then(|result| result.route).map(|route| match route {
        deskhand_ui::action::ActionRoute::Semantic => "semantic",
        deskhand_ui::action::ActionRoute::Input => "input",
    });
    let (came, output, time) = match &act.result {
        Some(result) => {
            let output = if result.output.is_null() {
                String::new()
            } else {
                let text = serde_json::to_string_pretty(&result.output).unwrap_or_default();
                clip(&text, OUTPUT_CHARS_MAX)
            };
            let time = if result.status == CallStatus::Skipped {
                String::new()
            } else {
                duration(result.elapsed_ms)
            };
            (result_words(result), output, time)
        }
        None => (
            "no result: the session was stopped or its process ended meanwhile; it may be half done"
                .to_owned(),
            String::new(),
            String::new(),
        ),
    };
    let arguments = serde_json::to_string_pretty(&act.command.arguments).unwrap_or_default();
    ActPage {
        number: index,
        marked,
        tone: tone_of(act),
        word: word_of(act),
        what: clip(&what, 400),
        came,
        picture: None,
        call: format!("{} {}", act.command.tool, clip(&arguments, OUTPUT_CHARS_MAX)),
        output,
        route: route.unwrap_or_default().to_owned(),
        time,
    }
}

/// Renders the observation that an agent received, as lines.
pub(super) fn listing(seen: &Observation) -> String {
    match seen {
        Observation::Desktop(view) => {
            view.windows.iter().rev().map(window_line).collect::<Vec<_>>().join("\n")
        }
        Observation::Window(view) => view_text(view, &ViewListOptions::default()),
        Observation::Agent(view) => view.text.clone(),
    }
}

/// The time of day.
fn clock_words(ms: u64) -> String {
    let words = local_time(ms);
    words.split(' ').nth(1).unwrap_or_default().to_owned()
}

//! A single self-contained page: no external files or requests, and complete without JavaScript.

use deskhand_core::outcome::{Outcome, OutcomeKind};
use serde::Serialize;

use super::{
    ReportError,
    html_head::head,
    html_step::{StepPage, StepWriter},
    overview::{Overview, RoundLine},
    pictures::Album,
    render::{JS, Templates},
    words::{NoteLine, TalkLine, Tone, end_words},
    write::Sink,
};
use crate::{
    journal::SessionFolder,
    story::{Chapter, PhaseTimes, Talk, tell},
    words::{count, duration},
};

/// A segment of a bar.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Part {
    class: &'static str,
    name: &'static str,
    time: String,
    /// Percentage of the whole.
    share: String,
    weight: u64,
}

/// The non-empty phases of a duration.
pub(super) fn parts(times: &PhaseTimes, waited_ms: u64) -> Vec<Part> {
    let phases = [
        ("observe", "observing", times.observe),
        ("ask", "the model", times.ask),
        ("act", "acting", times.act),
        ("record", "everything else", times.record),
        ("people", "waiting for the user", waited_ms),
    ];
    let whole = phases.iter().map(|(.., ms)| *ms).sum::<u64>().max(1);
    let part = |(class, name, ms): (&'static str, &'static str, u64)| Part {
        class,
        name,
        time: duration(ms),
        share: format!("{}.{:02}", ms * 100 / whole, ms * 10_000 / whole % 100),
        weight: ms,
    };
    phases.into_iter().filter(|(.., ms)| *ms > 0).map(part).collect()
}

/// The phases of a duration as text.
pub(super) fn phase_words(times: &PhaseTimes, waited_ms: u64) -> String {
    let words: Vec<String> =
        parts(times, waited_ms).iter().map(|part| format!("{} {}", part.name, part.time)).collect();
    words.join(" · ")
}

#[derive(Serialize)]
pub(super) struct OutcomePage {
    word: String,
    tone: Tone,
    reason: String,
}

#[derive(Serialize)]
pub(super) struct RoundPage {
    number: u32,
    request: String,
    word: String,
    tone: Tone,
    reason: String,
    plan: Vec<String>,
}

/// A question or approval on the page.
#[derive(Serialize)]
pub(super) struct TalkPage {
    kind: &'static str,
    asked: Vec<String>,
    reason: String,
    tone: Tone,
    answers: Vec<String>,
    waited: String,
}

impl TalkPage {
    pub(super) fn of(talk: &Talk) -> Self {
        let TalkLine { kind, step: _, asked, reason, tone, answers, waited_ms } = TalkLine::of(talk);
        Self { kind, asked, reason, tone, answers, waited: duration(waited_ms) }
    }
}

#[derive(Serialize, Default)]
struct Aside {
    outcome: Option<OutcomePage>,
    talk: Option<TalkPage>,
    note: Option<NoteLine>,
}

#[derive(Serialize)]
struct Foot {
    end: String,
    line: String,
    js: &'static str,
}

/// Writes the page.
pub(super) fn write_html(folder: &SessionFolder, out: &mut Sink<'_>) -> Result<(), ReportError> {
    let overview = Overview::of(folder)?;
    let templates = Templates::new()?;
    let album = Album::of(folder, &overview.pictures);
    let picture_note = album.note();
    let mut steps = StepWriter::new(&overview, album);
    let head = head(&overview, [picture_note, steps.note()]);
    out.write(&templates.render("head", &head)?)?;
    drop(head);

    let several = overview.rounds.len() > 1;
    tell(folder, |chapter| write_chapter(&chapter, &templates, &overview, several, &mut steps, out))?;
    let foot = Foot {
        end: end_words(&overview.end),
        line: format!(
            "Generated from the session's journal ({}) by {}.",
            count(overview.end.seq, "record"),
            overview.header.program
        ),
        js: JS,
    };
    out.write(&templates.render("foot", &foot)?)
}

fn write_chapter(
    chapter: &Chapter,
    templates: &Templates,
    overview: &Overview,
    several: bool,
    steps: &mut StepWriter<'_>,
    out: &mut Sink<'_>,
) -> Result<(), ReportError> {
    let html = match chapter {
        Chapter::Begun(begun) if several || !begun.plan.is_empty() => {
            let line = overview.rounds.iter().find(|line| line.number == begun.round);
            match line {
                Some(line) => templates.render("round", &round_page(line))?,
                None => String::new(),
            }
        }
        Chapter::Begun(_) => String::new(),
        Chapter::Step(step) => {
            let page: StepPage = steps.page(step);
            templates.render("step", &page)?
        }
        Chapter::Talk(talk) => {
            templates.render("aside", &Aside { talk: Some(TalkPage::of(talk)), ..Aside::default() })?
        }
        Chapter::Note(note) => {
            templates.render("aside", &Aside { note: Some(NoteLine::of(note)), ..Aside::default() })?
        }
        Chapter::Ended { outcome, .. } => templates
            .render("aside", &Aside { outcome: Some(outcome_page(Some(outcome))), ..Aside::default() })?,
    };
    out.write(&html)
}

pub(super) fn outcome_page(outcome: Option<&Outcome>) -> OutcomePage {
    match outcome {
        Some(outcome) => OutcomePage {
            word: outcome.kind.word().replace('_', " "),
            tone: if outcome.kind == OutcomeKind::Finished { Tone::Good } else { Tone::Bad },
            reason: outcome.reason.clone(),
        },
        None => OutcomePage {
            word: "unfinished".to_owned(),
            tone: Tone::Doubtful,
            reason: "The session has not ended: it is still running, or its process was killed.".to_owned(),
        },
    }
}

pub(super) fn round_page(line: &RoundLine) -> RoundPage {
    let outcome = outcome_page(line.ended.as_ref());
    RoundPage {
        number: line.number,
        request: line.request.clone(),
        word: outcome.word,
        tone: outcome.tone,
        reason: outcome.reason,
        plan: line.plan.clone(),
    }
}

/// Formats a time.
pub(super) fn time_words(ms: u64) -> String {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok())
        .map_or_else(String::new, |when| when.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

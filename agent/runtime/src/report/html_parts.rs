//! Content that several places of the page show.

use deskhand_machine::outcome::{Outcome, OutcomeKind};
use serde::Serialize;

use super::{
    overview::RoundLine,
    words::{ReportTone, TalkLine},
};
use crate::{story::Talk, words::duration};

#[derive(Serialize)]
pub(super) struct OutcomePage {
    word: String,
    tone: ReportTone,
    reason: String,
}

#[derive(Serialize)]
pub(super) struct RoundPage {
    number: u32,
    request: String,
    word: String,
    tone: ReportTone,
    reason: String,
    plan: Vec<String>,
}

/// A question or approval on the page.
#[derive(Serialize)]
pub(super) struct TalkPage {
    kind: &'static str,
    asked: Vec<String>,
    reason: String,
    tone: ReportTone,
    answers: Vec<String>,
    waited: String,
}

impl TalkPage {
    pub(super) fn of(talk: &Talk) -> Self {
        let TalkLine { kind, step: _, asked, reason, tone, answers, waited_ms } = TalkLine::of(talk);
        Self { kind, asked, reason, tone, answers, waited: duration(waited_ms) }
    }
}

pub(super) fn outcome_page(outcome: Option<&Outcome>) -> OutcomePage {
    match outcome {
        Some(outcome) => OutcomePage {
            word: outcome.kind.word().replace('_', " "),
            tone: if outcome.kind == OutcomeKind::Finished { ReportTone::Good } else { ReportTone::Bad },
            reason: outcome.reason.clone(),
        },
        None => OutcomePage {
            word: "unfinished".to_owned(),
            tone: ReportTone::Doubtful,
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

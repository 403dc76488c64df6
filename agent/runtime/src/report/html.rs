//! A single self-contained page: no external files or requests, and complete without JavaScript.

use serde::Serialize;

use super::{
    ReportError,
    html_head::head,
    html_parts::{OutcomePage, TalkPage, outcome_page, round_page},
    html_step::{StepPage, StepWriter, WholePicture},
    overview::{ReportOverview, RoundLine},
    pictures::Album,
    render::{JS, Templates},
    sink::ReportSink,
    words::{NoteLine, end_words},
};
use crate::{
    journal::SessionFolder,
    story::{Chapter, tell},
    words::count,
};

#[derive(Serialize, Default)]
struct Aside {
    outcome: Option<OutcomePage>,
    talk: Option<TalkPage>,
    note: Option<NoteLine>,
    end: Option<WholePicture>,
}

#[derive(Serialize)]
struct Foot {
    end: String,
    line: String,
    js: &'static str,
}

/// Writes the page.
pub(super) fn write_html(folder: &SessionFolder, out: &mut ReportSink<'_>) -> Result<(), ReportError> {
    let overview = ReportOverview::of(folder)?;
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
    overview: &ReportOverview,
    several: bool,
    steps: &mut StepWriter,
    out: &mut ReportSink<'_>,
) -> Result<(), ReportError> {
    let round = match chapter {
        Chapter::Begun(begun) if several || !begun.plan.is_empty() => {
            overview.rounds.iter().find(|line| line.number == begun.round)
        }
        Chapter::Begun(_)
        | Chapter::Step(_)
        | Chapter::Talk(_)
        | Chapter::Note(_)
        | Chapter::Left { .. }
        | Chapter::Ended { .. } => None,
    };
    out.write(&chapter_html(chapter, round, templates, steps)?)
}

/// A chapter; of the begin of a round what its line says.
pub(super) fn chapter_html(
    chapter: &Chapter,
    round: Option<&RoundLine>,
    templates: &Templates,
    steps: &mut StepWriter,
) -> Result<String, ReportError> {
    match chapter {
        Chapter::Begun(_) => match round {
            Some(line) => templates.render("round", &round_page(line)),
            None => Ok(String::new()),
        },
        Chapter::Step(step) => {
            let page: StepPage = steps.page(step);
            templates.render("step", &page)
        }
        Chapter::Talk(talk) => {
            templates.render("aside", &Aside { talk: Some(TalkPage::of(talk)), ..Aside::default() })
        }
        Chapter::Note(note) => {
            templates.render("aside", &Aside { note: Some(NoteLine::of(note)), ..Aside::default() })
        }
        Chapter::Left { picture, .. } => {
            templates.render("aside", &Aside { end: Some(steps.whole(picture)), ..Aside::default() })
        }
        Chapter::Ended { outcome, .. } => templates
            .render("aside", &Aside { outcome: Some(outcome_page(Some(outcome))), ..Aside::default() }),
    }
}

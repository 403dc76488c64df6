//! The parts of a page that shows a session while it runs: the same as those of a report.

use deskhand_machine::record::JournalEntry;

use super::{
    ReportError, html::chapter_html, html_step::StepWriter, overview::RoundLine, pictures::Album,
    render::Templates,
};
use crate::{
    journal::SessionFolder,
    passwords::{hidden, types_passwords, veil_of},
    story::{Chapter, Story, StoryUpdate},
};
use deskhand_secret::Veil;

/// A part of a page. A later one with the same id takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivePart {
    /// The id of its element: `s12` is step 12.
    pub id: String,
    /// The number of the last journal line that it shows.
    pub seq: u64,
    /// The element.
    pub html: String,
}

/// A chapter of the story that is complete, and can become a part.
#[derive(Debug)]
pub struct LiveChapter {
    chapter: Chapter,
    /// The number of the last journal line of the chapter.
    pub seq: u64,
}

/// Makes parts of journal lines. Prompts are on the page only for steps with problems.
pub struct LivePage {
    folder: SessionFolder,
    templates: Templates,
    steps: StepWriter,
    story: Story,
    veil: Veil,
    /// Set if everything rendered before has to be rendered again.
    stale: bool,
}

impl LivePage {
    /// A page of a session. `pictures` comes before the SHA-256 of a picture in its address.
    ///
    /// # Errors
    /// A template is broken, or the journal cannot be searched for passwords.
    pub fn new(folder: &SessionFolder, pictures: &str) -> Result<Self, ReportError> {
        let album = Album::linked(folder, pictures);
        Ok(Self {
            folder: folder.clone(),
            templates: Templates::new()?,
            steps: StepWriter::brief(album),
            story: Story::default(),
            veil: veil_of(folder)?,
            stale: false,
        })
    }

    /// The story so far.
    pub const fn story(&self) -> &Story {
        &self.story
    }

    /// Returns `true` if the page shows what has turned out to be a password: it has to be made anew from the first line.
    pub const fn is_stale(&self) -> bool {
        self.stale
    }

    /// The chapters that a line completes. The step in progress is [`Self::step`].
    ///
    /// # Errors
    /// The journal cannot be searched for passwords.
    pub fn read(&mut self, line: &JournalEntry) -> Result<Vec<LiveChapter>, ReportError> {
        if types_passwords(line) {
            let veil = veil_of(&self.folder)?;
            self.stale = self.veil.is_empty() && !veil.is_empty();
            self.veil = veil;
        }
        let updates = if self.veil.is_empty() {
            self.story.read(line)
        } else {
            self.story.read(&hidden(line.clone(), &self.veil))
        };
        let chapters = updates.into_iter().filter_map(|update| match update {
            StoryUpdate::Chapter(chapter) => Some(LiveChapter { chapter, seq: line.seq }),
            StoryUpdate::Moment(_) => None,
        });
        Ok(chapters.collect())
    }

    /// The step in progress as of a line, the last one that was read: once after many lines, since each of them changes it.
    ///
    /// # Errors
    /// A template is broken.
    pub fn step(&mut self, seq: u64) -> Result<Option<LivePart>, ReportError> {
        let Some(step) = self.story.step() else { return Ok(None) };
        let html = self.templates.render("step", &self.steps.page(step))?;
        Ok(Some(LivePart { id: format!("s{}", step.number), seq, html }))
    }

    /// The part of a chapter. Parts are made in the order of the chapters; those that are not shown need not be made.
    ///
    /// # Errors
    /// A template is broken.
    pub fn part(&mut self, chapter: &LiveChapter) -> Result<LivePart, ReportError> {
        let LiveChapter { chapter, seq } = chapter;
        let round = match chapter {
            Chapter::Begun(begun) => Some(RoundLine {
                number: begun.round,
                request: begun.request.clone(),
                plan: begun.plan.clone(),
                ended: None,
            }),
            Chapter::Step(_)
            | Chapter::Talk(_)
            | Chapter::Note(_)
            | Chapter::Ended { .. }
            | Chapter::Left { .. } => None,
        };
        let html = chapter_html(chapter, round.as_ref(), &self.templates, &mut self.steps)?;
        let id = match chapter {
            Chapter::Begun(begun) => format!("r{}", begun.round),
            Chapter::Step(step) => format!("s{}", step.number),
            Chapter::Talk(_) => format!("t{seq}"),
            Chapter::Note(_) => format!("n{seq}"),
            Chapter::Ended { round, .. } => format!("o{round}"),
            Chapter::Left { round, .. } => format!("e{round}"),
        };
        Ok(LivePart { id, seq: *seq, html })
    }
}

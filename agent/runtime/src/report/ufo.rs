//! A folder of logs in the format of the reference implementation, for tools made for its logs.
//!
//! `request.log` and `response.log` are JSON Lines with its field names, one line per model request and per step, with
//! pictures and trees under its file names. Additional data uses our own field names.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use deskhand_desktop::{
    Picture,
    picture::{Colour, ElementMark},
};
use deskhand_machine::{
    observation::Observation,
    prompt::{ViewListOptions, marked_elements},
    session::ViewConfig,
};
use deskhand_ui::{PictureRef, ids::ElementId};
use serde_json::json;

use super::{
    ReportError,
    figure::places_of,
    markdown::write_markdown,
    overview::ReportOverview,
    sink::{ReportSink, to_file},
    target::windows_of,
    ufo_log::{Logs, PictureNames},
};
use crate::{
    journal::SessionFolder,
    private,
    story::{Chapter, StepStory, tell},
};

/// Writes the folder.
pub(super) fn write_ufo(folder: &SessionFolder, root: &Path) -> Result<(), ReportError> {
    let overview = ReportOverview::of(folder)?;
    let trees = root.join("ui_trees");
    private::create_folders(&trees).map_err(|source| ReportError::write(&trees, source))?;
    let at = |name: &str| root.join(name);
    to_file(&at("request.log"), |requests| {
        to_file(&at("response.log"), |responses| write_logs(folder, root, &overview, requests, responses))
    })?;
    if let Some(outcome) = overview.outcome()
        && let Some(evaluation) = &outcome.evaluation
    {
        let scores: Vec<_> = evaluation
            .sub_scores
            .iter()
            .map(|score| json!({"name": score.name, "evaluation": score.evaluation.word()}))
            .collect();
        let log = json!({
            "reason": evaluation.reason,
            "sub_scores": scores,
            "complete": evaluation.complete.word(),
            "level": "session",
            "request": overview.rounds.last().map(|line| line.request.as_str()),
            "type": "evaluation_result",
        });
        to_file(&at("evaluation.log"), |out| out.json(&log))?;
    }
    to_file(&at("output.md"), |out| write_markdown(folder, out, &at("output-pictures")))
}

fn write_logs(
    folder: &SessionFolder,
    root: &Path,
    overview: &ReportOverview,
    requests: &mut ReportSink<'_>,
    responses: &mut ReportSink<'_>,
) -> Result<(), ReportError> {
    let view = &overview.header.config.view;
    let mut writer = UfoLogWriter { folder, root, logs: Logs::new(overview), view, last: None };
    tell(folder, |chapter| writer.chapter(&chapter, requests, responses))?;
    writer.copy_last("action_step_final.png")
}

struct UfoLogWriter<'a> {
    folder: &'a SessionFolder,
    root: &'a Path,
    logs: Logs<'a>,
    view: &'a ViewConfig,
    /// The last picture.
    last: Option<PictureRef>,
}

impl UfoLogWriter<'_> {
    fn chapter(
        &mut self,
        chapter: &Chapter,
        requests: &mut ReportSink<'_>,
        responses: &mut ReportSink<'_>,
    ) -> Result<(), ReportError> {
        self.logs.note(chapter);
        match chapter {
            Chapter::Step(step) => {
                // Steps and rounds are numbered from 0 there.
                let names = self.pictures(step)?;
                self.tree(step)?;
                for line in self.logs.requests(step, &names) {
                    requests.json(&line)?;
                }
                let line = self.logs.response(step, &names);
                responses.json(&line)
            }
            Chapter::Ended { round, .. } => {
                self.copy_last(&format!("action_round_{}_final.png", round.saturating_sub(1)))
            }
            Chapter::Left { round, picture } => {
                self.last = Some(picture.clone());
                self.copy_last(&format!("action_round_{}_final.png", round.saturating_sub(1)))
            }
            Chapter::Begun(_) | Chapter::Talk(_) | Chapter::Note(_) => Ok(()),
        }
    }

    /// A copy of the last picture under another name, if there is one.
    fn copy_last(&self, name: &str) -> Result<(), ReportError> {
        let Some(last) = &self.last else { return Ok(()) };
        let Ok(file) = self.folder.picture(last) else { return Ok(()) };
        let picture = Picture::from_file(&file, last.region).map_err(ReportError::Picture)?;
        save(&picture, self.root.join(name)).map(drop)
    }

    /// The pictures of a step: clean, annotated, and with the target controls marked.
    fn pictures(&mut self, step: &StepStory) -> Result<PictureNames, ReportError> {
        let Some(seen) = &step.observation else { return Ok(PictureNames::default()) };
        let Some(reference) = seen.picture() else { return Ok(PictureNames::default()) };
        let Ok(file) = self.folder.picture(reference) else { return Ok(PictureNames::default()) };
        let number = step.number.saturating_sub(1);
        let path = |suffix: &str| self.root.join(format!("action_step{number}{suffix}.png"));
        let plain = Picture::from_file(&file, reference.region).map_err(ReportError::Picture)?;
        let clean = save(&plain, path(""))?;
        let annotated = save(&annotated(&plain, seen, reference, self.view), path("_annotated"))?;
        let marks = places_of(&step.acts, reference);
        let selected = if marks.is_empty() {
            None
        } else {
            let mut picture = plain;
            for place in marks {
                picture.outline(&place, 3, Colour::MARK);
            }
            Some(save(&picture, path("_selected_controls"))?)
        };
        self.last = Some(reference.clone());
        Ok(PictureNames { clean: Some(clean), annotated: Some(annotated), selected })
    }

    fn tree(&self, step: &StepStory) -> Result<(), ReportError> {
        let Some(Observation::Window(view)) = &step.observation else { return Ok(()) };
        let number = step.number.saturating_sub(1);
        let path = self.root.join("ui_trees").join(format!("ui_tree_step{number}.json"));
        to_file(&path, |out| out.pretty_json(&self.logs.tree(view)))
    }
}

fn save(picture: &Picture, path: PathBuf) -> Result<PathBuf, ReportError> {
    let png = picture.to_png().map_err(ReportError::Picture)?;
    private::write_file(&path, &png).map_err(|source| ReportError::write(&path, source))?;
    Ok(path)
}

/// The set-of-marks picture: numbers on the controls of a window, or on the windows of the desktop. Window pictures shown
/// to the model already have them unless disabled; then they are drawn in the same way.
fn annotated(picture: &Picture, seen: &Observation, reference: &PictureRef, view: &ViewConfig) -> Picture {
    let places: Vec<_> = match seen {
        Observation::Window(_) if view.marks => Vec::new(),
        Observation::Window(shown) => {
            let options = ViewListOptions { tokens_max: view.tokens_max, words: Vec::new() };
            let listed: HashSet<ElementId> = marked_elements(shown, &options).into_iter().collect();
            let marked = shown.elements().filter(|element| listed.contains(&element.id));
            marked.filter_map(|element| Some((element.id.0, element.bounds?))).collect()
        }
        Observation::Desktop(_) | Observation::Agent(_) => {
            windows_of(seen).iter().map(|window| (window.id.0, window.bounds)).collect()
        }
    };
    let mark = |(number, bounds): &(u32, _)| {
        Some(ElementMark { number: *number, bounds: reference.to_image(bounds)? })
    };
    let marks: Vec<ElementMark> = places.iter().filter_map(mark).collect();
    let mut picture = picture.clone();
    picture.mark(&marks);
    picture
}

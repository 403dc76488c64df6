//! The picture of what a session asks about: a part of the last one that its agent has seen, with the controls marked that are meant.

use deskhand_machine::command::ToolCommand;
use deskhand_runtime::story::{CommandTarget, Story};
use deskhand_ui::{
    PictureRef,
    geometry::{Image, Rect},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The margin around the marked controls, and the minimum size of the area, in pixels of the picture.
const AROUND: i32 = 60;
const WIDTH_MIN: i32 = 480;
const HEIGHT_MIN: i32 = 220;

/// A place in pixels: x, y, width, height.
pub(crate) type Place = [i32; 4];

/// A part of a picture of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PromptPicture {
    /// The file of the picture.
    sha256: String,
    /// The width of the whole picture.
    width: u32,
    /// Its height.
    height: u32,
    /// The part that is shown.
    view: Place,
    /// The marks in the part.
    marks: Vec<Place>,
    /// The description of the marks.
    words: String,
}

/// The controls that the actions of an approval are aimed at, given its line of the protocol.
pub(super) fn targets(story: &Story, line: &Value) -> Vec<CommandTarget> {
    let actions = line.get("actions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let commands = actions.iter().filter_map(|action| {
        serde_json::from_value::<ToolCommand>(action.get("command").cloned().unwrap_or_default()).ok()
    });
    commands.filter_map(|command| story.target(&command)).collect()
}

/// The picture for a prompt: of the step in progress, where something is marked in it; `None` if none was taken.
pub(super) fn meant(story: &Story, targets: &[CommandTarget]) -> Option<PromptPicture> {
    let picture = if targets.is_empty() { story.picture() } else { story.observation()?.picture() }?;
    let marks: Vec<Rect<Image>> = targets
        .iter()
        .filter_map(|target| picture.to_image(&target.bounds?))
        .filter(|mark| !mark.is_empty())
        .collect();
    let words: Vec<&str> = targets.iter().map(|target| target.label.as_str()).collect();
    Some(PromptPicture {
        sha256: picture.sha256.clone(),
        width: picture.width,
        height: picture.height,
        view: around(&marks, picture).into(),
        marks: marks.into_iter().map(Place::from).collect(),
        words: words.join(", "),
    })
}

/// The part of a picture around marks; all of it without any.
fn around(marks: &[Rect<Image>], picture: &PictureRef) -> Rect<Image> {
    let (width, height) =
        (i32::try_from(picture.width).unwrap_or(i32::MAX), i32::try_from(picture.height).unwrap_or(i32::MAX));
    let all = marks.iter().copied().reduce(|all, mark| all.enclosing(&mark));
    let Some(all) = all else { return Rect::new(0, 0, width, height) };
    // As much on both sides, then moved into the picture.
    let side = |at: i32, length: i32, least: i32, whole: i32| {
        let shown = length.saturating_add(2 * AROUND).max(least).min(whole);
        let begin = at.saturating_sub((shown - length) / 2);
        (begin.min(whole - shown).max(0), shown)
    };
    let (x, shown_width) = side(all.x, all.width, WIDTH_MIN, width);
    let (y, shown_height) = side(all.y, all.height, HEIGHT_MIN, height);
    Rect::new(x, y, shown_width, shown_height)
}

//! Phase 1: observes the desktop or a window and stores pictures.

use std::collections::HashMap;

use deskhand_desktop::{Desktop, DesktopError, TreeLimits};
use deskhand_machine::{
    observation::{AgentView, DesktopView, Observation, ObservationTarget, ObserveFailure},
    prompt::{ViewListOptions, marked_elements},
};
use deskhand_ui::{
    Element, ElementSource, PictureRef, Surface, WindowInfo, WindowKind, WindowView,
    geometry::{Rect, Screen},
    ids::{ElementId, WindowId},
    is_notice, same_app, surfaces as own_windows,
};
use futures_util::future::BoxFuture;

use crate::{
    agents::OpenAgents,
    camera::{MarkedControl, PictureProcessor},
    journal::SessionFolder,
};

/// The margin between letters that were read and the frame of their mark, in pixels.
const READ_MARGIN: i32 = 3;
/// The most dialogs and pop-ups observed per window.
const SURFACES_MAX: usize = 8;

/// Performs an observation.
///
/// # Errors
/// [`ObserveFailure`] if the window or desktop is gone or does not respond.
pub(crate) fn observe<'a, D: Desktop>(
    desktop: &'a D,
    agents: &'a OpenAgents,
    camera: &'a PictureProcessor,
    look: &'a ObservationTarget,
) -> BoxFuture<'a, Result<Observation, ObserveFailure>> {
    Box::pin(async move {
        match look {
            ObservationTarget::Desktop { picture } => {
                see_desktop(desktop, camera, *picture).await.map(Observation::Desktop)
            }
            ObservationTarget::Agent { agent, picture } => {
                let sight = agents.observe(*agent, *picture).await?;
                let picture = match sight.png {
                    Some(png) => Some(keep_png(camera.folder(), png).await?),
                    None => None,
                };
                Ok(Observation::Agent(AgentView { text: sight.text, picture }))
            }
            ObservationTarget::Window { window, picture, marks, words } => {
                let wanted = MarkCriteria { marks: marks.as_deref(), words };
                see_window(desktop, camera, *window, *picture, &wanted).await.map(Observation::Window)
            }
        }
    })
}

/// Which controls to mark: explicit ones, or those whose names match the words.
struct MarkCriteria<'a> {
    marks: Option<&'a [ElementId]>,
    words: &'a [String],
}

async fn see_desktop<D: Desktop>(
    desktop: &D,
    camera: &PictureProcessor,
    picture: bool,
) -> Result<DesktopView, ObserveFailure> {
    let windows = desktop.windows().await.map_err(|error| failure(&error))?;
    let picture = match picture {
        true => {
            let pixels = desktop.screen().await.map_err(|error| failure(&error))?;
            Some(camera.keep(pixels, Vec::new()).await?)
        }
        false => None,
    };
    // Owned windows are observed with their owner.
    let notices: Vec<WindowId> =
        windows.iter().filter(|info| is_notice(&windows, info)).map(|info| info.id).collect();
    let stands_alone = |info: &WindowInfo| info.stands_alone() || notices.contains(&info.id);
    let (mut alone, owned): (Vec<_>, Vec<_>) = windows.into_iter().partition(stands_alone);
    let dialogs = owned.into_iter().filter(|window| window.kind == WindowKind::Dialog).collect();
    leave_out_untitled(&mut alone);
    for window in &mut alone {
        window.document = desktop.document(window).await.map_err(|error| failure(&error))?;
    }
    Ok(DesktopView { windows: alone, dialogs, picture })
}

/// Leaves out windows without a title where their application has others: helpers that a person does not see as windows.
fn leave_out_untitled(windows: &mut Vec<WindowInfo>) {
    let titled: Vec<WindowInfo> =
        windows.iter().filter(|window| !window.title.trim().is_empty()).cloned().collect();
    windows.retain(|window| {
        let has_title = !window.title.trim().is_empty();
        has_title || window.active || !titled.iter().any(|other| same_app(other, window))
    });
}

async fn see_window<D: Desktop>(
    desktop: &D,
    camera: &PictureProcessor,
    id: WindowId,
    picture: bool,
    wanted: &MarkCriteria<'_>,
) -> Result<WindowView, ObserveFailure> {
    // The prompt does not list what a modal dialog blocks, nor can it be clicked.
    let blocked = TreeLimits { cells: false, bounds_now: false, ..TreeLimits::default() };
    let mut view = see_surfaces(desktop, id, blocked).await?;
    if let Some(region) = region(&view, wanted, camera.side_max()).filter(|_| picture) {
        let pixels = desktop.region(region).await.map_err(|error| failure(&error))?;
        let marked = if camera.marks() { marked(&view, wanted, camera.tokens_max()) } else { Vec::new() };
        view.picture = Some(camera.keep(pixels, marked).await?);
    }
    Ok(view)
}

/// Returns the region of a window that a picture shows: the window with its dialogs and pop-ups. If the picture
/// would have to be scaled down and marks are requested for some controls, only the area around these. Without
/// such a request the whole region is returned: positions are fractions of the window, and an agent that works
/// with pictures expects the same region in each of them.
fn region(view: &WindowView, wanted: &MarkCriteria<'_>, side_max: u32) -> Option<Rect<Screen>> {
    /// The margin around controls, in pixels.
    const AROUND: i32 = 160;
    let bounds = view.surfaces.iter().map(|surface| surface.window.bounds);
    let whole = bounds.reduce(|all, one| all.enclosing(&one))?;
    let longest = u32::try_from(whole.width.max(whole.height)).unwrap_or(0);
    if side_max == 0 || longest <= side_max {
        return Some(whole);
    }
    let is_wanted = |id: &ElementId| wanted.marks.is_some_and(|marks| marks.contains(id));
    let controls =
        view.elements().filter(|element| is_wanted(&element.id)).filter_map(|element| element.bounds);
    let controls = controls.reduce(|all, one| all.enclosing(&one));
    controls.and_then(|controls| controls.grown_by(AROUND).intersection(&whole)).or(Some(whole))
}

/// The controls to mark: the requested ones, or all listed ones.
fn marked(view: &WindowView, wanted: &MarkCriteria<'_>, tokens_max: usize) -> Vec<MarkedControl> {
    let options = ViewListOptions { tokens_max, words: wanted.words.to_vec() };
    let ids = wanted.marks.map_or_else(|| marked_elements(view, &options), <[ElementId]>::to_vec);
    // What was read has no edge of its own: its frame goes around its letters.
    let around = |element: &Element| {
        let bounds = element.bounds?;
        Some(if element.source == ElementSource::AtSpi { bounds } else { bounds.grown_by(READ_MARGIN) })
    };
    let places: HashMap<ElementId, Rect<Screen>> =
        view.elements().filter_map(|element| Some((element.id, around(element)?))).collect();
    ids.iter().filter_map(|id| Some((id.0, *places.get(id)?))).collect()
}

/// Observes a window with its dialogs and pop-ups, without a picture; within the limits `blocked` what a modal dialog blocks.
pub(crate) async fn see_surfaces<D: Desktop>(
    desktop: &D,
    id: WindowId,
    blocked: TreeLimits,
) -> Result<WindowView, ObserveFailure> {
    let all = desktop.windows().await.map_err(|error| failure(&error))?;
    let Some(own) = own_windows(&all, id) else {
        return Err(ObserveFailure {
            window_gone: true,
            desktop_gone: false,
            message: format!("window {id} was closed"),
        });
    };
    let (main, others): (Vec<_>, Vec<_>) = own.into_iter().partition(|window| window.id == id);
    let windows: Vec<&WindowInfo> = main.into_iter().chain(others.into_iter().take(SURFACES_MAX)).collect();
    let mut limits = TreeLimits::default();
    let mut seen = Vec::with_capacity(windows.len());
    for window in windows.iter().rev() {
        match desktop.see(window.id, limits).await {
            Ok(sight) => {
                let document = desktop.document(window).await.map_err(|error| failure(&error))?;
                let window = WindowInfo { document, ..(*window).clone() };
                let surface = Surface { window, tree: sight.tree };
                if surface.is_modal() {
                    limits = blocked;
                }
                seen.push((surface, sight.notices));
            }
            // A pop-up may close during the observation.
            Err(DesktopError::NoWindow(_)) if window.id != id => {}
            Err(error) => return Err(failure(&error)),
        }
    }
    let (surfaces, said): (Vec<Surface>, Vec<Vec<String>>) = seen.into_iter().rev().unzip();
    let mut notices: Vec<String> = Vec::new();
    for notice in said.into_iter().flatten() {
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }
    Ok(WindowView { surfaces, picture: None, notices })
}

fn failure(error: &DesktopError) -> ObserveFailure {
    ObserveFailure {
        window_gone: matches!(error, DesktopError::NoWindow(_)),
        desktop_gone: matches!(error, DesktopError::Gone { .. }),
        message: format!("failed to {}", error.chain()),
    }
}

/// Stores a picture that is already encoded.
async fn keep_png(folder: &SessionFolder, png: Vec<u8>) -> Result<PictureRef, ObserveFailure> {
    let broken = |message: String| ObserveFailure { window_gone: false, desktop_gone: false, message };
    let (width, height) = png_size(&png).ok_or_else(|| broken("the picture is not a PNG file".to_owned()))?;
    let folder = folder.clone();
    let kept = tokio::task::spawn_blocking(move || folder.keep_picture(&png, "png"));
    let sha256 = kept
        .await
        .map_err(|error| broken(format!("failed to store a picture: {error}")))?
        .map_err(|error| broken(format!("failed to {error}")))?;
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let region = Rect::new(0, 0, side(width), side(height));
    Ok(PictureRef { sha256, media_type: PictureRef::PNG.to_owned(), width, height, region })
}

/// The width and height in the file header.
fn png_size(png: &[u8]) -> Option<(u32, u32)> {
    const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
    let header = png.strip_prefix(SIGNATURE)?;
    let number = |at: usize| Some(u32::from_be_bytes(header.get(at..at.checked_add(4)?)?.try_into().ok()?));
    (header.get(4..8)? == b"IHDR").then_some(())?;
    Some((number(8)?, number(12)?))
}

#[cfg(test)]
mod tests {
    use deskhand_desktop_fake::{FakeApp, FakeDesktop, FakeElement, FakeSheet, FakeWindow};
    use deskhand_ui::Role;

    use super::*;

    #[tokio::test]
    async fn what_matters_is_pictured_alone_if_all_does_not_fit() {
        let save = FakeElement::new(Role::PUSH_BUTTON, "Save").at(500, 400, 60, 20);
        let window = FakeWindow::normal("budget.ods").elements([save]);
        let desktop = FakeDesktop::new([FakeApp::new("Calc", "calc", [window])], []);
        let id = desktop.find_window("budget").unwrap();
        let look = async || see_surfaces(&desktop, id, TreeLimits::default()).await.unwrap();
        let all = MarkCriteria { marks: None, words: &[] };
        let mut view = look().await;
        let whole = Rect::new(0, 0, 1600, 1200);
        view.surfaces[0].window.bounds = whole;
        assert_eq!(region(&view, &all, 1_280), Some(whole), "nothing matters most");
        let marks: Vec<ElementId> =
            view.elements().filter(|one| one.role == Role::PUSH_BUTTON).map(|one| one.id).collect();
        let one = MarkCriteria { marks: Some(&marks), words: &[] };
        let place = view.elements().find(|one| one.id == marks[0]).and_then(|one| one.bounds).unwrap();
        let around = place.grown_by(160).intersection(&whole);
        assert_eq!((region(&view, &one, 1_280), region(&view, &one, 1_600)), (around, Some(whole)));
        desktop.open(id, &FakeWindow::dialog("Save")).unwrap();
        let mut view = look().await;
        view.surfaces[0].window.bounds = whole;
        assert_eq!([1_280, 1_600, 0].map(|side| region(&view, &all, side)), [Some(whole); 3]);
    }

    #[tokio::test]
    async fn the_cells_of_a_sheet_are_read_unless_a_modal_dialog_blocks_it() {
        let sheet = FakeElement::new(Role::TABLE, "Sheet1").sheet(FakeSheet::of(&[&["total", "42"]]));
        let window = FakeWindow::normal("budget.ods").elements([sheet]);
        let desktop = FakeDesktop::new([FakeApp::new("Calc", "calc", [window])], []);
        let id = desktop.find_window("budget").unwrap();
        let blocked = TreeLimits { cells: false, ..TreeLimits::default() };
        let texts = async |limits| {
            let view = see_surfaces(&desktop, id, limits).await.unwrap();
            let cells = view.elements().filter(|element| element.role == Role::TABLE_CELL);
            let roots: Vec<&str> = view.surfaces.iter().map(|one| one.window.title.as_str()).collect();
            (roots.join(", "), cells.filter_map(|cell| cell.text.clone()).collect::<Vec<_>>())
        };
        let all = vec!["total".to_owned(), "42".to_owned()];
        assert_eq!(texts(blocked).await, ("budget.ods".to_owned(), all.clone()));
        desktop.open(id, &FakeWindow::dialog("Save")).unwrap();
        let both = "budget.ods, Save".to_owned();
        assert_eq!(texts(blocked).await, (both.clone(), Vec::new()));
        assert_eq!(texts(TreeLimits::default()).await, (both, all));
    }
}

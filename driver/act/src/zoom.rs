//! A part of a window as a picture, in the size that it has on the screen.

use deskhand_desktop::{Desktop, DesktopError, DesktopResult, Picture};
use deskhand_ui::{
    State,
    action::ActionRefusal,
    geometry::{Rect, Screen},
    ids::{ElementId, WindowId},
};

use crate::{
    checks::{TargetRequirement, check},
    report::Halt,
    surfaces::surfaces,
};

/// Margin shown around an element, in pixels.
const AROUND: i32 = 32;

/// Part of a window that is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum ZoomTarget {
    /// An element, with what is around it.
    Element {
        /// Its id.
        id: ElementId,
        /// Its expected name; `None` to accept any.
        name: Option<String>,
    },
    /// The area between these edges of the window: left, top, right, bottom. Fractions of its width and height, or
    /// its pixels if one of them is above 1.
    Area([f64; 4]),
}

/// A part of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowZoom {
    /// Its pixels; its region is the part of the screen that it shows.
    pub picture: Picture,
    /// Bounds of the window on the screen.
    pub window: Rect<Screen>,
}

impl WindowZoom {
    /// The edges of the part, as fractions of the window: left, top, right, bottom. What is in a dialog may be below 0 or above 1.
    pub fn edges(&self) -> [f64; 4] {
        let (part, window) = (&self.picture.region, &self.window);
        let fraction = |place: i32, of: i32| {
            let exact = f64::from(place) / f64::from(of.max(1));
            (exact * 1e4).round() / 1e4
        };
        let (left, top) = (part.x.saturating_sub(window.x), part.y.saturating_sub(window.y));
        let (right, bottom) = (left.saturating_add(part.width), top.saturating_add(part.height));
        [
            fraction(left, window.width),
            fraction(top, window.height),
            fraction(right, window.width),
            fraction(bottom, window.height),
        ]
    }
}

/// Takes a picture of a part of a window, with its dialogs and pop-ups. It shows what is on the screen there.
///
/// # Errors
/// [`DesktopError::NoWindow`] if the window is gone, [`DesktopError::Refused`] if the element cannot be seen, [`DesktopError::Failed`] if the
/// area is none of the window, or another error of the desktop.
pub async fn zoom<D: Desktop>(desktop: &D, window: WindowId, part: &ZoomTarget) -> DesktopResult<WindowZoom> {
    let surfaces = surfaces(desktop, window).await?;
    let own = surfaces.iter().find(|surface| surface.id == window);
    let bounds = own.ok_or(DesktopError::NoWindow(window))?.bounds;
    let area = match part {
        ZoomTarget::Element { id, name } => {
            let whole = surfaces.iter().map(|surface| surface.bounds).reduce(|all, one| all.enclosing(&one));
            let shown = element(desktop, window, (*id, name.as_deref())).await?;
            shown.grown_by(AROUND).intersection(&whole.unwrap_or(bounds)).unwrap_or(shown)
        }
        ZoomTarget::Area(edges) => area(&bounds, *edges)
            .map_err(|why| DesktopError::failed(format!("show a part of {window}"), why))?,
    };
    Ok(WindowZoom { picture: desktop.region(area).await?, window: bounds })
}

/// Returns the area in which an element can be seen.
async fn element<D: Desktop>(
    desktop: &D,
    window: WindowId,
    (id, name): (ElementId, Option<&str>),
) -> DesktopResult<Rect<Screen>> {
    let ready =
        check(desktop, window, id, name, TargetRequirement::Read).await.map_err(|halt| match halt {
            Halt::Refused(refusal) => DesktopError::Refused(refusal),
            Halt::Failed(error) => error,
        })?;
    let seen = ready.element.bounds.filter(|_| ready.element.states.has(State::Showing));
    seen.and_then(|bounds| bounds.intersection(&ready.surface.bounds))
        .ok_or_else(|| DesktopError::refused(ActionRefusal::NotOnScreen { element: (&ready.element).into() }))
}

/// The part of the screen between these edges of a window.
fn area(window: &Rect<Screen>, edges: [f64; 4]) -> Result<Rect<Screen>, String> {
    let said = edges.map(|edge| edge.to_string()).join(", ");
    let is_fraction = edges.iter().all(|edge| (0.0..=1.0).contains(edge));
    let [left, top, right, bottom] = edges;
    let (across, down) =
        if is_fraction { (f64::from(window.width), f64::from(window.height)) } else { (1.0, 1.0) };
    let (x, y) = ((left * across).floor() as i32, (top * down).floor() as i32);
    let (to_x, to_y) = ((right * across).ceil() as i32, (bottom * down).ceil() as i32);
    let part = Rect::<Screen>::new(
        window.x.saturating_add(x),
        window.y.saturating_add(y),
        to_x.saturating_sub(x),
        to_y.saturating_sub(y),
    );
    let is_meant = edges.iter().all(|edge| edge.is_finite()) && left < right && top < bottom;
    part.intersection(window).filter(|_| is_meant).ok_or_else(|| {
        let (width, height) = (window.width, window.height);
        format!(
            "[{said}] are not left, top, right and bottom of a part of it: fractions from 0 to 1, or pixels of its {width} x {height}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_fractions_or_pixels() {
        let window = Rect::new(100, 50, 800, 600);
        let check = |edges: [f64; 4], expected: Option<[i32; 4]>| {
            assert_eq!(area(&window, edges).ok().map(Into::into), expected, "{edges:?}");
        };
        check([0.0, 0.0, 1.0, 1.0], Some([100, 50, 800, 600]));
        check([0.5, 0.25, 0.75, 0.5], Some([500, 200, 200, 150]));
        check([10.0, 20.0, 110.0, 60.0], Some([110, 70, 100, 40]));
        check([0.0, 0.0, 400.0, 300.0], Some([100, 50, 400, 300]));
        // Only what is in the window.
        check([700.0, 500.0, 900.0, 700.0], Some([800, 550, 100, 100]));
        for wrong in [
            [0.5, 0.0, 0.5, 1.0],
            [0.9, 0.1, 0.2, 0.3],
            [900.0, 0.0, 1000.0, 10.0],
            [0.0, 0.0, f64::NAN, 1.0],
            [0.0, 0.0, f64::INFINITY, 9.0],
            [-0.5, -0.5, -0.1, -0.1],
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn edges_say_where_a_part_is() {
        let picture = Picture { region: Rect::new(300, 200, 200, 150), rgb: Vec::new() };
        let zoomed = WindowZoom { picture, window: Rect::new(100, 50, 800, 600) };
        assert_eq!(zoomed.edges(), [0.25, 0.25, 0.5, 0.5]);
    }
}

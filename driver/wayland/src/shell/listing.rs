//! The windows that GNOME and KDE list, as JSON, bottom-most first.

use std::collections::HashMap;

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::geometry::Rect;
use serde::Deserialize;

use crate::windows::Toplevel;

/// A window.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShellWindowEntry {
    /// Its identifier in the compositor, unique while the compositor runs.
    id: String,
    title: String,
    app: String,
    pid: u32,
    /// Its place: x, y, width and height, without its frame and its shadow, as far as the compositor knows them.
    bounds: [f64; 4],
    focused: bool,
    full_screen: bool,
    /// The id of its owner; empty without one.
    owner: String,
    pop_up: bool,
    /// `true` if it is minimized or on another work space.
    hidden: bool,
}

/// A number for each window, in the order in which they were listed first.
#[derive(Debug, Default)]
pub(super) struct ShellWindowNumbers {
    known: HashMap<String, u32>,
    last: u32,
}

impl ShellWindowNumbers {
    /// The windows of a list; those that are hidden come first, as below all others.
    pub(super) fn toplevels(&mut self, text: &str) -> DesktopResult<Vec<Toplevel>> {
        let failed = |error| DesktopError::failed("read the list of windows", error);
        let mut listed: Vec<ShellWindowEntry> = serde_json::from_str(text).map_err(failed)?;
        // The sort keeps the order of equals, in which the compositor draws them.
        listed.sort_by_key(|one| !one.hidden);
        self.known.retain(|id, _| listed.iter().any(|one| one.id == *id));
        for one in &listed {
            if !self.known.contains_key(&one.id) {
                self.last = self.last.saturating_add(1);
                self.known.insert(one.id.clone(), self.last);
            }
        }
        Ok(listed.into_iter().filter_map(|one| self.toplevel(one)).collect())
    }

    fn toplevel(&self, one: ShellWindowEntry) -> Option<Toplevel> {
        let owner = Some(&one.owner).filter(|owner| !owner.is_empty());
        Some(Toplevel {
            id: *self.known.get(&one.id)?,
            title: one.title,
            app_id: one.app,
            pid: Some(one.pid).filter(|pid| *pid != 0),
            bounds: rect(one.bounds),
            floats: false,
            focused: one.focused,
            full_screen: one.full_screen,
            owner: owner.and_then(|owner| self.known.get(owner).copied()),
            pop_up: one.pop_up,
        })
    }

    /// Returns the compositor's identifier of a window that was listed.
    pub(super) fn id_of(&self, number: u32) -> Option<&str> {
        self.known.iter().find_map(|(id, known)| (*known == number).then_some(id.as_str()))
    }
}

/// Whole units: a window of a compositor with fractions covers what it touches.
fn rect<Space>([x, y, width, height]: [f64; 4]) -> Rect<Space> {
    // A cast from a float saturates.
    let whole = |number: f64| number as i32;
    let (left, top) = (whole(x.floor()), whole(y.floor()));
    Rect::new(left, top, whole((x + width).ceil()) - left, whole((y + height).ceil()) - top)
}

#[cfg(test)]
mod tests {
    use deskhand_ui::geometry::Rect;
    use serde_json::json;

    use super::*;

    #[test]
    fn windows_keep_their_numbers_and_know_their_owners() {
        let window = |id: &str, owner: &str, hidden: bool| {
            json!({
                "id": id, "title": format!("Title {id}"), "app": "org.a", "pid": 7, "bounds": [10.5, 20, 100, 50.2],
                "focused": id == "b", "full_screen": false, "owner": owner, "pop_up": false, "hidden": hidden,
            })
        };
        let mut numbers = ShellWindowNumbers::default();
        let list = json!([window("a", "", false), window("b", "a", false), window("c", "", true)]);
        let found = numbers.toplevels(&list.to_string()).unwrap();
        let essence: Vec<_> = found.iter().map(|one| (one.title.as_str(), one.owner, one.focused)).collect();
        assert_eq!(essence, [("Title c", None, false), ("Title a", None, false), ("Title b", Some(2), true)]);
        assert_eq!(found[0].bounds, Rect::new(10, 20, 101, 51));
        let list = json!([window("b", "a", false), window("d", "", false)]);
        let found = numbers.toplevels(&list.to_string()).unwrap();
        let ids: Vec<_> = found.iter().map(|one| (one.id, one.owner)).collect();
        assert_eq!(ids, [(3, None), (4, None)]);
        assert_eq!((numbers.id_of(3), numbers.id_of(2)), (Some("b"), None));
        assert!(numbers.toplevels("{}").is_err());
    }
}

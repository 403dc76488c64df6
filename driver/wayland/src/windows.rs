//! The windows of sway: its tree of containers, read as plain data.

use deskhand_desktop::{DesktopError, DesktopResult};
use deskhand_ui::geometry::{Rect, Screen};
use serde::Deserialize;

/// The deepest tree that is followed.
const DEPTH_MAX: usize = 64;

/// A top-level window, of Wayland or of X11.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toplevel {
    /// The number of its container.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// The id of its application; the class of an X11 window.
    pub app_id: String,
    /// The process that owns it.
    pub pid: Option<u32>,
    /// Its content, without the decorations of the compositor and without a shadow.
    pub bounds: Rect<Screen>,
    /// `true` if it floats above the tiled ones.
    pub floats: bool,
    /// `true` if it has the keyboard focus.
    pub focused: bool,
    /// `true` if it fills its monitor.
    pub full_screen: bool,
    /// The window that it belongs to, if the compositor tells it. Sway does not.
    pub owner: Option<u32>,
    /// `true` if it is a menu, a list of options or a tooltip. Sway lists none of these.
    pub pop_up: bool,
}

/// A node of the tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SwayNode {
    id: u32,
    name: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    rect: SwayRect,
    window_rect: SwayRect,
    focused: bool,
    visible: bool,
    fullscreen_mode: u8,
    pid: Option<u32>,
    app_id: Option<String>,
    shell: Option<String>,
    window_properties: Properties,
    nodes: Vec<SwayNode>,
    floating_nodes: Vec<SwayNode>,
}

/// The properties that an X11 window reports.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Properties {
    class: String,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct SwayRect {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

/// The windows in a tree, bottom-most first: those that are hidden, as behind a tab, then tiled, floating and full-screen ones.
pub(crate) fn toplevels(tree: &[u8]) -> DesktopResult<Vec<Toplevel>> {
    let root: SwayNode =
        serde_json::from_slice(tree).map_err(|error| DesktopError::failed("read the tree of sway", error))?;
    let mut found = Vec::new();
    collect(&root, false, DEPTH_MAX, &mut found);
    // The sort keeps the order of equals, in which sway draws them.
    found.sort_by_key(|(layer, _)| *layer);
    Ok(found.into_iter().map(|(_, toplevel)| toplevel).collect())
}

/// The stacking order of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Hidden,
    Tiled,
    Floating,
    FullScreen,
}

fn collect(node: &SwayNode, floats: bool, depth: usize, found: &mut Vec<(Layer, Toplevel)>) {
    if depth == 0 {
        return;
    }
    // The scratchpad is of no monitor.
    if node.kind == "output" && node.name.as_deref() == Some("__i3") {
        return;
    }
    if let Some(shell) = &node.shell {
        let layer = match (node.visible, node.fullscreen_mode, floats) {
            (false, _, _) => Layer::Hidden,
            (true, 1.., _) => Layer::FullScreen,
            (true, 0, true) => Layer::Floating,
            (true, 0, false) => Layer::Tiled,
        };
        found.push((layer, toplevel(node, shell, floats)));
    }
    for child in &node.nodes {
        collect(child, floats, depth - 1, found);
    }
    for child in &node.floating_nodes {
        collect(child, /*floats*/ true, depth - 1, found);
    }
}

fn toplevel(node: &SwayNode, shell: &str, floats: bool) -> Toplevel {
    let (rect, inside) = (node.rect, node.window_rect);
    let class = (shell == "xwayland").then(|| node.window_properties.class.clone());
    Toplevel {
        id: node.id,
        title: node.name.clone().unwrap_or_default(),
        app_id: class.or_else(|| node.app_id.clone()).unwrap_or_default(),
        pid: node.pid,
        bounds: Rect::new(
            rect.x.saturating_add(inside.x),
            rect.y.saturating_add(inside.y),
            inside.width,
            inside.height,
        ),
        floats,
        focused: node.focused,
        full_screen: node.fullscreen_mode != 0,
        owner: None,
        pop_up: false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn windows_are_listed_from_bottom_to_top_with_their_content() {
        let view = |id: u32, name: &str, visible: bool| {
            json!({
                "id": id, "name": name, "type": "con", "pid": 70 + id, "app_id": "org.a", "shell": "xdg_shell", "visible": visible,
                "focused": id == 4, "fullscreen_mode": 0, "rect": {"x": 10, "y": 30, "width": 500, "height": 400},
                "window_rect": {"x": 2, "y": 0, "width": 496, "height": 398}, "nodes": [], "floating_nodes": [],
            })
        };
        let x11 = json!({
            "id": 6, "name": "Old", "type": "con", "pid": 9, "app_id": null, "shell": "xwayland", "visible": true, "window": 2_097_153,
            "window_properties": {"class": "XTerm", "instance": "xterm"}, "rect": {"x": 0, "y": 0, "width": 9, "height": 9},
            "window_rect": {"x": 0, "y": 0, "width": 9, "height": 9},
        });
        let tree = json!({
            "id": 1, "type": "root", "nodes": [
                {"id": 90, "type": "output", "name": "__i3", "nodes": [view(91, "In the scratchpad", false)]},
                {"id": 2, "type": "output", "name": "HEADLESS-1", "nodes": [{
                    "id": 3, "type": "workspace", "name": "1", "pid": null, "focused": false,
                    "floating_nodes": [view(5, "Question", true)],
                    "nodes": [{"id": 7, "type": "con", "name": null, "nodes": [view(4, "Text", true), view(8, "Tab", false), x11]}],
                }]},
            ],
        });
        let found = toplevels(tree.to_string().as_bytes()).unwrap();
        let titles: Vec<&str> = found.iter().map(|toplevel| toplevel.title.as_str()).collect();
        assert_eq!(titles, ["Tab", "Text", "Old", "Question"]);
        let expected = Toplevel {
            id: 4,
            title: "Text".to_owned(),
            app_id: "org.a".to_owned(),
            pid: Some(74),
            bounds: Rect::new(12, 30, 496, 398),
            floats: false,
            focused: true,
            full_screen: false,
            owner: None,
            pop_up: false,
        };
        assert_eq!(found[1], expected);
        assert!(found[3].floats && found[2].app_id == "XTerm");
        assert!(toplevels(b"{").is_err());
    }
}

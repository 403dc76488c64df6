//! From gestures at places of a picture to commands on elements.
//!
//! A click on something that is pressed as a whole, such as a button or a cell, becomes a click on that element. Where the place
//! within an element matters, as in a text or on a slider, the place is kept as fractions of the window; policy, last look and
//! journal look up the element there, as for every click at coordinates.

use serde_json::{Map, Value, json};

use super::{OperatorGesture, OperatorReply};
use crate::{
    known_tools::{CLICK, CLICK_AT, DRAG, DRAG_AT, PRESS_KEYS, SCROLL, TYPE, WAIT},
    reply::{ProposedAction, ReplyError},
    secret,
};
use deskhand_ui::{
    Element, ElementSource, Role, State, Tree, WindowView,
    action::Button,
    geometry::{Image, Point, Rect, Screen},
};

/// Roles of elements that are pressed as a whole: the place of the click makes no difference.
const WHOLE: &[Role] = &[
    Role::CHECK_BOX,
    Role::CHECK_MENU_ITEM,
    Role::DRAWN_ICON,
    Role::DRAWN_TEXT,
    Role::ICON,
    Role::LIST_ITEM,
    Role::MENU,
    Role::MENU_ITEM,
    Role::PAGE_TAB,
    Role::PUSH_BUTTON,
    Role::RADIO_BUTTON,
    Role::RADIO_MENU_ITEM,
    Role::TABLE_CELL,
    Role::TOGGLE_BUTTON,
    Role::TREE_ITEM,
];

/// Parts of a control that have no function of their own.
const PARTS: &[Role] = &[Role::FILLER, Role::IMAGE, Role::LABEL, Role::PANEL, Role::STATIC];

/// Target of a gesture at a place.
struct GestureTarget<'a> {
    point: Point<Screen>,
    /// The innermost element there; `None` if the application lists none.
    element: Option<&'a Element>,
    /// Element that a click there presses, if that is pressed as a whole.
    whole: Option<&'a Element>,
}

/// The usual commands for the gestures of a reply, given the view whose picture the operator was shown.
///
/// # Errors
/// A place is not in the picture or shows no window, or nothing is listed where something must be.
pub fn refine(reply: &OperatorReply, view: &WindowView) -> Result<Vec<ProposedAction>, ReplyError> {
    let mut actions = Vec::with_capacity(reply.gestures.len());
    // What the gestures so far gave the focus.
    let mut focused = None;
    for (index, gesture) in reply.gestures.iter().enumerate() {
        let wrong = |problem: String| ReplyError::field(format!("action[{index}]"), problem);
        let spot = |at: &Point<Image>| spot(at, view).map_err(wrong);
        let (tool, arguments) = match gesture {
            OperatorGesture::Click { at, button, count } => {
                let spot = spot(at)?;
                focused = spot.element.or(focused);
                click(&spot, *button, *count, view).map_err(wrong)?
            }
            OperatorGesture::Drag { from, to } => drag(&spot(from)?, &spot(to)?, view).map_err(wrong)?,
            OperatorGesture::Scroll { at, right, down } => {
                let element = match at {
                    Some(at) => spot(at)?.element,
                    None => focused.or_else(|| focus(view)).or_else(|| view.elements().next()),
                };
                let element = element.ok_or_else(|| wrong(NOTHING_TO_SCROLL.to_owned()))?;
                let mut arguments = named(element);
                arguments.extend(object(json!({"down": down, "right": right})));
                (SCROLL, arguments)
            }
            OperatorGesture::Type { text } => {
                let mut arguments = object(json!({"text": text}));
                // A secret is typed into one field, given by its id.
                let field = focused.or_else(|| focus(view)).filter(|_| secret::reference(text).is_some());
                arguments.extend(field.map(named).unwrap_or_default());
                (TYPE, arguments)
            }
            OperatorGesture::Keys { chords } => {
                let chords: Vec<String> = chords.iter().map(ToString::to_string).collect();
                (PRESS_KEYS, object(json!({"keys": chords.join(" ")})))
            }
            OperatorGesture::Wait { seconds } => (WAIT, object(json!({"seconds": seconds}))),
        };
        actions.push(ProposedAction {
            function: tool.to_owned(),
            arguments,
            expect: None,
            carries: Vec::new(),
        });
    }
    Ok(actions)
}

const NOTHING_TO_SCROLL: &str = "nothing is listed there that could be scrolled; use keys such as Page_Down";

/// Returns the target at a pixel of the picture.
///
/// # Errors
/// There is no picture, or the pixel is not in it or shows no window.
fn spot<'a>(pixel: &Point<Image>, view: &'a WindowView) -> Result<GestureTarget<'a>, String> {
    let picture = view.picture.as_ref().ok_or("there was no picture, so no place can be named; use keys")?;
    let inside = |at: i32, side: u32| u32::try_from(at).is_ok_and(|at| at < side);
    let Point { x, y, .. } = pixel;
    if !inside(*x, picture.width) || !inside(*y, picture.height) {
        let (width, height) = (picture.width, picture.height);
        return Err(format!("({x}, {y}) is not in the picture, which is {width} x {height} pixels"));
    }
    let point = picture.to_screen(pixel);
    let mut there = view.surfaces.iter().rev().filter(|surface| surface.window.bounds.contains(&point));
    let nothing = || format!("({x}, {y}) shows no part of the window or its dialogs");
    let top = there.next().ok_or_else(nothing)?;
    let lists_nothing = top.window.kind.is_popup() && top.tree.elements.len() <= 1;
    // A menu may be listed by the window that it belongs to.
    let owner = there.next().filter(|_| lists_nothing);
    let surface = owner.unwrap_or(top);
    let element = match owner {
        Some(owner) => popped_up(&owner.tree, &top.window.bounds, point),
        None => surface.tree.at(point).filter(|element| covers(element, point)),
    };
    let whole = element.and_then(|element| pressed(&surface.tree, element));
    let is_control = element.is_some_and(|element| element.role.is_interactive());
    let drawn = if whole.is_none() && !is_control { drawn(&top.tree, point) } else { None };
    Ok(GestureTarget { point, element: drawn.or(element), whole: drawn.or(whole) })
}

fn covers(element: &Element, point: Point<Screen>) -> bool {
    element.bounds.is_some_and(|bounds| bounds.contains(&point))
}

fn area(element: &&Element) -> i64 {
    element.bounds.map_or(i64::MAX, |at| i64::from(at.width) * i64::from(at.height))
}

/// The element of a window that a pop-up of it shows at a point: one inside of the pop-up that lies outside of what contains it.
fn popped_up<'a>(tree: &'a Tree, popup: &Rect<Screen>, point: Point<Screen>) -> Option<&'a Element> {
    let is_inside = |element: &&Element| element.bounds.is_some_and(|at| popup.intersection(&at) == Some(at));
    let is_shown_apart = |element: &&Element| {
        tree.ancestors(element.id).any(|one| one.bounds.is_some_and(|bounds| !bounds.contains(&point)))
    };
    let there = tree.elements.iter().filter(|element| covers(element, point));
    there.filter(is_inside).filter(is_shown_apart).min_by_key(area)
}

/// The smallest element at a point that was detected in the picture. It is used where the application reports no control.
fn drawn(tree: &Tree, point: Point<Screen>) -> Option<&Element> {
    let found = tree.elements.iter().filter(|element| element.source != ElementSource::AtSpi);
    found.filter(|element| covers(element, point)).min_by_key(area)
}

/// Returns the element that a click on an element presses as a whole: the element, or the control of which it
/// is a mere part.
fn pressed<'a>(tree: &'a Tree, element: &'a Element) -> Option<&'a Element> {
    let mut upwards = std::iter::once(element).chain(tree.ancestors(element.id));
    let control = upwards.find(|one| !PARTS.contains(&one.role))?;
    let covers = match (control.bounds, element.bounds) {
        (Some(all), Some(part)) => all.intersection(&part) == Some(part),
        (_, _) => false,
    };
    // One click on it opens, another one selects.
    let has_parts = control.states.has(State::Expandable) && control.role != Role::MENU;
    Some(control).filter(|one| WHOLE.contains(&one.role) && covers && !has_parts)
}

/// The element with the focus, in the frontmost window that has one.
fn focus(view: &WindowView) -> Option<&Element> {
    view.surfaces.iter().rev().find_map(|surface| surface.tree.focused())
}

fn click(
    spot: &GestureTarget<'_>,
    button: Button,
    count: u8,
    view: &WindowView,
) -> Result<(&'static str, Map<String, Value>), String> {
    let button = json!(button);
    let at = fractions(spot.point, view);
    // Three clicks select all of a field, wherever they are.
    let element = spot.whole.or(spot.element.filter(|_| count > 2 || at.is_none()));
    if let Some(element) = element {
        let mut arguments = named(element);
        arguments.extend(object(json!({"button": button, "count": count})));
        return Ok((CLICK, arguments));
    }
    let (x, y) = at.ok_or("nothing is listed there, outside of the window that you work in")?;
    Ok((CLICK_AT, object(json!({"x": x, "y": y, "button": button, "double": count > 1}))))
}

fn drag(
    from: &GestureTarget<'_>,
    to: &GestureTarget<'_>,
    view: &WindowView,
) -> Result<(&'static str, Map<String, Value>), String> {
    if let (Some(one), Some(other)) = (from.whole, to.whole)
        && one.id != other.id
    {
        return Ok((DRAG, object(json!({"from": one.id.to_string(), "to": other.id.to_string()}))));
    }
    let outside = "a drag must begin and end in the window that you work in";
    let (start_x, start_y) = fractions(from.point, view).ok_or(outside)?;
    let (end_x, end_y) = fractions(to.point, view).ok_or(outside)?;
    let places = json!({"start_x": start_x, "start_y": start_y, "end_x": end_x, "end_y": end_y});
    Ok((DRAG_AT, object(places)))
}

/// A point as fractions of the window; `None` if it is outside of it.
fn fractions(point: Point<Screen>, view: &WindowView) -> Option<(f64, f64)> {
    /// Digits enough for a single pixel of the largest window.
    const PARTS: f64 = 1e6;
    let bounds = view.surfaces.first()?.window.bounds;
    let along = |at: i32, start: i32, length: i32| {
        let last = f64::from(length.saturating_sub(1).max(1));
        (f64::from(at.saturating_sub(start)) / last * PARTS).round() / PARTS
    };
    let across = along(point.x, bounds.x, bounds.width);
    let down = along(point.y, bounds.y, bounds.height);
    bounds.contains(&point).then_some((across, down))
}

/// The arguments that name an element.
fn named(element: &Element) -> Map<String, Value> {
    let mut arguments = object(json!({"id": element.id.to_string()}));
    if !element.name.trim().is_empty() {
        arguments.insert("name".to_owned(), json!(element.name));
    }
    arguments
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

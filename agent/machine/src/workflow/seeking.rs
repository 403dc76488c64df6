//! Elements that are scrolled out of sight: an application lists them only once they are in view, so the window is scrolled through.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ahead::WorkflowCalls,
    performing::{NextWindowStep, PendingProposal, UnresolvedElement, WorkflowExecution},
};
use crate::{command::ActionCommandInfo, known_tools::SCROLL, reply::ProposedAction};
use deskhand_ui::{Element, Role, State, Surface, WindowView, action::Verdict, ids::ElementId};

/// Notches per turn of the wheel: less than a small window shows. Two turns in a row differ, since the same
/// call twice in a view that lists the same would count as one that changes nothing.
const NOTCHES: [i64; 2] = [4, 5];
/// Maximum number of turns in one direction.
const TURNS_MAX: u32 = 20;

/// Progress of scrolling a window in search of the element of a step: down to its end, then up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkflowScrollSearch {
    /// So many turns down.
    Down(u32),
    /// So many turns up.
    Up(u32),
    /// The whole window was seen.
    Over,
}

impl Default for WorkflowScrollSearch {
    fn default() -> Self {
        Self::Down(0)
    }
}

impl WorkflowScrollSearch {
    /// The notches of the next turn.
    const fn notches(self) -> Option<i64> {
        let [even, odd] = NOTCHES;
        match self {
            Self::Down(turns) => Some(if turns % 2 == 0 { even } else { odd }),
            Self::Up(turns) => Some(if turns % 2 == 0 { -even } else { -odd }),
            Self::Over => None,
        }
    }

    /// After a turn that moved something, or did not.
    const fn after(self, moved: bool) -> Self {
        match self {
            Self::Down(turns) if moved && turns < TURNS_MAX => Self::Down(turns + 1),
            Self::Down(_) => Self::Up(0),
            Self::Up(turns) if moved && turns < TURNS_MAX => Self::Up(turns + 1),
            Self::Up(_) | Self::Over => Self::Over,
        }
    }
}

impl WorkflowExecution {
    /// A turn of the wheel, if the element may be out of sight.
    pub(super) fn seeks(
        &mut self,
        unresolved: &UnresolvedElement,
        view: &WindowView,
    ) -> Option<NextWindowStep> {
        let notches = self.seeking.notches().filter(|_| unresolved.absent)?;
        let place = wheel(view)?;
        self.proposed = Some(PendingProposal::Scroll);
        let arguments = [("id", Value::from(place.to_string())), ("down", Value::from(notches))];
        let arguments = Map::from_iter(arguments.map(|(name, value)| (name.to_owned(), value)));
        let action =
            ProposedAction { function: SCROLL.to_owned(), arguments, expect: None, carries: Vec::new() };
        Some(NextWindowStep::Act(WorkflowCalls::one(action, "what the step is aimed at may be out of sight")))
    }

    /// Takes in what came of a turn.
    pub(super) fn scrolled(&mut self, info: &ActionCommandInfo) {
        let moved = info.result.is_success() && info.result.effect == Some(Verdict::Seen);
        self.seeking = self.seeking.after(moved);
    }
}

/// Finds the element over which the wheel is turned: a vertical scroll bar, or a page beside which something is
/// out of sight. Other controls are never used, since some of them take the wheel for a new value.
fn wheel(view: &WindowView) -> Option<ElementId> {
    let front = view.surfaces.iter().rposition(Surface::is_modal).unwrap_or(0);
    view.surfaces.iter().skip(front).rev().find_map(|surface| wheel_in(&surface.tree.elements))
}

fn wheel_in(elements: &[Element]) -> Option<ElementId> {
    let is_shown = |element: &Element| element.states.has(State::Showing);
    let places = elements.iter().enumerate().filter(|(_, element)| is_shown(element));
    let mut places = places.filter_map(|(at, element)| {
        let area = match () {
            () if element.role == Role::DOCUMENT_WEB => at,
            () if is_vertical_bar(element) => parent(elements, at)?,
            () => return None,
        };
        hides_something(elements, area).then_some(element.id)
    });
    places.next()
}

fn is_vertical_bar(element: &Element) -> bool {
    let is_upright = element.bounds.is_some_and(|bounds| bounds.height > bounds.width);
    element.role == Role::SCROLL_BAR && is_upright && element.states.has(State::Enabled)
}

fn parent(elements: &[Element], at: usize) -> Option<usize> {
    let depth = elements.get(at)?.depth;
    (0..at).rev().find(|above| elements.get(*above).is_some_and(|above| above.depth < depth))
}

/// Returns `true` if a container in an area has children that are not listed. Rows and paragraphs are content, and menus are closed.
fn hides_something(elements: &[Element], area: usize) -> bool {
    let depth_of = |at: usize| elements.get(at).map_or(0, |element| element.depth);
    let inside = (area..elements.len()).take_while(|at| *at == area || depth_of(*at) > depth_of(area));
    let mut inside = inside.filter_map(|at| Some((at, elements.get(at)?)));
    inside.any(|(at, element)| {
        let below = (at + 1..elements.len()).take_while(|child| depth_of(*child) > element.depth);
        let listed = below.filter(|child| depth_of(*child) == element.depth + 1).count();
        is_container(&element.role) && usize::try_from(element.child_count).is_ok_and(|all| all > listed)
    })
}

fn is_container(role: &Role) -> bool {
    let holds_content = [Role::TABLE, Role::LIST, Role::TREE, Role::MENU_BAR].contains(role);
    let is_text = role.name().starts_with("document") && *role != Role::DOCUMENT_WEB;
    !role.is_interactive() && !role.is_row_or_cell() && !holds_content && !is_text
}

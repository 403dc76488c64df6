//! Pop-ups as applications report them, where the display does not: on Wayland.
//!
//! Most are top-level objects of their own: context menus, lists of boxes, tool tips. The menus of a menu bar are not; they are open exactly
//! while they are selected, and reach over their items. Popovers that are drawn inside their window are no windows anywhere.

use std::time::Duration;

use deskhand_ui::{
    Role, State,
    geometry::{Rect, Screen},
};

use super::{
    accessibility::Accessibility,
    application::{Application, AtspiFrameCriteria},
    bus::{ACCESSIBLE, Bus, CallResult, pipelined},
    component::extents,
    details::read_states,
    mirror::WalkSource,
    shift::Shift,
    wire::{self, ObjectRef},
};

/// An application that takes longer to answer has none.
const ANSWER_BOUND: Duration = Duration::from_millis(300);
/// The most menus and items that are looked at.
const MENUS_MAX: usize = 64;
const ITEMS_MAX: usize = 200;
/// The most menus that are open one inside the other.
const NESTED_MAX: usize = 5;

/// A pop-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PopUp {
    /// Its object, or the menu whose items it shows.
    pub(crate) object: ObjectRef,
    /// Its bounds, which the application may report wrongly: see [`is_placed`](Self::is_placed).
    pub(crate) bounds: Rect<Screen>,
    /// Its bounds are correct. GTK 3 reports those of a pop-up with an accessible of its own relative to the widget that opened it, without
    /// naming that widget.
    pub(crate) is_placed: bool,
    /// `true` if it is a tooltip.
    pub(crate) is_tip: bool,
}

impl Accessibility {
    /// The pop-ups of the application of a window, as it reports them: bottom-most first, as far as that is known.
    pub(crate) async fn pop_ups(&self, window: &AtspiFrameCriteria) -> Vec<PopUp> {
        let bus = &self.shared.bus.until_at_most(ANSWER_BOUND);
        let Ok(Ok(Some((application, frame, true)))) = self.frame_of(bus, window, WalkSource::Mirror).await
        else {
            return Vec::new();
        };
        let find = async {
            let shift = application.frame_shift(extents(bus, &frame).await?, window.bounds, window.kind);
            let (mut found, apart) = tokio::try_join!(
                self.open_menus(bus, &application, shift),
                apart(bus, &application, &frame, shift)
            )?;
            found.extend(apart);
            CallResult::Ok(found)
        };
        // One that closes in this moment is none.
        find.await.unwrap_or_default()
    }

    /// The open menus of menu bars that were read.
    async fn open_menus(
        &self,
        bus: &Bus,
        application: &Application,
        mut shift: Shift,
    ) -> CallResult<Vec<PopUp>> {
        if !application.toolkit.selects_open_menus {
            return Ok(Vec::new());
        }
        let menus = self.with_mirror(|mirror| {
            mirror.find(&application.root.bus).map(|store| store.menus_in_bars(MENUS_MAX)).unwrap_or_default()
        });
        let mut found = Vec::new();
        let mut open = selected(bus, menus).await?;
        for _ in 0..NESTED_MAX {
            let Some(menu) = open else { break };
            let mut items = bus.children(&menu).await?;
            items.truncate(ITEMS_MAX);
            let read = pipelined(items.clone(), |item| async move {
                tokio::try_join!(read_states(bus, &item), extents(bus, &item))
            })
            .await;
            let read = read.into_iter().filter_map(Result::ok);
            let shown = read.filter(|(states, _)| application.toolkit.shows(*states, Some(&Role::MENU)));
            let areas = shown.filter_map(|(_, area)| area).filter(|area| !area.is_empty());
            let Some(area) = areas.reduce(|all, area| all.enclosing(&area)) else { break };
            shift = application.toolkit.pop_up_shift(&Role::MENU_ITEM, &Role::MENU, shift);
            found.push(PopUp { object: menu, bounds: shift.apply(area), is_placed: true, is_tip: false });
            open = selected(bus, items).await?;
        }
        Ok(found)
    }
}

/// The menu among these objects that is open.
async fn selected(bus: &Bus, objects: Vec<ObjectRef>) -> CallResult<Option<ObjectRef>> {
    let read = pipelined(objects, |object| async move {
        let states = read_states(bus, &object).await?;
        if !states.has(State::Selected) {
            return Ok(None);
        }
        let role = wire::role(bus.call(&object, ACCESSIBLE, "GetRole", &()).await?);
        CallResult::Ok((role == Role::MENU).then_some(object))
    })
    .await;
    Ok(read.into_iter().filter_map(Result::ok).flatten().next())
}

/// The top-level objects that are pop-ups.
async fn apart(
    bus: &Bus,
    application: &Application,
    frame: &ObjectRef,
    shift: Shift,
) -> CallResult<Vec<PopUp>> {
    let mut objects = bus.children(&application.root).await?;
    objects.truncate(ITEMS_MAX);
    let read = pipelined(objects.into_iter().filter(|object| object != frame), |object| async move {
        let role = wire::role(bus.call(&object, ACCESSIBLE, "GetRole", &()).await?);
        let is_tip = role.name() == "tool tip";
        if !is_tip && ![Role::WINDOW, Role::MENU, Role::POPUP_MENU].contains(&role) {
            return Ok(None);
        }
        let (states, area) = tokio::try_join!(read_states(bus, &object), extents(bus, &object))?;
        let shows = application.toolkit.shows(states, None);
        let area = area.filter(|area| shows && !area.is_empty());
        CallResult::Ok(area.map(|area| PopUp { object, bounds: shift.apply(area), is_placed: false, is_tip }))
    })
    .await;
    Ok(read.into_iter().filter_map(Result::ok).flatten().collect())
}

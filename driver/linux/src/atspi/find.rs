//! Single elements: one read again, its children, its text, the one at a point.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use deskhand_ui::{
    Element, Role, State,
    geometry::{Point, Rect, Screen},
    ids::ElementId,
};

use super::{
    accessibility::Accessibility,
    application::{Application, AtspiFrameCriteria},
    bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, gone, pipelined},
    component::{extents, object_at},
    details::{read_states_of, read_text},
    mirror::WalkSource,
    recycled::{row_at, rows_in_view},
    shift::Shift,
    wire::{self, ObjectRef},
};
use deskhand_desktop::{DesktopError, DesktopResult, TreeLimits};

/// The longest path from an element to its window.
const DEPTH_MAX: usize = 100;

/// Maximum time for a new object to get a place. GTK gives it one with the next frame that it draws.
const PLACED_BOUND: Duration = Duration::from_millis(100);

/// An object on the way down to a point.
struct HitTestObject {
    object: ObjectRef,
    reported: Option<Rect<Screen>>,
    shift: Shift,
    /// `true` if nothing inside it can be visible: a closed menu.
    closed: bool,
}

/// The next object on the way down, and the objects beside it that have no place yet although they are to be seen.
#[derive(Default)]
struct HitTestStep {
    spot: Option<HitTestObject>,
    unplaced: Vec<ObjectRef>,
}

impl Accessibility {
    /// One element, read again from the application.
    pub(crate) async fn element(&self, id: ElementId) -> DesktopResult<Element> {
        let known = self.known(id)?;
        let application = self.owner(id, &known.object)?;
        let read = self.read_element(&self.shared.bus, &application, &known.object, known.shift).await;
        let element = read.map_err(|error| self.error("read an element", id, error))?;
        // Chromium answers for an object that it has removed.
        if element.states.has(State::Defunct) && element.role.name() == "invalid" {
            return Err(DesktopError::NoElement(id));
        }
        Ok(element)
    }

    /// The children of an element, visible or not.
    pub(crate) async fn children(&self, id: ElementId, max: usize) -> DesktopResult<Vec<Element>> {
        const OPERATION: &str = "list children";
        let known = self.known(id)?;
        let application = self.owner(id, &known.object)?;
        let bus = &self.shared.bus;
        let listing = async {
            let count = bus.child_count(&known.object).await?;
            let role = wire::role(bus.call(&known.object, ACCESSIBLE, "GetRole", &()).await?);
            let is_virtual = count > TreeLimits::default().children_max;
            if is_virtual && !application.toolkit.has_rows_by_place(&role, count) {
                return Ok(Err(count));
            }
            let mut objects = if count == 0 {
                Vec::new()
            } else {
                bus.safe_children(&known.object, &role, application.toolkit).await?
            };
            let parent = extents(bus, &known.object).await?;
            if is_virtual {
                objects = rows_in_view(bus, &known.object, objects, parent).await?;
            }
            objects.truncate(max);
            let (this, application, role) = (self, &application, &role);
            let read = pipelined(objects, |object| async move {
                match this.read_child(bus, application, &object, (role, known.shift, parent)).await {
                    Err(AtspiCallError::NoObject) => Ok(None),
                    other => other.map(Some),
                }
            })
            .await;
            read.into_iter().filter_map(Result::transpose).collect::<CallResult<Vec<_>>>().map(Ok)
        };
        let listed = listing.await.map_err(|error| self.error(OPERATION, id, error))?;
        listed.map_err(|count| {
            let reason = format!("{id} has {count} children, too many to list; read its cells instead");
            DesktopError::failed(OPERATION, reason)
        })
    }

    async fn read_child(
        &self,
        bus: &Bus,
        application: &Application,
        object: &ObjectRef,
        (parent_role, parent_shift, parent): (&Role, Shift, Option<Rect<Screen>>),
    ) -> CallResult<Element> {
        let (role, reported) =
            tokio::try_join!(bus.call::<_, u32>(object, ACCESSIBLE, "GetRole", &()), extents(bus, object))?;
        let shift = application.shift((&wire::role(role), parent_role), reported, parent_shift, parent);
        self.read_element(bus, application, object, shift).await
    }

    /// The deepest element of a window at a point of the screen, by the corrected extents of the showing elements.
    /// Only virtual tables are asked for the object at the point.
    pub(crate) async fn element_at(
        &self,
        window: &AtspiFrameCriteria,
        point: Point<Screen>,
    ) -> DesktopResult<Option<Element>> {
        const OPERATION: &str = "find the element at a point";
        let bus = &self.shared.bus;
        let failed = |error: AtspiCallError| error.into_desktop(OPERATION, &window.title, gone);
        let found = self.frame_of(bus, window, WalkSource::Mirror).await?.map_err(failed)?;
        let Some((application, frame, _)) = found else {
            return Ok(None);
        };
        let finding = async {
            let reported = extents(bus, &frame).await?;
            let shift = application.frame_shift(reported, window.bounds, window.kind);
            let mut spot = HitTestObject { object: frame, reported, shift, closed: false };
            for _ in 0..DEPTH_MAX {
                match self.next_spot(&application, &spot, point).await? {
                    Some(next) => spot = next,
                    None => break,
                }
            }
            self.read_element(bus, &application, &spot.object, spot.shift).await.map(Some)
        };
        match finding.await {
            // It was removed in the meantime.
            Err(AtspiCallError::NoObject) => Ok(None),
            other => other.map_err(failed),
        }
    }

    /// The child of an object at a point. One that has just come may cover it as soon as it has a place, which is waited for.
    async fn next_spot(
        &self,
        application: &Application,
        spot: &HitTestObject,
        point: Point<Screen>,
    ) -> CallResult<Option<HitTestObject>> {
        let bus = &self.shared.bus;
        let began = Instant::now();
        loop {
            let next = next_spot(bus, application, spot, point).await?;
            let comes = began.elapsed() < PLACED_BOUND
                && began.checked_sub(PLACED_BOUND).is_some_and(|known| {
                    let parts = application.toolkit.drawn_parts();
                    self.with_mirror(|mirror| {
                        let store = mirror.store(&application.root.bus, parts);
                        next.unplaced.iter().any(|object| store.is_newer(object, known))
                    })
                });
            if !comes {
                return Ok(next.spot);
            }
        }
    }

    /// Returns the maximum delay between drawing in a window and its announcement.
    pub(crate) async fn announces_after(&self, window: &AtspiFrameCriteria) -> DesktopResult<Duration> {
        let found = self.frame_of(&self.shared.bus, window, WalkSource::Mirror).await?;
        let application = found.ok().flatten().map(|(application, _, _)| application);
        Ok(application.map(|application| application.toolkit.announces_after).unwrap_or_default())
    }

    /// Returns `true` if an element is `ancestor` or a descendant of it.
    pub(crate) async fn is_within(&self, id: ElementId, ancestor: ElementId) -> DesktopResult<bool> {
        let (known, wanted) = (self.known(id)?, self.known(ancestor)?);
        let is_within = self.leads_up_to(&known.object, &wanted.object).await;
        is_within.map_err(|error| self.error("find the parent", id, error))
    }

    /// The element that was last announced to have the focus, if it still has it and is in this window.
    pub(crate) async fn known_focus(&self, window: &AtspiFrameCriteria) -> DesktopResult<Option<Element>> {
        let bus = &self.shared.bus;
        // What was announced so far has arrived by then.
        let Ok(Some((application, frame, true))) = self.frame_of(bus, window, WalkSource::Mirror).await?
        else {
            return Ok(None);
        };
        let last = self.shared.last_focus.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(object) = last.filter(|object| object.bus == application.root.bus) else { return Ok(None) };
        let Some(id) = self.find_id(&object) else { return Ok(None) };
        if !self.leads_up_to(&object, &frame).await.unwrap_or(false) {
            return Ok(None);
        }
        // A container that has the focus may have a part that has it, too.
        let is_innermost = |element: &Element| element.child_count == 0 || element.role == Role::TABLE_CELL;
        let has_it = |element: &Element| element.states.has(State::Focused) && is_innermost(element);
        Ok(self.element(id).await.ok().filter(has_it))
    }

    /// Returns `true` if an object is `ancestor` or a descendant of it.
    async fn leads_up_to(&self, object: &ObjectRef, ancestor: &ObjectRef) -> CallResult<bool> {
        let mut object = object.clone();
        for _ in 0..DEPTH_MAX {
            if object == *ancestor {
                return Ok(true);
            }
            let listed = || {
                self.with_mirror(|mirror| mirror.find(&object.bus).and_then(|store| store.parent(&object)))
            };
            match self.shared.bus.parent(&object).await?.or_else(listed) {
                Some(parent) => object = parent,
                None => break,
            }
        }
        Ok(false)
    }

    /// The text of an element.
    pub(crate) async fn text(&self, id: ElementId, max: usize) -> DesktopResult<String> {
        let known = self.known(id)?;
        let text = read_text(&self.shared.bus, &known.object, max).await;
        text.map_err(|error| self.error("read text", id, error))
    }
}

/// The child of an object at a point. Of several the last one, because it is drawn on top.
async fn next_spot(
    bus: &Bus,
    application: &Application,
    spot: &HitTestObject,
    point: Point<Screen>,
) -> CallResult<HitTestStep> {
    let (count, role) = tokio::try_join!(
        bus.child_count(&spot.object),
        bus.call::<_, u32>(&spot.object, ACCESSIBLE, "GetRole", &())
    )?;
    if count > TreeLimits::default().children_max {
        let Point { x, y, .. } = spot.shift.undo(point);
        let cell = object_at(bus, &spot.object, x, y).await?;
        let spot =
            cell.map(|object| HitTestObject { object, reported: None, shift: spot.shift, closed: false });
        return Ok(HitTestStep { spot, unplaced: Vec::new() });
    }
    if count == 0 || spot.closed {
        return Ok(HitTestStep::default());
    }
    let parent_role = &wire::role(role);
    let children = bus.safe_children(&spot.object, parent_role, application.toolkit).await?;
    let read = pipelined(children, |object| async move {
        let (states, role, reported) = tokio::try_join!(
            read_states_of(bus, &object, application.toolkit),
            bus.call::<_, u32>(&object, ACCESSIBLE, "GetRole", &()),
            extents(bus, &object),
        )?;
        let role = wire::role(role);
        if !application.toolkit.shows(states, Some(parent_role))
            || application.toolkit.is_out_of_view((&role, states), Some(parent_role), reported)
            || application.toolkit.is_repetition(&role, reported)
        {
            let has_none_yet = application.toolkit.places_with_next_frame && reported.is_none();
            let comes = has_none_yet && states.has(State::Visible) && !states.has(State::Showing);
            return Ok((None, comes.then_some(object)));
        }
        let shift = application.shift((&role, parent_role), reported, spot.shift, spot.reported);
        let covers =
            reported.is_some_and(|extents| shift.is_known() && shift.apply(extents).contains(&point));
        let closed = application.toolkit.is_closed(&role, states, Some(parent_role));
        Ok((covers.then_some(HitTestObject { object, reported, shift, closed }), None))
    })
    .await;
    let mut next = HitTestStep::default();
    let mut several = Vec::new();
    for child in read {
        match child {
            Ok((covers, comes)) => {
                several.extend(covers);
                next.unplaced.extend(comes);
            }
            Err(AtspiCallError::NoObject) => {}
            Err(error) => return Err(error),
        }
    }
    let recycles = application.toolkit.recycles(parent_role);
    if (recycles && !several.is_empty()) || (application.toolkit.covers_unseen && several.len() > 1) {
        let Point { x, y, .. } = spot.shift.undo(point);
        let drawn = row_at(bus, &spot.object, (x, y)).await?;
        if let Some(drawn) = drawn.filter(|drawn| recycles || several.iter().any(|one| one.object == *drawn))
        {
            several.retain(|one| one.object == drawn);
        }
    }
    next.spot = several.pop();
    Ok(next)
}

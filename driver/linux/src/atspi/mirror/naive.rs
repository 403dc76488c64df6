//! A plain walk as a baseline: one call after the other, object by object.

use deskhand_ui::ElementCapability;

use super::{
    super::{
        accessibility::Accessibility,
        act::action_names,
        application::AtspiFrameCriteria,
        bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, gone},
        component::extents,
        details::{read_states, read_text},
        quirks::AtspiToolkit,
        wire::{self, ObjectRef},
    },
    look::WalkSource,
};
use deskhand_desktop::DesktopResult;

/// The most text of one object.
const TEXT_MAX: usize = 500;
/// The most objects that are visited.
const VISITS_MAX: usize = 50_000;

impl Accessibility {
    /// Visits the showing objects of a window and returns how many there are.
    pub(crate) async fn naive_walk(
        &self,
        window: &AtspiFrameCriteria,
        children_max: u32,
    ) -> DesktopResult<usize> {
        let bus = &self.shared.bus;
        let Ok(Some((application, frame, _))) = self.frame_of(bus, window, WalkSource::Fresh).await? else {
            return Ok(0);
        };
        let mut count = 0;
        let mut open = vec![frame];
        for _ in 0..VISITS_MAX {
            let Some(object) = open.pop() else { break };
            match visit(bus, application.toolkit, &object, count == 0, children_max).await {
                Ok(Some(children)) => {
                    count += 1;
                    open.extend(children.into_iter().rev());
                }
                Ok(None) => {}
                Err(AtspiCallError::BusGone) => return Err(gone()),
                Err(error) => tracing::debug!(%error, "cannot read an object"),
            }
        }
        Ok(count)
    }
}

/// Reads name, role, states, extents, actions and text of an object, and returns its children; `None` if it is not
/// showing.
async fn visit(
    bus: &Bus,
    toolkit: AtspiToolkit,
    object: &ObjectRef,
    is_frame: bool,
    children_max: u32,
) -> CallResult<Option<Vec<ObjectRef>>> {
    let states = read_states(bus, object).await?;
    if !is_frame && !toolkit.shows(states, None) {
        return Ok(None);
    }
    let _: String = bus.property(object, ACCESSIBLE, "Name").await?;
    let role = wire::role(bus.call(object, ACCESSIBLE, "GetRole", &()).await?);
    let interfaces: Vec<String> = bus.call(object, ACCESSIBLE, "GetInterfaces", &()).await?;
    extents(bus, object).await?;
    let patterns = wire::patterns(&interfaces);
    if patterns.contains(&ElementCapability::Action) {
        action_names(bus, object).await?;
    }
    if patterns.contains(&ElementCapability::Text) {
        read_text(bus, object, TEXT_MAX).await?;
    }
    if bus.child_count(object).await? > children_max {
        return Ok(Some(Vec::new()));
    }
    bus.safe_children(object, &role, toolkit).await.map(Some)
}

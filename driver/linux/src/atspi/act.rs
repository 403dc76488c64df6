//! Actions through the accessibility bus. The answer of a toolkit proves nothing; callers read the result back.

use deskhand_ui::{Element, ElementCapability, Role, ids::ElementId};
use zbus::zvariant::Value;

use super::{
    accessibility::Accessibility,
    bus::{ACCESSIBLE, AtspiCallError, Bus, COMPONENT, CallResult, SELECTION, TABLE, VALUE, pipelined},
    quirks::{self, AtspiToolkit},
    text::select_text,
    wire::{self, ObjectRef, WireRef},
};
use deskhand_desktop::{DesktopError, DesktopResult, ElementAction, Quirks};

const ACTION: &str = "org.a11y.atspi.Action";
const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
/// The most selected children that are read.
const SELECTED_MAX: i32 = 20;
/// The most actions of one element that are read.
const ACTIONS_MAX: i32 = 50;

pub(crate) async fn action_names(bus: &Bus, object: &ObjectRef) -> CallResult<Vec<String>> {
    let count = match bus.property::<i32>(object, ACTION, "NActions").await {
        Ok(count) => count.min(ACTIONS_MAX),
        Err(AtspiCallError::NotOffered) => 0,
        Err(error) => return Err(error),
    };
    // `GetActions` returns translated names.
    let read =
        pipelined(0..count, |at| async move { bus.call::<_, String>(object, ACTION, "GetName", &at).await })
            .await;
    read.into_iter().collect()
}

/// The result of an action.
enum AtspiActionReply {
    /// The toolkit accepted it.
    Taken,
    /// The toolkit refused it.
    Declined,
    /// The element does not support it.
    Lacks(String),
}

impl AtspiActionReply {
    fn of(result: CallResult<bool>, needs: &str) -> CallResult<Self> {
        match result {
            Ok(true) => Ok(Self::Taken),
            Ok(false) => Ok(Self::Declined),
            Err(AtspiCallError::NotOffered) => Ok(Self::Lacks(needs.to_owned())),
            Err(error) => Err(error),
        }
    }
}

impl Accessibility {
    /// The names of the actions of an element.
    pub(crate) async fn action_names(&self, id: ElementId) -> DesktopResult<Vec<String>> {
        let known = self.known(id)?;
        let names = action_names(&self.shared.bus, &known.object).await;
        names.map_err(|error| self.error("list actions", id, error))
    }

    /// Returns the peculiarities of an element's toolkit.
    pub(crate) fn quirks(&self, id: ElementId) -> Quirks {
        self.toolkit(id).map(AtspiToolkit::quirks).unwrap_or_default()
    }

    fn toolkit(&self, id: ElementId) -> Option<AtspiToolkit> {
        let application = self.known(id).and_then(|known| self.owner(id, &known.object));
        application.ok().map(|application| application.toolkit)
    }

    /// The selected children of an element.
    pub(crate) async fn selected(&self, id: ElementId) -> DesktopResult<Vec<Element>> {
        const OPERATION: &str = "list the selected children";
        let known = self.known(id)?;
        let application = self.owner(id, &known.object)?;
        let (bus, object) = (&self.shared.bus, &known.object);
        let count = match bus.property::<i32>(object, SELECTION, "NSelectedChildren").await {
            Ok(count) => count.min(SELECTED_MAX),
            Err(AtspiCallError::NotOffered) => 0,
            Err(error) => return Err(self.error(OPERATION, id, error)),
        };
        let mut selected = Vec::new();
        for at in 0..count {
            let sent: CallResult<WireRef> = bus.call(object, SELECTION, "GetSelectedChild", &at).await;
            let child = sent.map_err(|error| self.error(OPERATION, id, error))?;
            let Some(child) = ObjectRef::from_wire(&child) else { continue };
            match self.read_element(bus, &application, &child, known.shift).await {
                Ok(element) => selected.push(element),
                Err(AtspiCallError::NoObject) => {}
                Err(error) => return Err(self.error(OPERATION, id, error)),
            }
        }
        Ok(selected)
    }

    /// Acts on an element.
    pub(crate) async fn perform(&self, id: ElementId, action: &ElementAction) -> DesktopResult<()> {
        let known = self.known(id)?;
        let (bus, object) = (&self.shared.bus, &known.object);
        let operation = match action {
            ElementAction::Default => "run the default action",
            ElementAction::Named(_) => "run an action",
            ElementAction::Focus => "focus",
            ElementAction::ScrollIntoView => "scroll into view",
            ElementAction::SetText(_) => "set the text",
            ElementAction::SetValue(_) => "set the value",
            ElementAction::MoveBar(_) => "move the scroll bar",
            ElementAction::Select => "select",
            ElementAction::SelectText { .. } => "select text",
        };
        let done = match action {
            ElementAction::Default => act_by_name(bus, object, None).await,
            ElementAction::Named(name) => act_by_name(bus, object, Some(name)).await,
            ElementAction::Focus => {
                AtspiActionReply::of(bus.act(object, COMPONENT, "GrabFocus", &()).await, "the focus")
            }
            ElementAction::ScrollIntoView => {
                /// `ATSPI_SCROLL_ANYWHERE`
                const ANYWHERE: u32 = 6;
                AtspiActionReply::of(bus.act(object, COMPONENT, "ScrollTo", &ANYWHERE).await, "scrolling")
            }
            ElementAction::SetText(text) => AtspiActionReply::of(
                bus.act(object, EDITABLE_TEXT, "SetTextContents", text).await,
                &needs(ElementCapability::EditableText),
            ),
            // GTK accepts the property on any object, so the pattern is checked first.
            ElementAction::SetValue(_) if !self.element(id).await?.offers(ElementCapability::Value) => {
                Ok(AtspiActionReply::Lacks(needs(ElementCapability::Value)))
            }
            ElementAction::MoveBar(_) if !is_bar(bus, object).await.unwrap_or(false) => {
                Ok(AtspiActionReply::Lacks("a scroll bar".to_owned()))
            }
            ElementAction::SetValue(value) | ElementAction::MoveBar(value) => {
                let set = bus.set_property(object, VALUE, "CurrentValue", Value::F64(*value)).await;
                AtspiActionReply::of(set.map(|()| true), &needs(ElementCapability::Value))
            }
            ElementAction::Select => select(bus, object).await,
            ElementAction::SelectText { start, end } => {
                let toolkit = self.owner(id, object)?.toolkit;
                AtspiActionReply::of(
                    select_text(bus, object, toolkit, (*start, *end)).await,
                    &needs(ElementCapability::Text),
                )
            }
        };
        match done.map_err(|error| self.error(operation, id, error))? {
            AtspiActionReply::Taken => Ok(()),
            AtspiActionReply::Declined => Err(DesktopError::failed(operation, "the application refused")),
            AtspiActionReply::Lacks(needs) => {
                let element = match self.element(id).await {
                    Ok(element) => format!("{id} {}", element.label()),
                    Err(_) => id.to_string(),
                };
                Err(DesktopError::NotOffered { operation, element, needs })
            }
        }
    }
}

fn needs(pattern: ElementCapability) -> String {
    format!("the pattern {pattern:?}")
}

/// Runs the action with that name, or the one that a click stands for.
async fn act_by_name(bus: &Bus, object: &ObjectRef, name: Option<&str>) -> CallResult<AtspiActionReply> {
    let names = action_names(bus, object).await?;
    let found = match name {
        Some(wanted) => names.iter().position(|name| name.eq_ignore_ascii_case(wanted)),
        None => quirks::default_action(&names),
    };
    let Some(index) = found.and_then(|at| i32::try_from(at).ok()) else {
        let wanted =
            name.map_or("an action that activates it".to_owned(), |name| format!("the action `{name}`"));
        let there =
            if names.is_empty() { "it has no actions".to_owned() } else { format!("it has {names:?}") };
        return Ok(AtspiActionReply::Lacks(format!("{wanted} ({there})")));
    };
    AtspiActionReply::of(bus.act(object, ACTION, "DoAction", &index).await, &needs(ElementCapability::Action))
}

/// Selects an element in its parent.
async fn select(bus: &Bus, object: &ObjectRef) -> CallResult<AtspiActionReply> {
    let (parent, index) = tokio::try_join!(
        bus.parent(object),
        bus.call::<_, i32>(object, ACCESSIBLE, "GetIndexInParent", &()),
    )?;
    let lacks = || Ok(AtspiActionReply::Lacks("a parent that selects its children".to_owned()));
    let Some(parent) = parent.filter(|_| index >= 0) else { return lacks() };
    let by_child: CallResult<bool> = bus.act(&parent, SELECTION, "SelectChild", &index).await;
    match by_child {
        Ok(true) => return Ok(AtspiActionReply::Taken),
        Ok(false) | Err(AtspiCallError::NotOffered) => {}
        Err(error) => return Err(error),
    }
    // GTK 3 selects the rows of a list with several columns only through its table.
    let by_row = async {
        let row: i32 = bus.call(&parent, TABLE, "GetRowAtIndex", &index).await?;
        bus.act(&parent, TABLE, "AddRowSelection", &row).await
    };
    match (by_row.await, by_child) {
        (Err(AtspiCallError::NotOffered), Ok(_)) => Ok(AtspiActionReply::Declined),
        (Err(AtspiCallError::NotOffered), Err(_)) => lacks(),
        (other, _) => AtspiActionReply::of(other, ""),
    }
}

/// Returns `true` if an object is a scroll bar, or in one.
async fn is_bar(bus: &Bus, object: &ObjectRef) -> CallResult<bool> {
    let role = async |object: &ObjectRef| {
        CallResult::Ok(wire::role(bus.call(object, ACCESSIBLE, "GetRole", &()).await?))
    };
    if role(object).await? == Role::SCROLL_BAR {
        return Ok(true);
    }
    match bus.parent(object).await? {
        Some(parent) => Ok(role(&parent).await? == Role::SCROLL_BAR),
        None => Ok(false),
    }
}

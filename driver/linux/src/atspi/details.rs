//! The properties of one object.

use std::collections::HashMap;

use deskhand_ui::{
    Element, ElementCapability, ElementSource, Role, State, States, TableShape, ValueRange, clipping,
    geometry::{Rect, Screen},
    ids::ElementId,
};

use super::{
    accessibility::Accessibility,
    application::Application,
    bus::{ACCESSIBLE, AtspiCallError, Bus, CallResult, DOCUMENT, SELECTION, TABLE, TEXT, VALUE},
    component::extents,
    header::AtspiObjectHeader,
    quirks::AtspiToolkit,
    shift::Shift,
    told::read_told,
    wire::{self, ObjectRef, WireRef},
};

/// The other properties that an observation shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Details {
    pub(crate) description: String,
    pub(crate) text: Option<String>,
    pub(crate) value: Option<ValueRange>,
    pub(crate) reported: Option<Rect<Screen>>,
    pub(crate) table: Option<TableShape>,
    /// The address of a page.
    pub(crate) address: Option<String>,
    /// See [`Element::told`].
    pub(crate) told: Option<String>,
}

/// Treats an interface that is announced but missing like one that is not announced.
fn offered<T: Default>(result: CallResult<T>) -> CallResult<T> {
    match result {
        Err(AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => Ok(T::default()),
        other => other,
    }
}

/// The states of an object.
pub(crate) async fn read_states(bus: &Bus, object: &ObjectRef) -> CallResult<States> {
    let words: Vec<u32> = bus.call(object, ACCESSIBLE, "GetState", &()).await?;
    Ok(wire::states(&words))
}

/// The states of an object, completed by whether a menu is open where only its parent tells that: see `toolkits/gtk2`.
pub(crate) async fn read_states_of(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
) -> CallResult<States> {
    let states = read_states(bus, object).await?;
    if !toolkit.opens_menus_by_selection || !states.has(State::Visible) {
        return Ok(states);
    }
    if wire::role(bus.call(object, ACCESSIBLE, "GetRole", &()).await?) != Role::MENU {
        return Ok(states);
    }
    let Some(parent) = bus.parent(object).await? else { return Ok(states) };
    let selected: CallResult<WireRef> = bus.call(&parent, SELECTION, "GetSelectedChild", &0_i32).await;
    match selected {
        Ok(sent) if ObjectRef::from_wire(&sent).as_ref() == Some(object) => Ok(states.with(State::Selected)),
        Ok(_) | Err(AtspiCallError::NoObject | AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => {
            Ok(states)
        }
        Err(error) => Err(error),
    }
}

/// Reads the head of an object.
pub(crate) async fn read_head(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
    states: States,
) -> CallResult<AtspiObjectHeader> {
    let (role, interfaces, (name, description, child_count)) = tokio::try_join!(
        bus.call::<_, u32>(object, ACCESSIBLE, "GetRole", &()),
        async { offered(bus.call::<_, Vec<String>>(object, ACCESSIBLE, "GetInterfaces", &()).await) },
        read_properties(bus, object, toolkit),
    )?;
    let (role, patterns) = (wire::role(role), wire::patterns(&interfaces));
    let role = match toolkit.may_be_time(&role, states) && is_time(bus, object).await? {
        true => Role::DATE_EDITOR,
        false => role,
    };
    Ok(AtspiObjectHeader { role, name, states, patterns, child_count, description })
}

/// Returns `true` if a group is a field for a time.
async fn is_time(bus: &Bus, object: &ObjectRef) -> CallResult<bool> {
    let attributes: HashMap<String, String> =
        offered(bus.call(object, ACCESSIBLE, "GetAttributes", &()).await)?;
    Ok(attributes.get("text-input-type").is_some_and(|kind| kind == "time"))
}

/// Reads the head of an object again whose role and patterns have stayed.
pub(crate) async fn read_head_again(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
    head: &AtspiObjectHeader,
) -> CallResult<AtspiObjectHeader> {
    let (name, description, child_count) = read_properties(bus, object, toolkit).await?;
    Ok(AtspiObjectHeader { name, description, child_count, ..head.clone() })
}

/// The name, description and number of children of an object.
async fn read_properties(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
) -> CallResult<(String, Option<String>, u32)> {
    if !toolkit.has_get_all {
        let (name, child_count) = tokio::try_join!(
            async { offered(bus.property::<String>(object, ACCESSIBLE, "Name").await) },
            async { offered(bus.child_count(object).await) },
        )?;
        return Ok((clipping::name(name), None, child_count));
    }
    let mut properties = offered(bus.properties(object, ACCESSIBLE).await)?;
    let mut text = |name: &str| properties.remove(name).and_then(|value| String::try_from(value).ok());
    let (name, description) = (text("Name"), text("Description"));
    let child_count = properties
        .remove("ChildCount")
        .and_then(|value| i32::try_from(value).ok())
        .and_then(|count| u32::try_from(count).ok());
    let (name, description) = (name.unwrap_or_default(), description.unwrap_or_default());
    Ok((clipping::name(name), Some(clipping::name(description)), child_count.unwrap_or_default()))
}

/// Reads all other properties that an observation shows, without the extents if `reported` has them.
pub(crate) async fn read_details(
    bus: &Bus,
    object: &ObjectRef,
    toolkit: AtspiToolkit,
    head: &AtspiObjectHeader,
    reported: Option<Option<Rect<Screen>>>,
) -> CallResult<Details> {
    let has = |pattern: ElementCapability| head.patterns.contains(&pattern);
    let (description, text, value, reported, table, address, chosen) = tokio::try_join!(
        async {
            match &head.description {
                Some(description) => Ok(description.clone()),
                None => offered(bus.property::<String>(object, ACCESSIBLE, "Description").await)
                    .map(clipping::name),
            }
        },
        async {
            if has(ElementCapability::Text) && head.role != Role::PASSWORD_TEXT {
                let text = offered(read_text(bus, object, Element::TEXT_MAX).await)?;
                return Ok((!text.is_empty() && text != head.name).then_some(text));
            }
            Ok(None)
        },
        async {
            if has(ElementCapability::Value)
                && (shows_value(&head.role) || toolkit.has_bar_inside(&head.role))
            {
                return offered(read_value(bus, object).await.map(Some));
            }
            Ok(None)
        },
        async {
            match reported {
                Some(reported) => Ok(reported),
                None => offered(extents(bus, object).await),
            }
        },
        async {
            if has(ElementCapability::Table) {
                offered(read_shape(bus, object).await.map(Some))
            } else {
                Ok(None)
            }
        },
        async {
            let tells = head.role == Role::DOCUMENT_WEB && toolkit.tells_addresses;
            if tells { offered(read_address(bus, object).await) } else { Ok(None) }
        },
        async {
            let tells = toolkit.tells_choice_by_selection(&head.role);
            if tells { Box::pin(read_chosen(bus, object)).await } else { Ok(None) }
        },
    )?;
    let text = text.or_else(|| chosen.filter(|chosen| *chosen != head.name));
    let told = Box::pin(read_told(bus, object, toolkit, head, text.as_deref())).await?;
    Ok(Details { description, text, value, reported, table, address, told })
}

/// Reads the choice in a list to choose from: the name of the option that is selected in the list inside it.
async fn read_chosen(bus: &Bus, object: &ObjectRef) -> CallResult<Option<String>> {
    let reading = async {
        let list: WireRef = bus.call(object, ACCESSIBLE, "GetChildAtIndex", &0_i32).await?;
        let list = ObjectRef::from_wire(&list).ok_or(AtspiCallError::NoObject)?;
        let option: WireRef = bus.call(&list, SELECTION, "GetSelectedChild", &0_i32).await?;
        let option = ObjectRef::from_wire(&option).ok_or(AtspiCallError::NoObject)?;
        bus.property::<String>(&option, ACCESSIBLE, "Name").await
    };
    match reading.await {
        Ok(name) => Ok(Some(clipping::name(name)).filter(|name| !name.is_empty())),
        Err(AtspiCallError::NoObject | AtspiCallError::NotOffered | AtspiCallError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns `true` if the value of a control with this role is a quantity that is shown.
fn shows_value(role: &Role) -> bool {
    const NAMES: [&str; 7] =
        ["slider", "spin button", "progress bar", "scroll bar", "level bar", "dial", "rating"];
    NAMES.contains(&role.name())
}

/// Stands for an embedded object in a text.
pub(super) const EMBEDDED: char = '\u{fffc}';

/// Stands for a character of a text that Qt counts and does not show, which is that of a field for passwords. Other toolkits show one
/// like it.
const HIDDEN: &str = "•";

/// The text of an object, at most `max` characters. Embedded objects are left out.
pub(crate) async fn read_text(bus: &Bus, object: &ObjectRef, max: usize) -> CallResult<String> {
    let end = i32::try_from(max).unwrap_or(i32::MAX);
    let count: i32 = bus.property(object, TEXT, "CharacterCount").await?;
    if count == 0 {
        return Ok(String::new());
    }
    // Some toolkits do not report the number of characters.
    let end = if count > 0 { end.min(count) } else { end };
    let text: String = bus.call(object, TEXT, "GetText", &(0_i32, end)).await?;
    if text.is_empty() && count > 0 {
        return Ok(HIDDEN.repeat(usize::try_from(end).unwrap_or(max)));
    }
    Ok(text.chars().filter(|letter| *letter != EMBEDDED).take(max).collect())
}

async fn read_value(bus: &Bus, object: &ObjectRef) -> CallResult<ValueRange> {
    let (current, minimum, maximum, increment) = tokio::try_join!(
        bus.property::<f64>(object, VALUE, "CurrentValue"),
        bus.property::<f64>(object, VALUE, "MinimumValue"),
        bus.property::<f64>(object, VALUE, "MaximumValue"),
        async { offered(bus.property::<f64>(object, VALUE, "MinimumIncrement").await) },
    )?;
    Ok(ValueRange { current, minimum, maximum, increment })
}

/// The address of a page, under the names that Gecko and that Chromium and WebKit use.
async fn read_address(bus: &Bus, object: &ObjectRef) -> CallResult<Option<String>> {
    let mut attributes: HashMap<String, String> = bus.call(object, DOCUMENT, "GetAttributes", &()).await?;
    let address = ["DocURL", "URI", "URL"].into_iter().find_map(|name| attributes.remove(name));
    Ok(address.filter(|address| !address.is_empty()).map(clipping::name))
}

/// The size of a table.
pub(crate) async fn read_shape(bus: &Bus, object: &ObjectRef) -> CallResult<TableShape> {
    let (rows, columns) = tokio::try_join!(
        bus.property::<i32>(object, TABLE, "NRows"),
        bus.property::<i32>(object, TABLE, "NColumns"),
    )?;
    let side = |count: i32| u32::try_from(count).unwrap_or(0);
    Ok(TableShape { rows: side(rows), columns: side(columns) })
}

impl Accessibility {
    /// Builds an element from what was read of an object, and the role of the element that it is in. The caller assigns its id.
    pub(crate) fn to_element(
        &self,
        toolkit: AtspiToolkit,
        shift: Shift,
        (depth, parent): (u16, Option<&Role>),
        head: AtspiObjectHeader,
        details: Details,
    ) -> Element {
        let states = toolkit.completed((&head.role, head.states), parent, details.reported);
        let head = AtspiObjectHeader { states, ..head };
        // Some menus pad the names of their items. Those of icon views may have a text and no name.
        let (name, text) = match (toolkit.given_name(&head.role, head.name.trim()), details.text) {
            ("", Some(text)) if head.role == Role::ICON => (clipping::name(text), None),
            (name, text) => (name.to_owned(), text),
        };
        let bounds = details
            .reported
            .filter(|reported| !reported.is_empty())
            .filter(|_| shift.is_known())
            .map(|reported| shift.apply(reported))
            .filter(|bounds| bounds.intersection(&self.shared.screen).is_some());
        Element {
            id: ElementId(0),
            depth,
            role: head.role,
            name,
            description: toolkit.told_of(head.name.trim(), details.description),
            text,
            value: details.value,
            states: head.states,
            bounds,
            patterns: head.patterns,
            child_count: head.child_count,
            table: details.table,
            address: details.address,
            told: details.told,
            source: ElementSource::AtSpi,
            instead_of: None,
        }
    }

    /// Reads all properties of one object.
    pub(crate) async fn read_element(
        &self,
        bus: &Bus,
        application: &Application,
        object: &ObjectRef,
        shift: Shift,
    ) -> CallResult<Element> {
        let states = read_states_of(bus, object, application.toolkit).await?;
        let head = read_head(bus, object, application.toolkit, states).await?;
        let details = read_details(bus, object, application.toolkit, &head, None).await?;
        let parent = match application.toolkit.shows_by_parent(states) {
            true => open_parent(bus, object, application.toolkit).await?,
            false => None,
        };
        let mut element = self.to_element(application.toolkit, shift, (0, parent.as_ref()), head, details);
        if is_selected_with_parent(bus, object, (application.toolkit, &element.role)).await? {
            element.states = element.states.with(State::Selected);
        }
        Ok(Element { id: self.with_ids(|ids| ids.id_of(object, shift)), ..element })
    }
}

/// Returns `true` if an object with this role is selected because the one around it is.
async fn is_selected_with_parent(
    bus: &Bus,
    object: &ObjectRef,
    (toolkit, role): (AtspiToolkit, &Role),
) -> CallResult<bool> {
    if !toolkit.is_selected_with(role, &Role::TABLE_CELL) {
        return Ok(false);
    }
    let Some(parent) = bus.parent(object).await? else { return Ok(false) };
    let (states, around) =
        tokio::try_join!(read_states(bus, &parent), bus.call::<_, u32>(&parent, ACCESSIBLE, "GetRole", &()))?;
    Ok(states.has(State::Selected) && toolkit.is_selected_with(role, &wire::role(around)))
}

/// The role of the element that an object is in, unless that is a menu which is closed.
async fn open_parent(bus: &Bus, object: &ObjectRef, toolkit: AtspiToolkit) -> CallResult<Option<Role>> {
    let Some(parent) = bus.parent(object).await? else { return Ok(None) };
    let (states, role) = tokio::try_join!(
        read_states_of(bus, &parent, toolkit),
        bus.call::<_, u32>(&parent, ACCESSIBLE, "GetRole", &())
    )?;
    let role = wire::role(role);
    Ok(Some(role).filter(|role| !toolkit.is_closed(role, states, Some(&Role::MENU_BAR))))
}

//! Receives what applications announce on the accessibility bus.
//!
//! Registering for events comes first of all: some toolkits build no cache and announce nothing before. One task
//! reads the events. It makes no calls, so it can never hang.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
};

use futures_util::StreamExt as _;
use tokio::sync::{mpsc, oneshot};
use zbus::{
    MatchRule, Message, MessageStream,
    message::Type,
    zvariant::{ObjectPath, Value},
};

use super::{
    application::Application,
    bus::{AtspiCallError, Bus, CallResult, REGISTRY, gone, pipelined},
    event::{Announcement, AtspiEvent},
    mirror,
    shared::AtspiSharedState,
    wire::{ObjectRef, ROOT_PATH},
};
use deskhand_desktop::{DesktopError, DesktopResult, ElementChangeKind};

/// The most messages that may queue up.
const QUEUE_MAX: usize = 8_192;

/// The events to register for. Of the property changes only those that elements show.
const EVENTS: [&str; 21] = [
    "object:state-changed",
    "object:children-changed",
    "object:property-change:accessible-name",
    "object:property-change:accessible-description",
    "object:property-change:accessible-value",
    "object:text-changed",
    "object:text-selection-changed",
    "object:selection-changed",
    "object:active-descendant-changed",
    "object:model-changed",
    "object:row-inserted",
    "object:row-deleted",
    "object:row-reordered",
    "object:column-inserted",
    "object:column-deleted",
    "object:column-reordered",
    "object:bounds-changed",
    "object:visible-data-changed",
    "object:announcement",
    "document:load-complete",
    "window",
];

/// The signals about objects, without changes of properties: `org.a11y.atspi.Event.Object` of the specification.
const MEMBERS: [&str; 21] = [
    "StateChanged",
    "ChildrenChanged",
    "TextChanged",
    "TextSelectionChanged",
    "TextAttributesChanged",
    "TextBoundsChanged",
    "TextCaretMoved",
    "SelectionChanged",
    "ActiveDescendantChanged",
    "AttributesChanged",
    "ModelChanged",
    "RowInserted",
    "RowDeleted",
    "RowReordered",
    "ColumnInserted",
    "ColumnDeleted",
    "ColumnReordered",
    "BoundsChanged",
    "VisibleDataChanged",
    "LinkSelected",
    "Announcement",
];

/// The interface of the signals about objects.
const OBJECT: &str = "org.a11y.atspi.Event.Object";

/// The properties whose changes are delivered from every application. `at-spi2-atk` also sends those of the role and the parent,
/// unasked, for everything that is added or removed: a quarter of what LibreOffice announces.
const PROPERTIES: [&str; 3] = ["accessible-name", "accessible-description", "accessible-value"];

/// Returns the rules for the messages that the message bus is to deliver.
fn rules() -> zbus::Result<Vec<MatchRule<'static>>> {
    let signal = || MatchRule::builder().msg_type(Type::Signal);
    let mut rules = vec![
        signal().interface("org.a11y.atspi.Event.Window")?.build(),
        signal().interface("org.a11y.atspi.Event.Document")?.build(),
        signal().sender("org.freedesktop.DBus")?.member("NameOwnerChanged")?.build(),
    ];
    for member in MEMBERS {
        rules.push(signal().interface(OBJECT)?.member(member)?.build());
    }
    for property in PROPERTIES {
        rules.push(signal().interface(OBJECT)?.member("PropertyChange")?.add_arg(property)?.build());
    }
    Ok(rules)
}

/// Registers for events and returns the stream on which they arrive, in the order in which they were sent.
pub(crate) async fn subscribe(bus: &Bus) -> DesktopResult<MessageStream> {
    let mut connection = bus.connection().clone();
    connection.set_max_queued(QUEUE_MAX);
    let stream = MessageStream::from(&connection);
    deliver(bus, rules()).await.map_err(|error| DesktopError::Start {
        what: format!("cannot subscribe to the events of the accessibility bus ({error})"),
        fix: "check that at-spi2-core is installed".to_owned(),
    })?;
    let registry = ObjectRef::new(REGISTRY, "/org/a11y/atspi/registry");
    let no_properties: Vec<String> = Vec::new();
    for event in EVENTS {
        // Older registries accept only the event.
        let body = (event, &no_properties, "");
        let result: Result<(), _> = bus.call(&registry, REGISTRY, "RegisterEvent", &body).await;
        if result.is_err() {
            let older: Result<(), _> = bus.call(&registry, REGISTRY, "RegisterEvent", &(event)).await;
            older.map_err(|error| error.into_desktop("register for events", event, gone))?;
        }
    }
    Ok(stream)
}

/// Asks for the changes of roles in one application as well, as of a password that is made visible, if it has any. The message
/// bus forgets that when the application leaves.
pub(crate) async fn deliver_roles(bus: &Bus, application: &Application) -> CallResult<()> {
    if application.toolkit.changes_roles {
        deliver(bus, role_rules(application)).await?;
    }
    Ok(())
}

fn role_rules(application: &Application) -> zbus::Result<Vec<MatchRule<'_>>> {
    let signal = MatchRule::builder().msg_type(Type::Signal).sender(&*application.root.bus)?;
    Ok(vec![signal.interface(OBJECT)?.member("PropertyChange")?.add_arg("accessible-role")?.build()])
}

async fn deliver(bus: &Bus, rules: zbus::Result<Vec<MatchRule<'_>>>) -> CallResult<()> {
    let rules: Vec<String> =
        rules.map_err(AtspiCallError::Refused)?.iter().map(MatchRule::to_string).collect();
    let asked = pipelined(rules, |rule| async move { bus.ask_daemon("AddMatch", &rule).await });
    asked.await.into_iter().collect()
}

/// Reads events until the bus ends. Each barrier is answered once all events before it have been processed.
pub(crate) async fn read(
    mut stream: MessageStream,
    mut barriers: mpsc::Receiver<oneshot::Sender<()>>,
    shared: Arc<AtspiSharedState>,
) {
    loop {
        let message = tokio::select! {
            biased;
            message = stream.next() => match message {
                Some(Ok(message)) => message,
                Some(Err(_)) | None => break,
            },
            Some(barrier) = barriers.recv() => {
                // The receiver is gone if the caller was cancelled.
                let _ = barrier.send(());
                continue;
            }
        };
        if let Some(announcement) = take(&message, &shared) {
            let mut mirror = shared.mirror.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(store) = mirror.find(&announcement.object.bus) {
                mirror::apply(store, &announcement);
            }
            drop(mirror);
            // Fails only without subscribers.
            let _ = shared.announcements.send(announcement);
        }
    }
    tracing::debug!("the accessibility bus ended");
    shared.bus.gone().cancel();
    shared.applications_changed.notify_one();
}

/// Updates what is remembered, and returns the announcement to forward.
fn take(message: &Message, shared: &AtspiSharedState) -> Option<Announcement> {
    if message.message_type() != Type::Signal {
        return None;
    }
    let header = message.header();
    let (interface, member) = (header.interface()?, header.member()?);
    let ids = || shared.ids.lock().unwrap_or_else(PoisonError::into_inner);
    if member == "NameOwnerChanged" {
        let (name, _, owner): (String, String, String) = message.body().deserialize().ok()?;
        if owner.is_empty() && name.starts_with(':') {
            ids().forget_application(&name);
            shared.mirror.lock().unwrap_or_else(PoisonError::into_inner).forget(&name);
            shared.applications_changed.notify_one();
        }
        return None;
    }
    let object = ObjectRef::new(header.sender()?, header.path()?);
    if shared.applications.lock().unwrap_or_else(PoisonError::into_inner).excludes(&object.bus) {
        return None;
    }
    let body = message.body();
    // Both formats begin with these two. The rest costs five times as much to read, and most events need none of it.
    let (detail, first): (&str, i32) = body
        .deserialize_unchecked()
        .inspect_err(|error| tracing::debug!(%error, "an event in an unknown format"))
        .ok()?;
    let event = AtspiEvent::parse(interface, member, detail, first)?;
    let other = if event.names_another() { other_object(message) } else { None };
    if event.is_defunct() {
        ids().forget(&object);
        let mut mirror = shared.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = mirror.find(&object.bus) {
            store.remove(&object);
        }
        return None;
    }
    let aspect = event.aspect();
    let focus = if aspect == ElementChangeKind::Focus {
        Some(&object)
    } else {
        // A table has the focus for its current cell.
        other.as_ref().filter(|_| aspect == ElementChangeKind::ActiveDescendant)
    };
    if let Some(focus) = focus {
        *shared.last_focus.lock().unwrap_or_else(PoisonError::into_inner) = Some(focus.clone());
    }
    if &*object.path == ROOT_PATH && matches!(event, AtspiEvent::ChildrenChanged | AtspiEvent::ChildRemoved) {
        shared.applications_changed.notify_one();
    }
    Some(Announcement { object, event, other })
}

/// The other object that an event names, in the current or the older format.
fn other_object(message: &Message) -> Option<ObjectRef> {
    let body = message.body();
    if let Ok((_, _, _, other, _)) =
        body.deserialize::<(&str, i32, i32, Value<'_>, HashMap<&str, Value<'_>>)>()
    {
        return object_in(&other);
    }
    let (_, _, _, other, _) = body
        .deserialize::<(&str, i32, i32, Value<'_>, (&str, ObjectPath<'_>))>()
        .inspect_err(|error| tracing::debug!(%error, "an event in an unknown format"))
        .ok()?;
    object_in(&other)
}

/// The object reference in a value, if it is one.
fn object_in(value: &Value<'_>) -> Option<ObjectRef> {
    let value = if let Value::Value(inner) = value { inner } else { value };
    let Value::Structure(structure) = value else { return None };
    let [Value::Str(bus), Value::ObjectPath(path)] = structure.fields() else { return None };
    ObjectRef::from_wire(&(bus.to_string(), path.to_owned().into()))
}

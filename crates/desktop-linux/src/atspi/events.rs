//! What applications announce on the accessibility bus.
//!
//! Registering for events comes first of all: some toolkits build no cache and tell nothing until somebody
//! has. One task reads them; it makes no calls, so that it can never hang.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
};

use futures_util::{StreamExt as _, stream::SelectAll};
use tokio::sync::{mpsc, oneshot};
use zbus::{
    MatchRule, Message, MessageStream,
    message::Type,
    zvariant::{ObjectPath, Value},
};

use super::{
    bus::{Bus, gone},
    event::{Announcement, Event},
    mirror,
    shared::Shared,
    wire::{ObjectRef, ROOT_PATH},
};
use deskhand_desktop::{DesktopError, DesktopResult};

/// How many messages may wait to be read.
const QUEUE_MAX: usize = 8_192;

/// The events that are asked for. Of properties those that elements have: GTK 3 also tells of the widget, the role and the
/// parent of all that comes and goes, which is nearly half of all that LibreOffice would say.
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

/// The signals that carry them.
const INTERFACES: [&str; 3] =
    ["org.a11y.atspi.Event.Object", "org.a11y.atspi.Event.Window", "org.a11y.atspi.Event.Document"];

/// Asks for events and returns the streams that they come on.
pub(crate) async fn subscribe(bus: &Bus) -> DesktopResult<SelectAll<MessageStream>> {
    let failed = |error: zbus::Error| DesktopError::Start {
        what: format!("the accessibility bus sends no events ({error})"),
        fix: "check that at-spi2-core is installed".to_owned(),
    };
    let mut rules = Vec::new();
    for interface in INTERFACES {
        let rule = MatchRule::builder().msg_type(Type::Signal).interface(interface).map_err(failed)?;
        rules.push(rule.build());
    }
    let owner = MatchRule::builder()
        .msg_type(Type::Signal)
        .sender("org.freedesktop.DBus")
        .and_then(|rule| rule.member("NameOwnerChanged"))
        .map_err(failed)?;
    rules.push(owner.build());
    let mut streams = SelectAll::new();
    for rule in rules {
        let stream = MessageStream::for_match_rule(rule, bus.connection(), Some(QUEUE_MAX));
        streams.push(stream.await.map_err(failed)?);
    }
    let registry = ObjectRef::new("org.a11y.atspi.Registry", "/org/a11y/atspi/registry");
    let no_properties: Vec<String> = Vec::new();
    for event in EVENTS {
        // Older registries take the event alone.
        let body = (event, &no_properties, "");
        let result: Result<(), _> =
            bus.call(&registry, "org.a11y.atspi.Registry", "RegisterEvent", &body).await;
        if result.is_err() {
            let older: Result<(), _> =
                bus.call(&registry, "org.a11y.atspi.Registry", "RegisterEvent", &(event)).await;
            older.map_err(|error| error.into_desktop("register for events", event, gone))?;
        }
    }
    Ok(streams)
}

/// Reads events until the bus ends. Whoever put up a barrier is told once all that came before it are taken in.
pub(crate) async fn read(
    mut streams: SelectAll<MessageStream>,
    mut barriers: mpsc::Receiver<oneshot::Sender<()>>,
    shared: Arc<Shared>,
) {
    loop {
        let message = tokio::select! {
            biased;
            message = streams.next() => match message {
                Some(Ok(message)) => message,
                Some(Err(_)) | None => break,
            },
            Some(barrier) = barriers.recv() => {
                // Whoever waited was cancelled.
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
            // Nobody listens: nothing to tell.
            let _ = shared.announcements.send(announcement);
        }
    }
    tracing::debug!("the accessibility bus ended");
    shared.bus.gone().cancel();
    shared.applications_changed.notify_one();
}

/// Brings what is remembered up to date, and returns what is to be passed on.
fn take(message: &Message, shared: &Shared) -> Option<Announcement> {
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
    let (detail, first, other) = body(message)?;
    let event = Event::parse(interface, member, &detail, first)?;
    if event.is_defunct() {
        ids().forget(&object);
        let mut mirror = shared.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = mirror.find(&object.bus) {
            store.remove(&object);
        }
        return None;
    }
    if &*object.path == ROOT_PATH && matches!(event, Event::ChildrenChanged | Event::ChildRemoved) {
        shared.applications_changed.notify_one();
    }
    Some(Announcement { object, event, other })
}

/// The name, the first number and the other object of an event, in the present and the older form.
fn body(message: &Message) -> Option<(String, i32, Option<ObjectRef>)> {
    let body = message.body();
    if let Ok((name, first, _, other, _)) =
        body.deserialize::<(String, i32, i32, Value<'_>, HashMap<String, Value<'_>>)>()
    {
        return Some((name, first, object_in(&other)));
    }
    let (name, first, _, other, _) = body
        .deserialize::<(String, i32, i32, Value<'_>, (String, ObjectPath<'_>))>()
        .inspect_err(|error| tracing::debug!(%error, "an event in an unknown form"))
        .ok()?;
    Some((name, first, object_in(&other)))
}

/// The object reference in a value, if it is one.
fn object_in(value: &Value<'_>) -> Option<ObjectRef> {
    let value = if let Value::Value(inner) = value { inner } else { value };
    let Value::Structure(structure) = value else { return None };
    let [Value::Str(bus), Value::ObjectPath(path)] = structure.fields() else { return None };
    ObjectRef::from_wire(&(bus.to_string(), path.to_owned().into()))
}

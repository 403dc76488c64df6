//! One question to a portal: a call that returns at once, and a signal with the answer.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use deskhand_desktop::{DesktopError, DesktopResult};
use futures_util::StreamExt as _;
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::timeout;
use zbus::{
    Connection, MatchRule, MessageStream,
    zvariant::{DeserializeDict, DynamicType, OwnedObjectPath, Type, Value},
};

use super::{PATH, SERVICE, SharedMonitor};

const REQUEST: &str = "org.freedesktop.portal.Request";
/// The options of a call.
pub(super) type Options = HashMap<&'static str, Value<'static>>;

/// The number of the last question of this process.
static LAST: AtomicU32 = AtomicU32::new(0);

/// The reply with the handle of a new session.
#[derive(Debug, DeserializeDict, Type)]
#[zvariant(signature = "dict")]
pub(super) struct SessionMade {
    session_handle: Option<String>,
}

impl SessionMade {
    pub(super) fn path(self) -> DesktopResult<OwnedObjectPath> {
        let path = self.session_handle.unwrap_or_default();
        OwnedObjectPath::try_from(path)
            .map_err(|error| DesktopError::failed("open a session of the portal", error))
    }
}

/// The properties of a session when it begins.
#[derive(Debug, DeserializeDict, Type)]
#[zvariant(signature = "dict")]
pub(super) struct PortalStartResults {
    devices: Option<u32>,
    streams: Option<Vec<(u32, StreamFacts)>>,
    pub(super) restore_token: Option<String>,
}

/// The properties of a stream that a portal reports.
#[derive(Debug, DeserializeDict, Type)]
#[zvariant(signature = "dict")]
struct StreamFacts {
    position: Option<(i32, i32)>,
    size: Option<(i32, i32)>,
}

impl PortalStartResults {
    /// The monitors that the person shared.
    pub(super) fn shared(&self) -> DesktopResult<Vec<SharedMonitor>> {
        let missing = |what: &str| DesktopError::Start {
            what: format!("the person did not allow {what}"),
            fix: "try again, and in the dialog choose the screen and allow remote interaction".to_owned(),
        };
        if self.devices.unwrap_or(0) & super::DEVICES != super::DEVICES {
            return Err(missing("to use pointer and keys"));
        }
        let streams = self.streams.as_deref().filter(|streams| !streams.is_empty());
        let streams = streams.ok_or_else(|| missing("to see the screen"))?;
        let shared = |(node, facts): &(u32, StreamFacts)| SharedMonitor {
            node: *node,
            place: facts.position,
            size: facts.size,
        };
        Ok(streams.iter().map(shared).collect())
    }
}

/// Asks a portal, and waits for its answer. `body` puts the options where the method has them.
pub(super) async fn ask<B, A>(
    bus: &Connection,
    (interface, method): (&'static str, &'static str),
    bound: Duration,
    mut options: Options,
    body: impl FnOnce(Options) -> B,
) -> DesktopResult<A>
where
    B: Serialize + DynamicType + Send + Sync,
    A: DeserializeOwned + Type,
{
    let operation = || format!("{method} of the portal");
    let failed = |error: zbus::Error| DesktopError::failed(operation(), error);
    let token = format!("deskhand{}", LAST.fetch_add(1, Ordering::Relaxed));
    let own = bus.unique_name().map(|name| name.trim_start_matches(':').replace('.', "_"));
    let path = format!("{PATH}/request/{}/{token}", own.unwrap_or_default());
    options.insert("handle_token", Value::from(token));
    // It listens before it asks, so that no answer is missed.
    let rule = MatchRule::builder()
        .msg_type(zbus::message::Type::Signal)
        .interface(REQUEST)
        .and_then(|rule| rule.member("Response"))
        .and_then(|rule| rule.path(path))
        .map_err(failed)?
        .build();
    let mut answers = MessageStream::for_match_rule(rule, bus, None).await.map_err(failed)?;
    let wait = async {
        bus.call_method(Some(SERVICE), PATH, Some(interface), method, &body(options)).await?;
        answers.next().await.transpose()
    };
    let late = |_| DesktopError::Start {
        what: format!("{} was not answered within {} s", operation(), bound.as_secs()),
        fix: "answer the dialog of the desktop, or use `--desktop virtual`".to_owned(),
    };
    let answer = timeout(bound, wait).await.map_err(late)?.map_err(failed)?;
    let gone = || DesktopError::failed(operation(), "the session bus has ended");
    let answer = answer.ok_or_else(gone)?;
    let (code, _) = answer.body().deserialize::<(u32, super::OwnedNothing)>().map_err(failed)?;
    match code {
        0 => answer.body().deserialize::<(u32, A)>().map(|(_, result)| result).map_err(failed),
        1 => Err(DesktopError::Start {
            what: "the person refused the request to use the desktop".to_owned(),
            fix: "try again and allow it, or use `--desktop virtual` for a private desktop".to_owned(),
        }),
        _ => Err(DesktopError::failed(operation(), "the portal ended the request")),
    }
}

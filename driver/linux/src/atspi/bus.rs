//! Calls on the accessibility bus: bounded in time and number, with errors that tell callers how to react.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use deskhand_ui::{Role, duration::milliseconds};
use futures_util::{StreamExt as _, stream};
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use zbus::zvariant::{DynamicDeserialize, DynamicType, OwnedValue};

use super::{
    quirks::AtspiToolkit,
    wire::{self, ObjectRef, WireRef},
};
use deskhand_desktop::{DesktopError, DesktopResult};

/// The most concurrent calls to one application.
pub(crate) const IN_FLIGHT: usize = 32;
/// Maximum time for one call before the application counts as not answering.
const CALL_BOUND: Duration = Duration::from_secs(2);
/// Maximum time for an action: some toolkits finish it before they answer.
const ACTION_BOUND: Duration = Duration::from_secs(8);

pub(crate) const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
pub(crate) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(crate) const DOCUMENT: &str = "org.a11y.atspi.Document";
pub(crate) const REGISTRY: &str = "org.a11y.atspi.Registry";
pub(crate) const SELECTION: &str = "org.a11y.atspi.Selection";
pub(crate) const TABLE: &str = "org.a11y.atspi.Table";
pub(crate) const TEXT: &str = "org.a11y.atspi.Text";
pub(crate) const VALUE: &str = "org.a11y.atspi.Value";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AtspiCallError {
    /// The accessibility bus is gone.
    #[error("the accessibility bus has ended")]
    BusGone,
    /// The object or its application no longer exists.
    #[error("the object no longer exists")]
    NoObject,
    /// The object does not have this interface, method or property.
    #[error("the object does not support this")]
    NotOffered,
    /// No answer within the bound.
    #[error("no answer within {limit_ms} ms")]
    NotAnswering { limit_ms: u64 },
    /// Anything else.
    #[error("the application refused")]
    Refused(#[source] zbus::Error),
}

/// The result of a call.
pub(crate) type CallResult<T> = Result<T, AtspiCallError>;

impl AtspiCallError {
    fn of(error: zbus::Error) -> Self {
        if matches!(error, zbus::Error::InputOutput(_)) {
            return Self::BusGone;
        }
        let zbus::Error::MethodError(name, ..) = &error else { return Self::Refused(error) };
        match name.as_str().rsplit('.').next().unwrap_or_default() {
            "UnknownObject" | "ServiceUnknown" | "NameHasNoOwner" | "NoReply" | "Disconnected" => {
                Self::NoObject
            }
            "UnknownMethod" | "UnknownInterface" | "UnknownProperty" | "NotSupported" | "InvalidArgs" => {
                Self::NotOffered
            }
            _ => Self::Refused(error),
        }
    }

    /// Converts to an error of the desktop. `missing` is the error for an object that is gone, `element` the label of
    /// the element.
    pub(crate) fn into_desktop(
        self,
        operation: &'static str,
        element: &str,
        missing: impl FnOnce() -> DesktopError,
    ) -> DesktopError {
        match self {
            Self::BusGone => gone(),
            Self::NoObject => missing(),
            Self::NotOffered => DesktopError::NotOffered {
                operation,
                element: element.to_owned(),
                needs: "the interface for this".to_owned(),
            },
            Self::NotAnswering { limit_ms } => {
                DesktopError::NotAnswering { operation, application: element.to_owned(), limit_ms }
            }
            Self::Refused(source) => DesktopError::failed(operation, source),
        }
    }
}

/// The accessibility bus is gone.
pub(crate) fn gone() -> DesktopError {
    DesktopError::Gone { what: "the accessibility bus has ended".to_owned() }
}

/// A connection to the accessibility bus.
#[derive(Debug, Clone)]
pub(crate) struct Bus {
    connection: zbus::Connection,
    gone: CancellationToken,
    /// Number of calls made on this connection.
    calls: Arc<AtomicU64>,
    /// No call waits longer than this; set earlier for the reads of one tree.
    until: Option<Instant>,
}

impl Bus {
    /// Connects to the bus at `address`.
    pub(crate) async fn connect(address: &str) -> DesktopResult<Self> {
        let start = |error: zbus::Error| DesktopError::Start {
            what: format!("the accessibility bus refused the connection ({error})"),
            fix: "check that at-spi2-core is installed and that its bus runs".to_owned(),
        };
        let connecting = async { zbus::connection::Builder::address(address)?.build().await };
        let connection = tokio::time::timeout(ACTION_BOUND, connecting)
            .await
            .map_err(|_| start(zbus::Error::Failure("no answer".to_owned())))?
            .map_err(start)?;
        Ok(Self { connection, gone: CancellationToken::new(), calls: Arc::default(), until: None })
    }

    pub(crate) fn connection(&self) -> &zbus::Connection {
        &self.connection
    }

    /// Cancelled when the bus has ended.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// Returns the number of calls made so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The same connection, whose calls end at `deadline` at the latest.
    pub(crate) fn until(&self, deadline: Instant) -> Self {
        Self { until: Some(deadline), ..self.clone() }
    }

    /// The same connection, whose calls time out after `bound` at the latest.
    pub(crate) fn until_at_most(&self, bound: Duration) -> Self {
        let end = Instant::now() + bound;
        self.until(self.until.map_or(end, |until| until.min(end)))
    }

    /// Calls a method.
    pub(crate) async fn call<B, R>(
        &self,
        to: &ObjectRef,
        interface: &str,
        method: &str,
        body: &B,
    ) -> CallResult<R>
    where
        B: Serialize + DynamicType + Sync,
        R: for<'d> DynamicDeserialize<'d>,
    {
        self.call_within(to, interface, method, body, CALL_BOUND).await
    }

    /// Calls a method of the message bus itself.
    pub(crate) async fn ask_daemon<B, R>(&self, method: &str, body: &B) -> CallResult<R>
    where
        B: Serialize + DynamicType + Sync,
        R: for<'d> DynamicDeserialize<'d>,
    {
        let daemon = ObjectRef::new("org.freedesktop.DBus", "/org/freedesktop/DBus");
        self.call(&daemon, "org.freedesktop.DBus", method, body).await
    }

    /// Calls a method with a side effect, which may take longer to answer.
    pub(crate) async fn act<B, R>(
        &self,
        to: &ObjectRef,
        interface: &str,
        method: &str,
        body: &B,
    ) -> CallResult<R>
    where
        B: Serialize + DynamicType + Sync,
        R: for<'d> DynamicDeserialize<'d>,
    {
        self.call_within(to, interface, method, body, ACTION_BOUND).await
    }

    /// Calls a method whose answer is not awaited.
    pub(crate) async fn tell<B>(
        &self,
        to: &ObjectRef,
        interface: &str,
        method: &str,
        body: &B,
    ) -> CallResult<()>
    where
        B: Serialize + DynamicType + Sync,
    {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let told = async {
            let message = zbus::Message::method_call(&*to.path, method)?
                .destination(&*to.bus)?
                .interface(interface)?
                .with_flags(zbus::message::Flags::NoReplyExpected)?
                .build(body)?;
            self.connection.send(&message).await
        };
        told.await.map_err(AtspiCallError::of)
    }

    async fn call_within<B, R>(
        &self,
        to: &ObjectRef,
        interface: &str,
        method: &str,
        body: &B,
        bound: Duration,
    ) -> CallResult<R>
    where
        B: Serialize + DynamicType + Sync,
        R: for<'d> DynamicDeserialize<'d>,
    {
        let bound = self
            .until
            .map_or(bound, |deadline| bound.min(deadline.saturating_duration_since(Instant::now())));
        self.calls.fetch_add(1, Ordering::Relaxed);
        let calling = self.connection.call_method(Some(&*to.bus), &*to.path, Some(interface), method, body);
        let message = tokio::select! {
            biased;
            () = self.gone.cancelled() => return Err(AtspiCallError::BusGone),
            answer = tokio::time::timeout(bound, calling) => match answer {
                Ok(answer) => answer.map_err(AtspiCallError::of)?,
                Err(_) => {
                    let limit_ms = milliseconds(bound);
                    return Err(AtspiCallError::NotAnswering { limit_ms });
                }
            },
        };
        message.body().deserialize().map_err(AtspiCallError::Refused)
    }

    /// Reads a property.
    pub(crate) async fn property<T>(&self, of: &ObjectRef, interface: &str, name: &str) -> CallResult<T>
    where
        T: TryFrom<OwnedValue>,
    {
        let value: OwnedValue = self.call(of, PROPERTIES, "Get", &(interface, name)).await?;
        T::try_from(value).map_err(|_| AtspiCallError::Refused(zbus::Error::InvalidReply))
    }

    /// Reads all properties of an interface. Not safe with every toolkit.
    pub(crate) async fn properties(
        &self,
        of: &ObjectRef,
        interface: &str,
    ) -> CallResult<HashMap<String, OwnedValue>> {
        self.call(of, PROPERTIES, "GetAll", &interface).await
    }

    /// Sets a property.
    pub(crate) async fn set_property<'v>(
        &self,
        of: &ObjectRef,
        interface: &str,
        name: &str,
        value: zbus::zvariant::Value<'v>,
    ) -> CallResult<()> {
        self.act(of, PROPERTIES, "Set", &(interface, name, value)).await
    }

    /// The children of an object, in order. Never call it for a virtual table: the toolkit would create millions of
    /// them.
    pub(crate) async fn children(&self, of: &ObjectRef) -> CallResult<Vec<ObjectRef>> {
        let sent: Vec<WireRef> = self.call(of, ACCESSIBLE, "GetChildren", &()).await?;
        Ok(sent.iter().filter_map(ObjectRef::from_wire).collect())
    }

    /// The children of an object with that role, without those that are unsafe to read.
    pub(crate) async fn safe_children(
        &self,
        of: &ObjectRef,
        role: &Role,
        toolkit: AtspiToolkit,
    ) -> CallResult<Vec<ObjectRef>> {
        let children = self.children(of).await?;
        if !toolkit.has_fragile_children(role) {
            return Ok(children);
        }
        let read = pipelined(children, |child| async move {
            match self.call(&child, ACCESSIBLE, "GetRole", &()).await {
                Ok(role) => Ok(toolkit.is_safe_child(&wire::role(role)).then_some(child)),
                Err(AtspiCallError::NoObject | AtspiCallError::Refused(_)) => Ok(None),
                Err(error) => Err(error),
            }
        })
        .await;
        read.into_iter().filter_map(Result::transpose).collect()
    }

    /// Returns the number of children of an object, including those that do not exist yet.
    pub(crate) async fn child_count(&self, of: &ObjectRef) -> CallResult<u32> {
        let count: i32 = self.property(of, ACCESSIBLE, "ChildCount").await?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// The parent of an object.
    pub(crate) async fn parent(&self, of: &ObjectRef) -> CallResult<Option<ObjectRef>> {
        let value: OwnedValue = self.call(of, PROPERTIES, "Get", &(ACCESSIBLE, "Parent")).await?;
        let sent =
            WireRef::try_from(value).map_err(|_| AtspiCallError::Refused(zbus::Error::InvalidReply))?;
        Ok(ObjectRef::from_wire(&sent))
    }
}

/// Runs `work` on each of `items`, [`IN_FLIGHT`] at a time, and returns the results in order.
pub(crate) async fn pipelined<I, F, T>(items: impl IntoIterator<Item = I>, work: impl FnMut(I) -> F) -> Vec<T>
where
    F: Future<Output = T>,
{
    stream::iter(items).map(work).buffered(IN_FLIGHT).collect().await
}

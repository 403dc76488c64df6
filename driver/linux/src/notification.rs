//! Notifications of the user's desktop, over the session bus (the Desktop Notifications Specification 1.2).
//!
//! The bus is that of the user who runs this process, never that of a private desktop.

use std::{collections::BTreeMap, time::Duration};

use zbus::{Connection, zvariant::Value};

const SERVICE: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";

/// Maximum time for the desktop, in all.
const BOUND: Duration = Duration::from_secs(10);
/// Levels of urgency.
const NORMAL: u8 = 1;
const CRITICAL: u8 = 2;

/// A notification to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Its subject, in a few words.
    pub summary: String,
    /// More about it, as plain text.
    pub body: String,
    /// `true` if it stays until a person has seen it.
    pub is_urgent: bool,
}

/// A notification that was not shown.
#[derive(Debug, thiserror::Error)]
pub enum NotificationError {
    /// There is no session bus, or nothing on it that shows notifications.
    #[error("your desktop shows no notifications: {0}")]
    NoService(String),
    /// The desktop does not answer.
    #[error("your desktop did not take the notification within {} s", BOUND.as_secs())]
    NotAnswering,
}

/// Shows a notification.
///
/// # Errors
/// [`NotificationError`] if there is nothing that shows it.
pub async fn notify(notification: &Notification) -> Result<(), NotificationError> {
    let shown = tokio::time::timeout(BOUND, show(notification)).await;
    let shown = shown.map_err(|_| NotificationError::NotAnswering)?;
    shown.map_err(|error| NotificationError::NoService(error.to_string()))
}

async fn show(notification: &Notification) -> zbus::Result<()> {
    let bus = Connection::session().await?;
    let asked = bus.call_method(Some(SERVICE), PATH, Some(SERVICE), "GetCapabilities", &()).await?;
    let capabilities: Vec<String> = asked.body().deserialize()?;
    // Where markup is read, a text must not be any.
    let is_markup = capabilities.iter().any(|capability| capability == "body-markup");
    let body = if is_markup { escaped(&notification.body) } else { notification.body.clone() };
    let urgency = if notification.is_urgent { CRITICAL } else { NORMAL };
    let hints = BTreeMap::from([("urgency", Value::from(urgency))]);
    let actions: Vec<&str> = Vec::new();
    let (replaces, icon, time): (u32, &str, i32) = (0, "", -1);
    let arguments = ("Deskhand", replaces, icon, &*notification.summary, &*body, actions, hints, time);
    bus.call_method(Some(SERVICE), PATH, Some(SERVICE), "Notify", &arguments).await?;
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

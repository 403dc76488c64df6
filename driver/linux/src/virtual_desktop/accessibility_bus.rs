//! Enables accessibility and finds its bus. The protocol on that bus is in `atspi`.

use std::collections::HashMap;

use zbus::{Connection, connection, zvariant::Value};

/// Sets variables for programs that the session bus starts, such as `DISPLAY`.
pub(crate) async fn update_environment(session: &Connection, variables: &[(&str, &str)]) -> zbus::Result<()> {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    session
        .call_method(
            Some("org.freedesktop.DBus"),
            "/org/freedesktop/DBus",
            Some("org.freedesktop.DBus"),
            "UpdateActivationEnvironment",
            &(variables,),
        )
        .await
        .map(drop)
}

/// Connects to a session bus.
pub(crate) async fn connect(address: &str) -> zbus::Result<Connection> {
    connection::Builder::address(address)?.build().await
}

/// Enables accessibility, which starts its bus if it is not running, and returns the address of the bus.
pub(crate) async fn enable(session: &Connection) -> zbus::Result<String> {
    const SERVICE: &str = "org.a11y.Bus";
    const PATH: &str = "/org/a11y/bus";
    session
        .call_method(
            Some(SERVICE),
            PATH,
            Some("org.freedesktop.DBus.Properties"),
            "Set",
            &("org.a11y.Status", "IsEnabled", Value::from(true)),
        )
        .await?;
    let reply = session.call_method(Some(SERVICE), PATH, Some(SERVICE), "GetAddress", &()).await?;
    reply.body().deserialize::<String>()
}

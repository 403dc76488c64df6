//! The server of a fleet that workers and strangers reach.

use std::collections::BTreeMap;

use deskhand_testkit::nats_server::Server;
use tempfile::TempDir;

use super::{Failure, world::World};

/// A server; it ends when it is dropped.
pub(crate) struct Fleet {
    _server: Server,
    _data: TempDir,
}

impl Fleet {
    /// Starts it; its address is a value of the world, `{{fleet}}`.
    pub(crate) fn start(world: &mut World) -> Result<Self, Failure> {
        let data = tempfile::tempdir()?;
        let server = Server::start(data.path(), "")?;
        let server = server.ok_or("there is no nats-server; `cargo xtask setup` installs it")?;
        world.values.extend(BTreeMap::from([
            ("fleet".to_owned(), format!("nats://127.0.0.1:{}", server.port)),
            ("fleet_port".to_owned(), server.port.to_string()),
        ]));
        Ok(Self { _server: server, _data: data })
    }
}

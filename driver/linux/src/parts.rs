//! The parts of a desktop, however it was started or reached.

use std::path::PathBuf;

use deskhand_desktop::DesktopResult;

use crate::{
    blocking::run_blocking,
    desktop_entries::{DesktopEntries, data_folders},
    server::DisplayServer,
    times::StartupTimes,
    virtual_desktop::{environment::Environment, processes::Processes, protocol::DesktopHandle},
};

/// The parts of a running desktop.
pub(crate) struct DesktopComponents {
    pub(crate) server: DisplayServer,
    pub(crate) environment: Environment,
    pub(crate) processes: Processes,
    pub(crate) private_folder: Option<PathBuf>,
    pub(crate) session_bus_address: Option<String>,
    pub(crate) accessibility_address: Option<String>,
    pub(crate) entries: DesktopEntries,
    pub(crate) startup: StartupTimes,
    /// Handle to attach to it again, for a desktop that a keeper holds.
    pub(crate) handle: Option<DesktopHandle>,
    /// The highest number of an element that was assigned before.
    pub(crate) elements_given: u32,
}

/// Reads the installed applications.
pub(crate) async fn read_entries(environment: &Environment) -> DesktopResult<DesktopEntries> {
    let folders = data_folders(|name| environment.find(name).map(ToOwned::to_owned));
    let path = environment.path().to_owned();
    run_blocking(move || DesktopEntries::read(&folders, &path)).await
}

//! The end of a process together with its parent.

use rustix::process::Signal;

use crate::confinement::Confinement;

/// Lets the kernel send a signal when the parent dies.
pub(crate) fn end_with_parent(confinement: &Confinement, signal: Signal) -> Result<(), String> {
    rustix::process::set_parent_process_death_signal(Some(signal))
        .map_err(|error| format!("failed to set the parent-death signal: {error}"))?;
    let parent = rustix::process::getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    match confinement.owner {
        Some(owner) if parent != Some(owner) => Err("the process that wanted it has ended".to_owned()),
        Some(_) | None => Ok(()),
    }
}

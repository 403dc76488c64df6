//! The pager for output that does not fit on the screen.

use std::{
    env,
    fs::File,
    io::{self, Seek as _, Write as _},
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Command, Stdio},
};

use deskhand_process::find_program;
use rustix::fs::{MemfdFlags, memfd_create};

/// Replaces this process by the pager of the user, with a text as its input. Returns only if there is no pager: `DESKHAND_PAGER`
/// or `PAGER` is empty or `cat`, or neither is set and `less` is not installed.
///
/// # Errors
/// The pager does not start.
pub(crate) fn become_pager(text: &str) -> io::Result<()> {
    let chosen = env::var("DESKHAND_PAGER").or_else(|_| env::var("PAGER"));
    let usual = || {
        let path = env::var_os("PATH").unwrap_or_default();
        find_program("less", &path, Path::new("")).map(|_| "less".to_owned())
    };
    let pager = chosen.ok().or_else(usual).unwrap_or_default();
    if ["", "cat"].contains(&pager.trim()) {
        return Ok(());
    }
    let mut input = File::from(memfd_create("deskhand-pages", MemfdFlags::CLOEXEC)?);
    input.write_all(text.as_bytes())?;
    input.rewind()?;
    // The value is a command of the shell (POSIX.1-2017, utility `man`); what follows is for a pager that is not installed.
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{pager} || cat")]).stdin(Stdio::from(input));
    if env::var_os("LESS").is_none() {
        // Shows colours as such.
        command.env("LESS", "R");
    }
    Err(command.exec())
}

//! A small file system for one folder, and a file that fills it.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// How often the filler is grown.
const FILLS_MAX: u32 = 20;

/// A file system in memory.
#[derive(Debug)]
pub(super) struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// The name of the file that fills it.
    pub(super) const FILLER: &str = "filler";

    /// Mounts one at the folder, which must exist.
    pub(super) fn mount(folder: &Path, megabytes: u64, mode: &str) -> Result<Self> {
        let options = format!("size={megabytes}m,mode={mode}");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "deskhand-bench"])
            .arg(folder)
            .status()
            .context("run mount")?;
        ensure!(status.success(), "mount a file system at {}: {status}", folder.display());
        Ok(Self { folder: folder.to_owned() })
    }

    /// Fills it up to `leave` bytes, rounded down to blocks.
    pub(super) fn fill(&self, leave: u64) -> Result<()> {
        let file = File::create(self.folder.join(Self::FILLER)).context("create the filler")?;
        // Others write meanwhile, and take what is counted as free.
        for _ in 0..FILLS_MAX {
            let stat = rustix::fs::statvfs(&self.folder).context("read the free space")?;
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let held = file.metadata().context("read the size of the filler")?.len();
            let more = free.saturating_sub(leave);
            let grown = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), held, more.max(1));
            match grown {
                Err(rustix::io::Errno::NOSPC) if more > 0 => {}
                // It is as full as it shall be.
                Err(rustix::io::Errno::NOSPC) | Ok(()) => return Ok(()),
                Err(error) => return Err(error).context("grow the filler"),
            }
        }
        Ok(())
    }

    /// Removes the filler.
    pub(super) fn free(&self) -> Result<()> {
        let filler = self.folder.join(Self::FILLER);
        if filler.exists() { fs::remove_file(filler).context("remove the filler") } else { Ok(()) }
    }
}

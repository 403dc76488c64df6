//! The commands of the guide, word for word.

use std::{fs, path::Path};

use anyhow::{Context, Result};

/// The folder that the guide gives the server.
pub(super) const STORE: &str = "/var/lib/nats";

/// The commands that take somebody from one machine to three.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guide {
    pub(super) server: String,
    pub(super) worker: String,
    pub(super) submit: String,
    pub(super) watch: String,
    pub(super) results: String,
}

impl Guide {
    /// Reads them: the first command of the page that begins so.
    pub(super) fn read(page: &Path) -> Result<Self> {
        let text = fs::read_to_string(page).with_context(|| format!("read {}", page.display()))?;
        let command = |begin: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
            let found = lines.map(str::trim).find(|line| line.starts_with(begin));
            found.map(ToOwned::to_owned).with_context(|| format!("{} has no `{begin}`", page.display()))
        };
        Ok(Self {
            server: command("nats-server")?,
            worker: command("deskhand worker")?,
            submit: command("deskhand fleet submit")?,
            watch: command("deskhand fleet watch")?,
            results: command("deskhand fleet results")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_them_all() {
        let guide = Guide::read(&xtask::workspace::root().join("docs/guides/fleet.md")).unwrap();
        assert!(guide.server.contains(STORE) && guide.server.contains("10.0.0.1"), "{guide:?}");
        assert!(guide.worker.contains("nats://10.0.0.1:4222"), "{guide:?}");
        assert!(guide.results.ends_with("--output out"), "{guide:?}");
    }
}

//! Which toolkits that are installed expose no elements for want of a package.

use std::{fs, path::PathBuf};

use super::{
    definition::{Bridge, Exposes},
    table::TOOLKITS,
};

/// Folders of libraries; the last ones contain a folder for each architecture.
const LIBRARIES: &[&str] = &["/usr/lib64", "/usr/local/lib", "/usr/lib"];
/// Folder of Java installations.
const JAVA: &str = "/usr/lib/jvm";

/// A toolkit that needs a bridge.
pub(crate) struct ToolkitBridge {
    /// Its name.
    pub(crate) name: &'static str,
    /// `true` if programs of this toolkit can run here.
    pub(crate) installed: bool,
    /// Path of its bridge.
    pub(crate) bridge: Option<PathBuf>,
    /// The Debian package of its bridge.
    pub(crate) package: &'static str,
}

/// The toolkits that need a bridge. Blocking.
pub(crate) fn bridged() -> Vec<ToolkitBridge> {
    let folders = folders();
    let exists = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|file| file.exists());
    let starts = |name: &str| {
        let name = name.trim_start_matches('/');
        let within = |folder: &PathBuf| {
            let mut files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
            files.any(|file| file.file_name().to_string_lossy().starts_with(name))
        };
        folders.iter().any(within)
    };
    let of_bridge = |name, loads: &'static [&'static str], bridge: &'static Bridge| {
        // Every Java has a folder of its own.
        let java =
            loads.contains(&"/libjvm.so") && fs::read_dir(JAVA).is_ok_and(|mut all| all.next().is_some());
        let installed = java || loads.iter().any(|name| starts(name));
        ToolkitBridge { name, installed, bridge: exists(bridge.file), package: bridge.package }
    };
    let bridges = TOOLKITS.iter().filter_map(|toolkit| match &toolkit.exposes {
        Exposes::Through(bridge) => Some(of_bridge(toolkit.name, toolkit.loads, bridge)),
        Exposes::Always | Exposes::Never => None,
    });
    bridges.collect()
}

/// The folders of libraries, those of architectures included.
fn folders() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = LIBRARIES.iter().map(PathBuf::from).collect();
    for folder in LIBRARIES {
        let inner = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let of_architecture =
            inner.filter(|entry| entry.file_name().to_string_lossy().contains("-linux-gnu"));
        all.extend(of_architecture.map(|entry| entry.path()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bridge_names_its_package() {
        let packages: Vec<&str> = bridged().iter().map(|one| one.package).collect();
        assert_eq!(packages, ["libatk-wrapper-java", "libatk-adaptor"]);
    }
}

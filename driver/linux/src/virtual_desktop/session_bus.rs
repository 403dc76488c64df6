//! The session bus: its configuration, and the services that applications may start over it.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use super::{
    environment::Environment,
    folders::{PORTALS_FOLDER, create_private, write_private},
};
use crate::desktop_entries::data_folders;

/// The folder with the services of the bus, in the private folder of a virtual desktop.
const SERVICES_FOLDER: &str = "services";

/// The portal whose dialogs are known, and need no shell of a desktop environment.
const PORTAL: &str = "gtk.portal";
/// Which portal is used, from version 1.17 on: portals.conf(5).
const PORTALS: &str = "[preferred]\ndefault=gtk;*\n";

/// Everyone who can open its socket, which is in the private folder, is accepted.
const CONFIGURATION: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>unix:path={private}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{private}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// Services that are not started: the document portal mounts a file system, which stays when its process is killed; the others
/// hand out passwords.
const LEFT_OUT: &[&str] = &[
    "org.freedesktop.impl.portal.Secret.service",
    "org.freedesktop.portal.Documents.service",
    "org.freedesktop.secrets.service",
    "org.gnome.keyring.service",
    "org.kde.kwalletd.service",
    "org.kde.kwalletd5.service",
    "org.kde.kwalletd6.service",
];

/// The configuration of the bus in a private folder.
pub(super) fn configuration(private: &Path) -> String {
    CONFIGURATION.replace("{private}", &private.to_string_lossy())
}

/// Links the services of the user and of the system into the private folder.
pub(super) fn link_services(private: &Path, user: &Environment) -> io::Result<()> {
    let services = private.join(SERVICES_FOLDER);
    create_private(&services)?;
    for folder in data_folders(|name| user.find(name).map(OsStr::to_owned)) {
        // Many of these folders do not exist.
        let entries = fs::read_dir(folder.join("dbus-1/services")).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| !LEFT_OUT.iter().any(|name| entry.file_name() == *name)) {
            match symlink(entry.path(), services.join(entry.file_name())) {
                // The folder of the user comes first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                linked => linked?,
            }
        }
    }
    Ok(())
}

/// Links the portal of GTK into the private folder, or all others where it is not installed. One of them shows the dialogs of files, and
/// which one must not depend on what else is installed.
pub(super) fn link_portals(private: &Path, user: &Environment) -> io::Result<()> {
    let portals = private.join(PORTALS_FOLDER);
    create_private(&portals)?;
    write_private(&portals.join("portals.conf"), PORTALS.as_bytes())?;
    let folders = data_folders(|name| user.find(name).map(OsStr::to_owned));
    let installed = folders.into_iter().map(|folder| folder.join("xdg-desktop-portal/portals"));
    let installed: Vec<PathBuf> = installed.collect();
    if let Some(known) = installed.iter().map(|folder| folder.join(PORTAL)).find(|file| file.is_file()) {
        return symlink(known, portals.join(PORTAL));
    }
    for entry in installed.iter().flat_map(fs::read_dir).flatten().flatten() {
        match symlink(entry.path(), portals.join(entry.file_name())) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            linked => linked?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portal_of_gtk_is_used_whatever_else_is_installed() {
        for (installed, linked) in [
            (&["gnome.portal", "gtk.portal", "kde.portal"] as &[_], &["gtk.portal", "portals.conf"] as &[_]),
            (&["kde.portal"], &["kde.portal", "portals.conf"]),
            (&[], &["portals.conf"]),
        ] {
            let [private, system] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let portals = system.path().join("xdg-desktop-portal/portals");
            fs::create_dir_all(&portals).unwrap();
            for name in installed {
                fs::write(portals.join(name), "[portal]\n").unwrap();
            }
            let mut user = Environment::default();
            user.set("XDG_DATA_HOME", private.path());
            user.set("XDG_DATA_DIRS", system.path());
            link_portals(private.path(), &user).unwrap();
            let there = fs::read_dir(private.path().join(PORTALS_FOLDER)).unwrap();
            let mut names: Vec<_> = there.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, linked);
        }
    }

    #[test]
    fn services_of_the_user_come_first_and_the_document_portal_is_left_out() {
        let [private, home, system] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        for (folder, names) in [
            (&home, &["org.a.service"] as &[_]),
            (
                &system,
                &[
                    "org.a.service",
                    "org.b.service",
                    "org.freedesktop.portal.Documents.service",
                    "org.freedesktop.secrets.service",
                ],
            ),
        ] {
            let services = folder.path().join("dbus-1/services");
            fs::create_dir_all(&services).unwrap();
            for name in names {
                fs::write(services.join(name), folder.path().to_string_lossy().as_bytes()).unwrap();
            }
        }
        let mut user = Environment::default();
        user.set("XDG_DATA_HOME", home.path());
        user.set("XDG_DATA_DIRS", system.path());
        link_services(private.path(), &user).unwrap();
        let services = private.path().join(SERVICES_FOLDER);
        let mut names: Vec<_> =
            fs::read_dir(&services).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["org.a.service", "org.b.service"]);
        let first = fs::read_to_string(services.join("org.a.service")).unwrap();
        assert_eq!(Path::new(&first), home.path());
    }
}

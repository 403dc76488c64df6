//! Places of secrets, other desktops and services that applications do not see.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

/// Places of secrets below the home folder: keys, key rings, passwords of browsers, tokens of clouds and tools.
pub(super) const SECRETS: &[&str] = &[
    ".1password",
    ".ICEauthority",
    ".Xauthority",
    ".aws",
    ".azure",
    ".bitcoin",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/keepassxc",
    ".config/microsoft-edge",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".dbus",
    ".docker/config.json",
    ".docker/desktop",
    ".docker/run",
    ".ethereum",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pki",
    ".pypirc",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".thunderbird",
    ".vault-token",
    "snap/chromium",
    "snap/firefox",
];

/// Folders of the system that applications can read only, also as root and beside a document.
pub(super) const SYSTEM: &[&str] =
    &["/bin", "/boot", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/sbin", "/usr"];

/// Folders of documents, besides the home folder and the folders of the documents that an application opens.
pub(super) const DOCUMENTS: &[&str] = &["/media", "/mnt", "/run/media", "/tmp", "/var/tmp"];

/// The folder of sockets of services: the buses and key rings of sessions, containers, virtual machines, smart cards, sound.
pub(super) const RUN: &str = "/run";

/// The parts of it that applications see: name resolution, and libraries.
pub(super) const RUN_KEPT: &[&str] = &[
    "/run/NetworkManager/resolv.conf",
    "/run/booted-system",
    "/run/current-system",
    "/run/nscd",
    "/run/opengl-driver",
    "/run/opengl-driver-32",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/run/udev/data",
];

/// The file with the name servers, which may be a link to below [`RUN`].
pub(super) const NAME_SERVERS: &str = "/etc/resolv.conf";

/// Folder of the sockets of displays.
const DISPLAYS: &str = "/tmp/.X11-unix";

/// Sockets in folders for temporary files: agents of keys, buses, terminals. A trailing `*` stands for any end.
const SHARED: &[&str] = &[
    ".ICE-unix",
    ".esd-*",
    "dbus-*",
    "gpg-*",
    "keyring-*",
    "pulse-*",
    "screen",
    "screens",
    "ssh-*",
    "tmux-*",
    "uscreens",
    "vscode-*",
];

/// Variables with the path of something that belongs to the desktop of the user.
const VARIABLES: &[&str] = &["ICEAUTHORITY", "SSH_AUTH_SOCK", "XAUTHORITY"];

/// The most entries of a folder for temporary files that are looked at.
const ENTRIES_MAX: usize = 100_000;

/// The sockets and cookies of the desktop of the user, as they are now. `private` is the folder of the virtual desktop, `display` the
/// socket of its display. What comes and goes with other virtual desktops is left out: a place that disappears while it is covered
/// would be made again.
pub(super) fn of_the_user(private: Option<&Path>, display: Option<&Path>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from).collect();
    let bus = std::env::var("DBUS_SESSION_BUS_ADDRESS").unwrap_or_default();
    found.extend(bus.split([',', ';']).filter_map(|part| part.strip_prefix("unix:path=")).map(PathBuf::from));
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // One that holds more than sockets would take too much away.
    let shared = |folder: &PathBuf| {
        let more = DOCUMENTS.iter().map(PathBuf::from).chain(home.clone()).chain([std::env::temp_dir()]);
        more.into_iter().any(|known| known.starts_with(folder))
    };
    found.extend(runtime.filter(|folder| !shared(folder)));
    let mut temporary = vec![PathBuf::from("/tmp"), std::env::temp_dir()];
    temporary.dedup();
    for folder in temporary {
        found.extend(entries(&folder, |name| {
            let name = name.to_string_lossy();
            SHARED.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == **pattern,
            })
        }));
    }
    found.extend(match display {
        Some(_) => Some(PathBuf::from(DISPLAYS)),
        // The own one is still to come.
        None => std::env::var("DISPLAY").ok().map(|name| {
            let number = name.trim_start_matches(':').split('.').next().unwrap_or_default();
            Path::new(DISPLAYS).join(format!("X{number}"))
        }),
    });
    found.retain(|path| private.is_none_or(|own| !path.starts_with(own)));
    found
}

fn entries(folder: &Path, is_wanted: impl Fn(&OsStr) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).take(ENTRIES_MAX);
    let names = entries.map(|entry| entry.file_name());
    names.filter(|name: &OsString| is_wanted(name)).map(|name| folder.join(name)).collect()
}

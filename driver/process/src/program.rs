//! Finding programs as a shell does, and trying them.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The search path where `PATH` is not set.
pub const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";
/// The most links to a helper that are followed.
const LINKS_MAX: usize = 8;
/// Folders in which applications can write, besides the home folder.
const WRITABLE: &[&str] = &["/media", "/mnt", "/run/media", "/tmp", "/var/tmp"];

/// Finds an executable on a search path. A name with a slash is a file relative to `folder` instead; an empty `folder` is
/// the current one. Relative folders on the path are passed over: what they mean depends on who asks.
pub fn find_program(name: impl AsRef<OsStr>, path: &OsStr, folder: &Path) -> Option<PathBuf> {
    let name = name.as_ref();
    if name.is_empty() {
        None
    } else if name.as_encoded_bytes().contains(&b'/') {
        Some(folder.join(name)).filter(|file| is_executable(file))
    } else {
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|file| is_executable(file))
    }
}

/// Finds a program on a search path that we run as ourselves, to start or confine others. Programs in places where applications can write
/// are passed over: one of them may have put it there. A link there counts if it leads to a program of the same name elsewhere.
pub fn find_helper(name: &str, path: &OsStr) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.parent().is_some());
    let writable: Vec<PathBuf> = WRITABLE.iter().map(PathBuf::from).chain(home).collect();
    find_helper_outside(name, path, &writable)
}

fn find_helper_outside(name: &str, path: &OsStr, writable: &[PathBuf]) -> Option<PathBuf> {
    let writable: Vec<PathBuf> = writable.iter().filter_map(|place| place.canonicalize().ok()).collect();
    let is_safe = |file: &Path| writable.iter().all(|place| !file.starts_with(place));
    let is_in_safe_folder = |file: &Path| {
        file.parent().and_then(|folder| folder.canonicalize().ok()).is_some_and(|folder| is_safe(&folder))
    };
    // The first place of a chain of links that applications cannot change.
    let leads_to_helper = |file: &Path| {
        let mut file = file.to_owned();
        for _ in 0..LINKS_MAX {
            if is_in_safe_folder(&file) {
                return true;
            }
            let Ok(target) = fs::read_link(&file) else { return false };
            file = file.parent().unwrap_or(Path::new("/")).join(target);
            if file.file_name() != Some(OsStr::new(name)) {
                return false;
            }
        }
        false
    };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| {
        let real = file.canonicalize().ok().filter(|real| is_safe(real) && is_executable(real));
        real.is_some() && leads_to_helper(file)
    })
}

/// Returns `true` if a program with these arguments ends with success. It gets no environment and no input, and its output is dropped.
/// Blocking.
pub fn succeeds(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_as_by_a_shell() {
        let check = |name: &str, path: &str, folder: &str, expected: Option<&str>| {
            let found = find_program(name, OsStr::new(path), Path::new(folder));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{name} on {path} in {folder}");
        };
        check("sh", "/nowhere:/bin", "", Some("/bin/sh"));
        check("/bin/sh", "", "", Some("/bin/sh"));
        check("bin/sh", "", "/", Some("/bin/sh"));
        check("./sh", "/bin", "/etc", None);
        check("no-such-program-here", "/bin", "", None);
        // Not executable; a folder; no name; a relative folder on the path.
        check("/etc/passwd", "", "", None);
        check("/bin", "", "", None);
        check("", "/bin", "/bin", None);
        check("sh", "bin:.:", "/", None);
    }

    #[test]
    fn a_helper_is_none_that_an_application_put_there() {
        let [home, system] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for folder in [&home, &system] {
            fs::copy("/bin/true", folder.path().join("helper")).unwrap();
        }
        let links = tempfile::tempdir_in(home.path()).unwrap();
        let folders = [home.path(), links.path(), system.path()];
        let path = std::env::join_paths(folders).unwrap();
        let find = || find_helper_outside("helper", &path, &[home.path().to_owned()]);
        assert_eq!(find(), Some(system.path().join("helper")));
        // A link to another program than its name says.
        std::os::unix::fs::symlink("/bin/true", links.path().join("helper")).unwrap();
        assert_eq!(find(), Some(system.path().join("helper")));
        fs::remove_file(links.path().join("helper")).unwrap();
        std::os::unix::fs::symlink(system.path().join("helper"), links.path().join("helper")).unwrap();
        assert_eq!(find(), Some(links.path().join("helper")));
    }

    #[test]
    fn a_program_succeeds_by_its_exit_code_and_without_our_environment() {
        let script = |script: &str| succeeds(Path::new("/bin/sh"), ["-c", script]);
        assert!(script("exit 0") && !script("exit 1") && !script("kill -KILL $$"));
        assert!(script("test -z \"$HOME\"") && !script("read -r line"));
        assert!(!succeeds(Path::new("/no-such-program"), [""; 0]));
    }
}

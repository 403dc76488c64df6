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

/// Whether a program with these arguments ends with success. It gets no environment and no input, and its output is dropped.
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
    fn a_program_succeeds_by_its_exit_code_and_without_our_environment() {
        let script = |script: &str| succeeds(Path::new("/bin/sh"), ["-c", script]);
        assert!(script("exit 0") && !script("exit 1") && !script("kill -KILL $$"));
        assert!(script("test -z \"$HOME\"") && !script("read -r line"));
        assert!(!succeeds(Path::new("/no-such-program"), [""; 0]));
    }
}

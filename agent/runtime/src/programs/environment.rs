//! The environment of programs: what they need, without secrets.

use std::{ffi::OsString, path::Path};

use deskhand_process::PATH_DEFAULT;

/// Variables inherited from our environment, besides configured ones and those that start with `LC_`.
const PASSED: [&str; 5] = ["LANG", "LOGNAME", "PATH", "TZ", "USER"];

/// Builds the environment of a program. Home and temporary files are in the agent's own folder.
pub(crate) fn environment(
    ours: impl Iterator<Item = (OsString, OsString)>,
    named: &[String],
    scratch: &Path,
) -> Vec<(OsString, OsString)> {
    let passes = |name: &str| {
        PASSED.contains(&name) || name.starts_with("LC_") || named.iter().any(|known| known == name)
    };
    let mut all: Vec<(OsString, OsString)> =
        ours.filter(|(name, _)| name.to_str().is_some_and(passes)).collect();
    if !all.iter().any(|(name, _)| name == "PATH") {
        all.push(("PATH".into(), PATH_DEFAULT.into()));
    }
    let own = [("HOME", scratch.as_os_str()), ("TMPDIR", scratch.as_os_str()), ("TERM", "dumb".as_ref())];
    for (name, value) in own {
        all.retain(|(known, _)| known != name);
        all.push((name.into(), value.to_owned()));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_secrets_are_not_inherited() {
        let ours = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "sk-1"),
            ("LC_TIME", "de"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:x"),
            ("DISPLAY", ":0"),
            ("HOME", "/home/me"),
            ("CARGO_HOME", "/c"),
        ];
        let ours = ours.into_iter().map(|(name, value)| (name.into(), value.into()));
        let mut all: Vec<String> = environment(ours, &["CARGO_HOME".to_owned()], Path::new("/scratch"))
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        all.sort();
        assert_eq!(
            all,
            ["CARGO_HOME=/c", "HOME=/scratch", "LC_TIME=de", "PATH=/bin", "TERM=dumb", "TMPDIR=/scratch"]
        );
    }
}

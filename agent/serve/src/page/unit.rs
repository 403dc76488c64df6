//! The service as a unit of the user's systemd.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The name of the unit.
pub const UNIT: &str = "deskhand.service";

/// The result of installing or removing a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitInstallation {
    /// The file of the unit.
    pub file: PathBuf,
    /// Why systemd did not start or stop it; `None` if it did.
    pub problem: Option<String>,
}

/// The text of the unit that runs a program with these arguments.
///
/// Little is locked here: whatever the sessions start comes from this unit, as from a terminal, and sessions confine it themselves. A
/// private `/tmp` would hide the sockets of displays.
pub fn unit_text(program: &Path, arguments: &[String]) -> String {
    let mut command = quoted(&program.to_string_lossy());
    for argument in arguments {
        let _ = write!(command, " {}", quoted(argument));
    }
    format!(
        "[Unit]\n\
         Description=Deskhand: a page to watch and steer agents\n\
         \n\
         [Service]\n\
         ExecStart={command}\n\
         Restart=on-failure\n\
         RestartSec=2\n\
         # Sessions are processes of their own and outlive the service.\n\
         KillMode=process\n\
         OOMPolicy=continue\n\
         LimitNOFILE=65536\n\
         LimitCORE=0\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// A word of a command as systemd reads it.
fn quoted(word: &str) -> String {
    let mut quoted = String::from("\"");
    for character in word.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '%' | '$' => quoted.extend([character, character]),
            '\n' => quoted.push_str("\\n"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes the unit into a folder of units, and has it started now and whenever the user logs in.
///
/// # Errors
/// The file cannot be written.
pub fn install(units: &Path, text: &str) -> io::Result<UnitInstallation> {
    fs::create_dir_all(units)?;
    let file = units.join(UNIT);
    fs::write(&file, text)?;
    let problem = systemctl(&["daemon-reload"])
        .and_then(|()| systemctl(&["enable", UNIT]))
        .and_then(|()| systemctl(&["restart", UNIT]))
        .err();
    Ok(UnitInstallation { file, problem })
}

/// Stops the unit, and removes it from a folder of units. Sessions go on.
///
/// # Errors
/// The file cannot be removed, or there is none.
pub fn uninstall(units: &Path) -> io::Result<UnitInstallation> {
    let file = units.join(UNIT);
    fs::metadata(&file)?;
    let stopped = systemctl(&["disable", "--now", UNIT]);
    fs::remove_file(&file)?;
    let problem = stopped.and_then(|()| systemctl(&["daemon-reload"])).err();
    Ok(UnitInstallation { file, problem })
}

/// Asks the systemd of the user; an error is what it says.
fn systemctl(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("systemctl").arg("--user").args(arguments).output();
    let output = output.map_err(|error| format!("systemctl: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted(r#"a "b" 100% $HOME \n"#), r#""a \"b\" 100%% $$HOME \\n""#);
    }
}

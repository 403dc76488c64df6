//! Writes the server into the configuration of a client.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};

/// The name of the server in the configuration of a client.
const NAME: &str = "deskhand";

/// A client whose configuration can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKind {
    /// Claude Code: `.mcp.json` in the folder of the project.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code: `.vscode/mcp.json` in the folder of the project.
    VsCode,
}

/// The configuration of a client cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The file cannot be read or written.
    #[error("{doing} {}", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file is not what the client writes.
    #[error("{} is not valid {format}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The expected format.
        format: &'static str,
        /// The problem.
        problem: String,
    },
}

/// The written configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpInstallation {
    /// The file.
    pub path: PathBuf,
    /// The part of it that is for Deskhand.
    pub part: String,
    /// `true` if the file already contained it.
    pub already: bool,
}

impl ClientKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::ClaudeDesktop, Self::Codex, Self::Cursor, Self::VsCode];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
        }
    }

    /// Its configuration file, below the folder of the project or the home folder.
    fn file(self, project: &Path, home: &Path) -> PathBuf {
        match self {
            Self::ClaudeCode => project.join(".mcp.json"),
            Self::VsCode => project.join(".vscode/mcp.json"),
            Self::ClaudeDesktop => home.join(".config/Claude/claude_desktop_config.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::Cursor => home.join(".cursor/mcp.json"),
        }
    }

    /// The name of the table that holds servers.
    const fn table(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::VsCode => "servers",
        }
    }
}

/// Adds the server to the configuration of a client; `program` is the path of `deskhand`. Everything else in the file stays as it is.
///
/// # Errors
/// The file cannot be read or written, or is not valid. It is left as it was then.
pub fn install(
    client: ClientKind,
    program: &Path,
    project: &Path,
    home: &Path,
) -> Result<McpInstallation, InstallError> {
    let path = client.file(project, home);
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(InstallError::Io { doing: "read", path, source }),
    };
    let (after, part) = match client {
        ClientKind::Codex => with_section(&before, client.table(), program, &path)?,
        ClientKind::ClaudeCode | ClientKind::ClaudeDesktop | ClientKind::Cursor | ClientKind::VsCode => {
            with_member(&before, client.table(), program, &path)?
        }
    };
    let already = after == before;
    if !already {
        write(&path, &after).map_err(|source| InstallError::Io {
            doing: "write",
            path: path.clone(),
            source,
        })?;
    }
    Ok(McpInstallation { path, part, already })
}

/// A JSON file with the server, and the part that is for it.
fn with_member(
    before: &str,
    table: &str,
    program: &Path,
    path: &Path,
) -> Result<(String, String), InstallError> {
    let invalid = |problem: String| InstallError::Invalid { path: path.to_owned(), format: "JSON", problem };
    let mut file: Map<String, Value> = match before.trim() {
        "" => Map::new(),
        text => serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?,
    };
    let server = json!({"command": program.to_string_lossy(), "args": ["mcp"]});
    let servers = file.entry(table).or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().ok_or_else(|| invalid(format!("`{table}` is not an object")))?;
    let is_there = servers.get(NAME) == Some(&server);
    servers.insert(NAME.to_owned(), server.clone());
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let part = pretty(&json!({table: {NAME: server}}));
    let after = if is_there { before.to_owned() } else { pretty(&Value::Object(file)) + "\n" };
    Ok((after, part))
}

/// A TOML file with the server at its end, and the part that is for it.
fn with_section(
    before: &str,
    table: &str,
    program: &Path,
    path: &Path,
) -> Result<(String, String), InstallError> {
    let invalid = |problem: String| InstallError::Invalid { path: path.to_owned(), format: "TOML", problem };
    let file: toml::Table = before.parse().map_err(|error: toml::de::Error| invalid(error.to_string()))?;
    let command = toml::Value::String(program.to_string_lossy().into_owned());
    let part = format!("[{table}.{NAME}]\ncommand = {command}\nargs = [\"mcp\"]\n");
    let known = file.get(table).and_then(|servers| servers.get(NAME));
    match known.map(|server| server.get("command") == Some(&command)) {
        Some(true) => Ok((before.to_owned(), part)),
        Some(false) => {
            Err(invalid(format!("[{table}.{NAME}] is there with another command; remove it first")))
        }
        None => {
            let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
            let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            Ok((format!("{before}{end}{gap}{part}"), part))
        }
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let fresh = path.with_extension("deskhand-new");
    fs::write(&fresh, text)?;
    if let Ok(known) = fs::metadata(path) {
        fs::set_permissions(&fresh, known.permissions())?;
    }
    fs::rename(&fresh, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(client: ClientKind, folder: &Path) -> Result<McpInstallation, InstallError> {
        install(client, Path::new("/opt/deskhand"), folder, folder)
    }

    #[test]
    fn what_else_is_configured_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".mcp.json");
        fs::write(&file, r#"{"other": 1, "mcpServers": {"first": {"command": "x"}}}"#).unwrap();
        let first = installed(ClientKind::ClaudeCode, folder.path()).unwrap();
        assert!(!first.already);
        let text = fs::read_to_string(&file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["other"], &value["mcpServers"]["first"]["command"]), (&json!(1), &json!("x")));
        assert_eq!(value["mcpServers"]["deskhand"], json!({"command": "/opt/deskhand", "args": ["mcp"]}));
        // A second time changes nothing.
        assert!(installed(ClientKind::ClaudeCode, folder.path()).unwrap().already);
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }

    #[test]
    fn a_section_is_added_to_toml() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".codex/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "# mine\nmodel = \"x\"").unwrap();
        installed(ClientKind::Codex, folder.path()).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(
            text,
            "# mine\nmodel = \"x\"\n\n[mcp_servers.deskhand]\ncommand = \"/opt/deskhand\"\nargs = [\"mcp\"]\n"
        );
        assert!(installed(ClientKind::Codex, folder.path()).unwrap().already);
        let elsewhere = install(ClientKind::Codex, Path::new("/else"), folder.path(), folder.path());
        assert!(elsewhere.unwrap_err().to_string().contains("remove it first"));
    }

    #[test]
    fn every_client_gets_a_file_and_an_invalid_one_is_left_alone() {
        for client in ClientKind::ALL {
            let folder = tempfile::tempdir().unwrap();
            let written = installed(client, folder.path()).unwrap();
            assert!(fs::read_to_string(&written.path).unwrap().contains("/opt/deskhand"), "{client:?}");
            fs::write(&written.path, "{ not this").unwrap();
            let error = installed(client, folder.path()).unwrap_err();
            assert!(matches!(error, InstallError::Invalid { .. }), "{client:?}: {error}");
            assert_eq!(fs::read_to_string(&written.path).unwrap(), "{ not this");
        }
    }
}

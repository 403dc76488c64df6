//! Servers in the form of the reference implementation: `mcp.yaml`.
//!
//! Agent → application or `default` → `data_collection` and `action` → servers with `namespace`, `type` (`local`, `http`, `stdio`) and
//! what starts or reaches them. Servers of type `local` are the reference's own; Deskhand has these tools itself, and leaves them out.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    HostError,
    config::{ConfigError, McpServerSection, ToolProgramSettings},
};

/// The applications of an agent, or `default`, with their servers.
type Applications = BTreeMap<String, Servers>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Servers {
    data_collection: Vec<ReferenceServerEntry>,
    action: Vec<ReferenceServerEntry>,
}

#[derive(Debug, Deserialize)]
struct ReferenceServerEntry {
    namespace: String,
    #[serde(rename = "type")]
    kind: ReferenceServerKind,
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    port: Option<u16>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    start_args: Vec<String>,
    #[serde(default)]
    cwd: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReferenceServerKind {
    Local,
    Http,
    Stdio,
}

/// Reads such a file.
///
/// # Errors
/// It cannot be read, or is not in this form.
pub(super) fn read(file: &Path) -> Result<BTreeMap<String, McpServerSection>, HostError> {
    let unfit = |problem: String, fix: &str| -> HostError {
        ConfigError::Unfit { key: "mcp_file".to_owned(), problem, fix: fix.to_owned() }.into()
    };
    let text = fs::read_to_string(file).map_err(|error| {
        unfit(format!("{} cannot be read: {error}", file.display()), "name a file that exists")
    })?;
    let agents: BTreeMap<String, Applications> = serde_saphyr::from_str(&text).map_err(|error| {
        unfit(
            format!("{} is not in the form of mcp.yaml: {error}", file.display()),
            "write agent, then application or `default`, then `data_collection` and `action` with lists of servers",
        )
    })?;
    Ok(servers(&agents))
}

fn servers(agents: &BTreeMap<String, Applications>) -> BTreeMap<String, McpServerSection> {
    let mut all: BTreeMap<String, McpServerSection> = BTreeMap::new();
    for (agent, applications) in agents {
        for (application, servers) in applications {
            let who = match (agent.as_str(), application.as_str()) {
                ("HostAgent", _) => "host",
                (_, "default") => "apps",
                (_, application) => application,
            };
            let reading = servers.data_collection.iter().map(|entry| (entry, true));
            let acting = servers.action.iter().map(|entry| (entry, false));
            for (entry, reads) in
                reading.chain(acting).filter(|(entry, _)| entry.kind != ReferenceServerKind::Local)
            {
                let server = all.entry(entry.namespace.clone()).or_insert_with(|| entry.settings());
                if !server.audience.iter().any(|known| known == who) {
                    server.audience.push(who.to_owned());
                }
                if reads && server.reads.is_empty() {
                    server.reads.push("*".to_owned());
                } else if !reads {
                    // What one agent acts with is not only read.
                    server.reads.clear();
                }
            }
        }
    }
    all
}

impl ReferenceServerEntry {
    fn settings(&self) -> McpServerSection {
        let program = ToolProgramSettings { folder: self.cwd.clone(), ..ToolProgramSettings::default() };
        let plain = McpServerSection { audience: Vec::new(), program, ..McpServerSection::default() };
        match self.kind {
            ReferenceServerKind::Http | ReferenceServerKind::Local => {
                let host = self.host.as_deref().unwrap_or("127.0.0.1");
                let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
                let path = self.path.as_deref().unwrap_or("/mcp");
                let slash = if path.starts_with('/') { "" } else { "/" };
                McpServerSection { url: Some(format!("http://{host}{port}{slash}{path}")), ..plain }
            }
            ReferenceServerKind::Stdio => {
                let command = self.command.iter().chain(&self.start_args).cloned().collect();
                McpServerSection { command, ..plain }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_reference_is_read() {
        let text = "
HostAgent:
  default:
    data_collection:
      - {namespace: UICollector, type: local, reset: false}
    action:
      - {namespace: Notes, type: stdio, command: python3, start_args: [notes.py, --fast], cwd: /srv}
AppAgent:
  default:
    data_collection:
      - {namespace: Weather, type: http, host: localhost, port: 8010, path: /mcp}
  WINWORD.EXE:
    action:
      - {namespace: Notes, type: stdio, command: python3, start_args: [notes.py, --fast]}
";
        let agents: BTreeMap<String, Applications> = serde_saphyr::from_str(text).unwrap();
        let all = servers(&agents);
        assert_eq!(all.keys().collect::<Vec<_>>(), ["Notes", "Weather"]);
        assert_eq!(all["Notes"].audience, ["WINWORD.EXE", "host"]);
        assert_eq!(all["Notes"].command, ["python3", "notes.py", "--fast"]);
        assert!(all["Notes"].reads.is_empty());
        assert_eq!(all["Weather"].url.as_deref(), Some("http://localhost:8010/mcp"));
        assert_eq!(all["Weather"].reads, ["*"]);
    }
}

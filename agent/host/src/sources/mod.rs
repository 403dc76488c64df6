//! The configured sources of tools: MCP servers and programs.

mod reference;

use std::{path::Path, time::Duration};

use deskhand_http::{HttpCredential, http_url};
use deskhand_machine::intent::Does;
use deskhand_runtime::{
    mcp::{HttpSettings, McpServerSettings as Server, McpTransport, ProgramSettings},
    sources::{
        ArgumentKind, EnabledSources, ProgramArgument, ProgramInput, ProgramTool, ServerRules, ServerSource,
        ToolAudience,
    },
    tools::FileSettings,
};
use deskhand_secret::SecretSource;

use crate::{
    HostError,
    agents::ProgramConfinement,
    config::{
        Config, ConfigError, McpServerSection, ToolArgumentSetting, ToolDoesSetting, ToolInputSetting,
        ToolProgramSettings, ToolSettings, ValueSource, expanded,
    },
};

/// The sources of a configuration.
///
/// # Errors
/// A source is incomplete, or one of its tokens cannot be read.
pub(crate) fn sources(config: &Config, helper: Option<&Path>) -> Result<EnabledSources, HostError> {
    let confined = ProgramConfinement::new(config, helper);
    let mut sources = EnabledSources::default();
    for (name, server) in servers(config)? {
        let (settings, rules) = server_of(&name, &server, &confined)?;
        sources = sources.with(ServerSource::new(settings, rules));
    }
    for (index, tool) in config.tools.iter().enumerate() {
        sources = sources.with(program_of(index, tool, &confined)?);
    }
    Ok(sources)
}

/// Returns the settings by which agents read files, except our own files. `None` without a helper program.
pub(crate) fn files(config: &Config, helper: Option<&Path>) -> Option<FileSettings> {
    ProgramConfinement::new(config, helper).files()
}

/// The servers of a configuration that are used, by name, with those of its file in the reference's form.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn servers(config: &Config) -> Result<Vec<(String, McpServerSection)>, HostError> {
    let mut all = config.servers.clone();
    if let Some(file) = &config.mcp_file {
        for (name, server) in reference::read(&expanded(file))? {
            all.entry(name).or_insert(server);
        }
    }
    Ok(all.into_iter().filter(|(_, server)| server.enabled).collect())
}

fn unfit(key: String, problem: impl Into<String>, fix: impl Into<String>) -> HostError {
    ConfigError::Unfit { key, problem: problem.into(), fix: fix.into() }.into()
}

/// A server as it is opened, and the rules for its tools.
pub(crate) fn server_of(
    name: &str,
    settings: &McpServerSection,
    confined: &ProgramConfinement,
) -> Result<(Server, ServerRules), HostError> {
    let key = format!("servers.{name}");
    let transport = match (&settings.url, settings.command.is_empty()) {
        (Some(url), true) => {
            let place = format!("{key}.url");
            let url =
                http_url(url).map_err(|error| unfit(place, error.to_string(), "write a full address"))?;
            let token = settings.token.as_ref().map(|source| secret(&format!("{key}.token"), source));
            let header = |(name, source): (&String, &ValueSource)| {
                Ok((name.clone(), secret(&format!("{key}.headers.{name}"), source)?))
            };
            let headers = settings.headers.iter().map(header).collect::<Result<Vec<_>, HostError>>()?;
            McpTransport::Http(HttpSettings { url, token: token.transpose()?, headers })
        }
        (None, false) => McpTransport::Program(ProgramSettings {
            command: settings.command.clone(),
            folder: settings.program.folder.as_deref().map(expanded),
            sandbox: confined.tool(&settings.program),
            environment: confined.passed(&settings.program.environment),
            variables: variables(&key, &settings.program)?,
        }),
        (Some(_), false) => {
            return Err(unfit(key, "it has both `command` and `url`", "remove one of them"));
        }
        (None, true) => {
            return Err(unfit(
                key,
                "it has neither `command` nor `url`",
                "add the one that starts or reaches it",
            ));
        }
    };
    let seconds = |seconds: u64| Duration::from_secs(seconds.max(1));
    let timeouts = settings.timeouts_s.iter().map(|(tool, limit)| (tool.clone(), seconds(*limit)));
    let rules = ServerRules {
        audience: audience(&settings.audience),
        only: settings.only.clone(),
        without: settings.without.clone(),
        reads: settings.reads.clone(),
        timeout: seconds(settings.timeout_s),
        timeouts: timeouts.collect(),
    };
    let server =
        Server { name: name.to_owned(), transport, start_timeout: seconds(settings.start_timeout_s) };
    Ok((server, rules))
}

/// A tool that is a program.
fn program_of(
    index: usize,
    settings: &ToolSettings,
    confined: &ProgramConfinement,
) -> Result<ProgramTool, HostError> {
    let key = format!("tools[{index}]");
    let is_name = settings.name.starts_with(|c: char| c.is_ascii_lowercase())
        && settings.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        let problem = format!("`{}` is no name of a tool", settings.name);
        return Err(unfit(
            format!("{key}.name"),
            problem,
            "use lower-case letters, digits and `_`, such as read_mail",
        ));
    }
    if settings.command.is_empty() {
        return Err(unfit(format!("{key}.command"), "it is empty", "name the program and its arguments"));
    }
    let argument = |(name, argument): (&String, &crate::config::ToolArgumentSettings)| {
        let kind = match argument.kind {
            ToolArgumentSetting::Text => ArgumentKind::Text,
            ToolArgumentSetting::Number => ArgumentKind::Number,
            ToolArgumentSetting::Integer => ArgumentKind::Integer,
            ToolArgumentSetting::Boolean => ArgumentKind::Boolean,
            ToolArgumentSetting::File => ArgumentKind::File,
            ToolArgumentSetting::NewFile => ArgumentKind::NewFile,
        };
        let argument = ProgramArgument {
            kind,
            description: argument.description.clone(),
            optional: argument.optional,
            values: argument.values.clone(),
        };
        (name.clone(), argument)
    };
    Ok(ProgramTool {
        name: settings.name.clone(),
        description: settings.description.clone(),
        command: settings.command.clone(),
        arguments: settings.arguments.iter().map(argument).collect(),
        input: match settings.input {
            ToolInputSetting::Nothing => ProgramInput::Nothing,
            ToolInputSetting::Json => ProgramInput::Json,
        },
        does: match settings.does {
            ToolDoesSetting::Other => Does::Other,
            ToolDoesSetting::Read => Does::Read,
            ToolDoesSetting::Save => Does::Save,
        },
        audience: audience(&settings.audience),
        folder: settings.program.folder.as_deref().map(expanded),
        sandbox: confined.tool(&settings.program),
        environment: confined.passed(&settings.program.environment),
        variables: variables(&key, &settings.program)?,
        timeout: Duration::from_secs(settings.timeout_s.max(1)),
    })
}

/// Who has tools, from the words of a configuration.
fn audience(words: &[String]) -> Vec<ToolAudience> {
    let mut all = Vec::new();
    let mut applications = Vec::new();
    for word in words {
        match word.trim() {
            "host" => all.push(ToolAudience::Host),
            "apps" => all.push(ToolAudience::Apps(Vec::new())),
            application => applications.push(application.to_owned()),
        }
    }
    if !applications.is_empty() {
        all.push(ToolAudience::Apps(applications));
    }
    all
}

fn variables(key: &str, settings: &ToolProgramSettings) -> Result<Vec<(String, HttpCredential)>, HostError> {
    let one = |(name, source): (&String, &ValueSource)| {
        Ok((name.clone(), secret(&format!("{key}.program.variables.{name}"), source)?))
    };
    settings.variables.iter().map(one).collect()
}

fn secret(key: &str, source: &ValueSource) -> Result<HttpCredential, HostError> {
    let source = match (&source.env, &source.file) {
        (Some(name), None) => SecretSource::Environment(name.clone()),
        (None, Some(file)) => SecretSource::File(expanded(file)),
        (Some(_), Some(_)) | (None, None) => {
            return Err(unfit(key.to_owned(), "it needs exactly one source", "set `env` or `file`"));
        }
    };
    HttpCredential::read(&source).map_err(|error| {
        unfit(
            key.to_owned(),
            format!("{source} {error}"),
            "set it, or switch the server off with `enabled = false`",
        )
    })
}

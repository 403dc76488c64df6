//! `deskhand mcp`: Deskhand as a server of the Model Context Protocol.

use std::{
    env,
    io::IsTerminal as _,
    path::{Path, PathBuf},
    time::Duration,
};

use deskhand_host::Host;
use deskhand_serve::mcp;

use super::{host::load, signals::StopSignals};
use crate::{
    args::{McpArgs, McpCommand, McpInstallArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(crate) async fn mcp(args: &McpArgs) -> CommandResult {
    if let Some(McpCommand::Install(install)) = &args.command {
        return write(install);
    }
    let host = load(args.settings.overrides())?;
    if args.http {
        return serve_http(args, host).await;
    }
    if std::io::stdin().is_terminal() {
        let words = "Waiting for a client of the Model Context Protocol on standard input; Ctrl-D ends. See `deskhand mcp --help`.";
        Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, words));
    }
    let mut signals = StopSignals::catch()?;
    let ending = async move {
        let _ = signals.next().await;
    };
    mcp::serve(host, tokio::io::stdin(), tokio::io::stdout(), ending)
        .await
        .map_err(|error| CliError::failed_to("serve the client", error))?;
    Ok(Exit::Success)
}

/// Serves clients over HTTP until a signal.
async fn serve_http(args: &McpArgs, host: Host) -> CommandResult {
    let token = match &args.token_file {
        Some(file) => given_token(file)?,
        None => mcp::HttpOptions::new_token().map_err(|error| CliError::failed_to("make a token", error))?,
    };
    let options = mcp::HttpOptions {
        port: args.port,
        token: token.clone(),
        origins: args.allow_origin.clone(),
        idle: Duration::from_secs_f64(args.idle_minutes * SECONDS_OF_MINUTE),
    };
    let server = mcp::HttpServer::bind(options).await.map_err(|error| {
        CliError::failed_to(format!("listen on 127.0.0.1:{}", args.port), error)
            .with_help("choose another port with --port, or 0 for a free one")
    })?;
    let out = Output::to(OutputStream::Out);
    out.text(&server.url);
    if args.token_file.is_none() {
        out.text(format!("Authorization: Bearer {token}"));
    }
    let mut signals = StopSignals::catch()?;
    let ending = async move {
        let _ = signals.next().await;
    };
    server.serve(host, ending).await.map_err(|error| CliError::failed_to("serve clients", error))?;
    Ok(Exit::Success)
}

const SECONDS_OF_MINUTE: f64 = 60.0;

/// The fewest characters of a token.
const TOKEN_MIN: usize = 16;

fn given_token(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| CliError::failed_to(format!("read the token in {}", file.display()), error))?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    if token.len() < TOKEN_MIN || !token.chars().all(|c| c.is_ascii_graphic()) {
        return Err(CliError::usage(format!(
            "the first line of {} is no token: it needs at least {TOKEN_MIN} letters, digits or signs",
            file.display()
        )));
    }
    Ok(token)
}

/// Writes the configuration of a client.
fn write(args: &McpInstallArgs) -> CommandResult {
    let program =
        env::current_exe().map_err(|error| CliError::failed_to("find the path of this program", error))?;
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| {
        CliError::usage("HOME is not set, so the configuration of the client cannot be found")
    })?;
    let project = args.project.as_deref().unwrap_or(Path::new("."));
    let client = args.client.0;
    let installed = mcp::install(client, &program, project, &home).map_err(|error| {
        CliError::failed_to(format!("configure {}", client.name()), error)
            .with_help("the file is as it was; docs/guides/clients.md says what to write into it by hand")
    })?;
    let out = Output::to(OutputStream::Out);
    let what = if installed.already { "is already in" } else { "was written into" };
    out.text(format!("this {what} {}:", installed.path.display()));
    out.text(installed.part.trim_end());
    Ok(Exit::Success)
}

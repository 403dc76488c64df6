//! `deskhand secret`: the configured secrets, by name. No value is printed.

use deskhand_host::{SecretInfo, config::Overrides};
use deskhand_ui::secret::PREFIX;
use serde_json::json;

use super::host::load;
use crate::{
    args::{SecretArgs, SecretCheckArgs, SecretCommand, SecretListArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

pub(crate) async fn secret(args: &SecretArgs) -> CommandResult {
    match &args.command {
        SecretCommand::List(args) => list(args),
        SecretCommand::Check(args) => check(args).await,
    }
}

fn list(args: &SecretListArgs) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    let secrets = load(Overrides::default())?.secrets()?;
    if secrets.is_empty() && !args.json {
        out.text("no secrets; `deskhand config explain secrets.NAME.file` says how to set one");
    }
    for SecretInfo { name, source, permit } in &secrets {
        if args.json {
            out.json(&json!({ "name": name, "source": source, "permit": permit }));
            continue;
        }
        let place = format!("{} of {}", permit.place(), permit.application);
        out.line(
            &StyledLine::of(OutputTone::Strong, format!("{PREFIX}{name}"))
                .with(OutputTone::Plain, format!("  {place}"))
                .with(OutputTone::Faint, format!("  from {source}")),
        );
    }
    Ok(Exit::Success)
}

async fn check(args: &SecretCheckArgs) -> CommandResult {
    let (out, host) = (Output::to(OutputStream::Out), load(Overrides::default())?);
    let known: Vec<String> = host.secrets()?.into_iter().map(|secret| secret.name).collect();
    if let Some(name) = args.names.iter().find(|name| !known.contains(name)) {
        return Err(unknown(name, known.iter().map(String::as_str)));
    }
    let mut exit = Exit::Success;
    for name in known.iter().filter(|name| args.names.is_empty() || args.names.contains(name)) {
        let line = StyledLine::of(OutputTone::Strong, format!("{PREFIX}{name}"));
        match host.try_secret(name).await {
            Ok(()) => out.line(&line.with(OutputTone::Good, "  can be read")),
            Err(reason) => {
                exit = Exit::Negative;
                out.line(&line.with(OutputTone::Bad, format!("  {reason}")));
            }
        }
    }
    Ok(exit)
}

/// A secret that is not configured.
pub(super) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> CliError {
    let known: Vec<&str> = known.collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    CliError::usage(format!("there is no secret `{name}`"))
        .with_help(format!("configured: {known}; `[secrets.{name}]` in the configuration says where one is"))
}

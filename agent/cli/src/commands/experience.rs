//! `deskhand experience`: what earlier sessions and demonstrations taught.

use deskhand_host::{
    Host, HostError,
    config::Overrides,
    knowledge::{Experience, ExperienceKind, ExperienceOutcome, Forget, KnowledgeError},
};
use deskhand_runtime::now_ms;
use deskhand_ui::text::{excerpt, one_line};
use serde_json::json;

use super::host::load;
use crate::{
    args::{ExperienceArgs, ExperienceCommand, ForgetArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Maximum length of a listed request, in characters.
const REQUEST_MAX: usize = 100;
/// Milliseconds of a day.
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

pub(crate) fn experience(args: &ExperienceArgs) -> CommandResult {
    let host = load(Overrides::default())?;
    match &args.command {
        ExperienceCommand::List { json } => list(&host, *json),
        ExperienceCommand::Show { id, json } => show(&host, id, *json),
        ExperienceCommand::Forget(args) => forget(&host, args),
    }
}

fn failed(error: impl Into<KnowledgeError>) -> CliError {
    HostError::from(error.into()).into()
}

/// All of them, newest first.
fn all(host: &Host) -> Result<Vec<Experience>, CliError> {
    let mut all = host.knowledge().experiences().map_err(failed)?.list().map_err(failed)?;
    all.sort_by_key(|experience| std::cmp::Reverse(experience.at_ms));
    Ok(all)
}

fn list(host: &Host, as_json: bool) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    let all = all(host)?;
    if all.is_empty() && !as_json {
        let text =
            "there is no experience yet; requests that are evaluated (`evaluation.enabled`) become some";
        Output::to(OutputStream::Error).text(text);
    }
    for one in all {
        if as_json {
            out.json(&json!(one));
            continue;
        }
        let (tone, word) = match one.outcome {
            ExperienceOutcome::Worked => (OutputTone::Good, "worked"),
            ExperienceOutcome::Failed => (OutputTone::Bad, "failed"),
        };
        let shown = match one.kind {
            ExperienceKind::Session => "",
            ExperienceKind::Demonstration => "  shown by you",
        };
        let used = one.uses.used;
        let used = if used == 0 { String::new() } else { format!("  used {used} times") };
        let line = StyledLine::of(OutputTone::Strong, &one.id)
            .with(tone, format!("  {word}"))
            .with(OutputTone::Plain, format!("  {}", excerpt(&one_line(&one.request), REQUEST_MAX)))
            .with(OutputTone::Faint, format!("  {}{used}{shown}", one.applications.join(", ")));
        out.line(&line);
    }
    Ok(Exit::Success)
}

/// The experience with this id, or the only one whose id starts with it.
fn find(host: &Host, id: &str) -> Result<Experience, CliError> {
    let all = all(host)?;
    let mut fitting = all.iter().filter(|one| one.id.starts_with(id));
    let exact = all.iter().find(|one| one.id == id);
    match (exact, fitting.next(), fitting.next()) {
        (Some(one), ..) | (None, Some(one), None) => Ok(one.clone()),
        (None, Some(_), Some(_)) => {
            let help = "give more of it; `deskhand experience list` lists the ids";
            Err(CliError::usage(format!("several experiences begin with `{id}`")).with_help(help))
        }
        (None, None, _) => Err(failed(KnowledgeError::NoExperience(id.to_owned()))),
    }
}

fn show(host: &Host, id: &str, as_json: bool) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    let one = find(host, id)?;
    if as_json {
        out.json(&json!(one));
    } else {
        out.line(
            &StyledLine::of(OutputTone::Strong, &one.id)
                .with(OutputTone::Faint, format!("  session {}", one.session)),
        );
        out.text(one.shown());
    }
    Ok(Exit::Success)
}

fn forget(host: &Host, args: &ForgetArgs) -> CommandResult {
    let what = match args {
        ForgetArgs { id: Some(id), .. } => Forget::Id(find(host, id)?.id),
        ForgetArgs { app: Some(app), .. } => Forget::Application(app.to_lowercase()),
        ForgetArgs { older_than, .. } => {
            let age_ms = older_than.unwrap_or(u64::MAX).saturating_mul(DAY_MS);
            Forget::Before(now_ms().saturating_sub(age_ms))
        }
    };
    let count = host.knowledge().experiences().map_err(failed)?.forget(&what).map_err(failed)?;
    Output::to(OutputStream::Out).text(format!("{count} forgotten"));
    Ok(Exit::Success)
}

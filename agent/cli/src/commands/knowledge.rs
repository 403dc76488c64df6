//! `deskhand knowledge`: the index of help, and what agents would find.

use std::path::{Path, PathBuf};

use deskhand_host::{
    Host, HostError,
    config::Overrides,
    knowledge::{HelpFolders, HelpIndexUpdate, HelpSource, KnowledgeError, Languages},
};
use deskhand_machine::{agent::AgentRef, retrieval::Hit};
use deskhand_runtime::RetrievalResult;
use deskhand_ui::{
    AppInfo,
    text::{excerpt, one_line},
};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::host::load;
use crate::{
    args::{KnowledgeAddArgs, KnowledgeArgs, KnowledgeCommand, KnowledgeSearchArgs},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Maximum number of skipped files listed by name.
const SKIPPED_SHOWN: usize = 5;
/// Maximum length of a printed reason, in characters.
const WHY_MAX: usize = 200;

pub(crate) async fn knowledge(args: &KnowledgeArgs) -> CommandResult {
    let host = load(Overrides::default())?;
    match &args.command {
        KnowledgeCommand::Add(args) => add(&host, args).await,
        KnowledgeCommand::Remove { path } => remove(&host, path),
        KnowledgeCommand::List { json } => list(&host, *json),
        KnowledgeCommand::Search(args) => search(&host, args).await,
    }
}

fn failed(error: impl Into<KnowledgeError>) -> CliError {
    HostError::from(error.into()).into()
}

async fn add(host: &Host, args: &KnowledgeAddArgs) -> CommandResult {
    let notes = Output::to(OutputStream::Error);
    let mut added = Vec::new();
    // What this machine has about an application may be without a word of help, unlike what somebody names.
    let is_found = args.paths.is_empty();
    for source in sources(args)? {
        notes.status(&StyledLine::of(OutputTone::Faint, format!("reading {}", source.path.display())));
        let (knowledge, path) = (host.knowledge(), source.path.clone());
        let done = spawn_blocking(move || -> Result<HelpIndexUpdate, KnowledgeError> {
            Ok(knowledge.help()?.add(&source)?)
        });
        let done = done.await.map_err(|error| CliError::failed_to("add help", error))?;
        notes.clear_status();
        let done = done.map_err(failed)?;
        if is_found && done.passages == 0 {
            host.knowledge().help().map_err(failed)?.remove(&path).map_err(failed)?;
            continue;
        }
        told(&notes, &path, &done);
        added.push(path);
    }
    if added.is_empty() {
        return Err(no_help(args.app.as_deref().unwrap_or_default()));
    }
    let out = Output::to(OutputStream::Out);
    added.iter().for_each(|path| out.text(path.display()));
    Ok(Exit::Success)
}

/// Returns the sources to add.
fn sources(args: &KnowledgeAddArgs) -> Result<Vec<HelpSource>, CliError> {
    let languages = args.language.as_deref().map_or_else(Languages::of_environment, Languages::of_locale);
    if args.paths.is_empty() {
        let name = args.app.as_deref().unwrap_or_default();
        let found = HelpFolders::default().sources(name, &languages);
        return if found.is_empty() { Err(no_help(name)) } else { Ok(found) };
    }
    let source = |path: &PathBuf| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let source = HelpSource::new(path).in_languages(languages.clone());
        match &args.app {
            Some(app) => source.about(app),
            None => source,
        }
    };
    Ok(args.paths.iter().map(source).collect())
}

fn no_help(application: &str) -> CliError {
    let help =
        "install its help (such as libreoffice-help-en-us or gnome-user-docs), or name a file or folder";
    CliError::usage(format!("this machine has no help about `{application}`")).with_help(help)
}

/// `1 file`, `2 files`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Prints the files that were read, and those that were skipped.
fn told(notes: &Output, path: &Path, added: &HelpIndexUpdate) {
    let HelpIndexUpdate { files, passages, skipped, left_out } = added;
    let tone = if *passages == 0 { OutputTone::Doubtful } else { OutputTone::Good };
    let read = format!("{} of {}", counted(*passages, "passage"), counted(*files, "file"));
    notes.line(&StyledLine::of(tone, format!("{}: {read}", path.display())));
    for one in skipped.iter().take(SKIPPED_SHOWN) {
        let why = excerpt(&one_line(&one.reason), WHY_MAX);
        notes.line(&StyledLine::of(OutputTone::Faint, format!("skipped {}: {why}", one.path.display())));
    }
    if skipped.len() > SKIPPED_SHOWN {
        notes.line(&StyledLine::of(
            OutputTone::Faint,
            format!("{} more were skipped", skipped.len() - SKIPPED_SHOWN),
        ));
    }
    if let Some(left_out) = left_out {
        notes.line(&StyledLine::of(OutputTone::Doubtful, format!("left out: {left_out}")));
    }
}

fn remove(host: &Host, path: &Path) -> CommandResult {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let removed = host.knowledge().help().map_err(failed)?.remove(&path).map_err(failed)?;
    if !removed {
        let help = "`deskhand knowledge list` lists what is in the index";
        return Err(CliError::usage(format!("{} is not in the index", path.display())).with_help(help));
    }
    Ok(Exit::Success)
}

fn list(host: &Host, as_json: bool) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    let sources = host.knowledge().help().map_err(failed)?.list().map_err(failed)?;
    if sources.is_empty() && !as_json {
        let text =
            "the index is empty; `deskhand knowledge add --app NAME` adds the help about an application";
        Output::to(OutputStream::Error).text(text);
    }
    for source in sources {
        if as_json {
            out.json(&json!(source));
            continue;
        }
        let about = source.application.as_ref().map(|app| format!("  about {app}")).unwrap_or_default();
        let size = format!("  {} of {}", counted(source.passages, "passage"), counted(source.files, "file"));
        let line = StyledLine::of(OutputTone::Strong, source.path.display().to_string())
            .with(OutputTone::Plain, size)
            .with(OutputTone::Faint, about);
        out.line(&line);
    }
    Ok(Exit::Success)
}

async fn search(host: &Host, args: &KnowledgeSearchArgs) -> CommandResult {
    let out = Output::to(OutputStream::Out);
    let application =
        args.app.as_ref().map(|app| AppInfo { name: app.clone(), root: app.to_lowercase(), pid: None });
    let agent = match &application {
        Some(app) => AgentRef::AppAgent { application: app.root.clone(), window: None },
        None => AgentRef::HostAgent,
    };
    let Some(found) = host.look_up(&args.wanted, &agent, application.as_ref()).await? else {
        let text = format!(
            "no retriever is asked for {agent}; `deskhand knowledge add` adds help, and `knowledge` in the configuration says what is asked for whom"
        );
        Output::to(OutputStream::Error).text(text);
        return Ok(Exit::Negative);
    };
    shown(&out, &found, args.json);
    Ok(if found.hits.is_empty() { Exit::Negative } else { Exit::Success })
}

fn shown(out: &Output, found: &RetrievalResult, as_json: bool) {
    let notes = Output::to(OutputStream::Error);
    for problem in &found.problems {
        notes.line(&StyledLine::of(OutputTone::Doubtful, problem));
    }
    if as_json {
        found.hits.iter().for_each(|hit| out.json(&json!(hit)));
        return;
    }
    if found.hits.is_empty() {
        notes.text("nothing fits");
    }
    for (index, hit) in found.hits.iter().enumerate() {
        let Hit { retriever, trust, score, title, origin, text, .. } = hit;
        if index > 0 {
            out.text("");
        }
        let facts = format!("  {retriever}, {trust}, fits {score} of 1000, {} tokens", hit.tokens());
        out.line(&StyledLine::of(OutputTone::Strong, one_line(title)).with(OutputTone::Plain, facts));
        out.line(&StyledLine::of(OutputTone::Faint, one_line(origin)));
        text.lines().for_each(|line| out.text(line));
    }
}

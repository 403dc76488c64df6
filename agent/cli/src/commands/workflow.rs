//! `deskhand learn`, `deskhand do` and `deskhand workflow`: tasks that are done again without a model.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead as _, IsTerminal as _},
    path::{Path, PathBuf},
    process::Command,
};

use deskhand_host::{
    EndedSession, Host, HostError,
    workflows::{Learn, Perform, StoredWorkflow, WorkflowFileError, WorkflowFolder},
};
use deskhand_machine::workflow::{Parameter, ParameterKind, WorkflowEnd};
use deskhand_runtime::learn::{Unsure, WorkflowDraft};

use super::{
    consent::{ConsentChoice, admit_workflow, show},
    host::load,
    print_options::SessionPrintOptions,
    session::{carry_out_then, request},
};
use crate::{
    args::{DoArgs, DraftArgs, LearnArgs, WorkflowArgs, WorkflowCommand},
    exit::{CliError, CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// The editor if none is set.
const EDITOR: &str = "nano";

pub(crate) fn learn(args: &LearnArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let wanted = Learn { name: args.draft.name.clone(), round: args.request };
    let draft = host.learn(&args.session, &wanted)?;
    let path = shelve(&host, draft, &args.draft)?;
    Output::to(OutputStream::Out).text(path.display());
    Ok(Exit::Success)
}

/// Asks what is a parameter, and writes the workflow of a draft. Returns its file.
pub(super) fn shelve(host: &Host, mut draft: WorkflowDraft, args: &DraftArgs) -> Result<PathBuf, CliError> {
    let notes = Output::to(OutputStream::Error);
    for note in &draft.notes {
        notes.line(&StyledLine::of(OutputTone::Doubtful, note));
    }
    // It is written before anything is asked, so that it is there whatever becomes of the questions.
    let add = |draft: &WorkflowDraft, replaces: bool| {
        host.workflows().add_learnt(draft, replaces).map_err(HostError::from)
    };
    let path = add(&draft, args.force)?;
    for unsure in draft.unsure.clone() {
        if args.yes || (!args.no && is_parameter(&notes, &unsure)) {
            draft.accept(&unsure);
        }
    }
    add(&draft, /*replaces*/ true)?;
    told(&notes, &draft);
    Ok(path)
}

/// Asks whether a text is a parameter. Without a terminal it is none.
fn is_parameter(notes: &Output, unsure: &Unsure) -> bool {
    if !io::stdin().is_terminal() {
        let text =
            format!("“{}” ({}) stays as it is; --yes makes a parameter of it", unsure.value, unsure.place);
        notes.line(&StyledLine::of(OutputTone::Faint, text));
        return false;
    }
    let question = format!("Is “{}” ({}) a parameter `{}`? [y/N] ", unsure.value, unsure.place, unsure.name);
    notes.prompt(&StyledLine::of(OutputTone::Strong, question));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.is_ok() && answer.trim().to_lowercase().starts_with('y')
}

/// Prints the learned workflow, and the command that runs it.
fn told(notes: &Output, draft: &WorkflowDraft) {
    let workflow = &draft.workflow;
    notes.line(&StyledLine::of(OutputTone::Good, format!("learnt {draft}")));
    let parameters = workflow.parameters.iter().map(|(name, parameter)| usage(name, parameter));
    let parameters: String = parameters.map(|usage| format!(" {usage}")).collect();
    notes.line(&StyledLine::of(OutputTone::Plain, format!("deskhand do {}{parameters}", workflow.name)));
}

/// Formats the argument for a parameter: `--quarter Q3`.
fn usage(name: &str, parameter: &Parameter) -> String {
    let example = match parameter.kind {
        ParameterKind::Text | ParameterKind::File => format!("\"{}\"", parameter.example),
        ParameterKind::Number => parameter.example.clone(),
    };
    format!("--{name} {example}")
}

/// Formats the command that runs a workflow with these values.
pub(super) fn usage_of(name: &str, values: &BTreeMap<String, String>) -> String {
    let quoted = |value: &String| format!("'{}'", value.replace('\'', "'\\''"));
    let values = values.iter().map(|(name, value)| format!(" --{name} {}", quoted(value)));
    format!("deskhand do {name}{}", values.collect::<String>())
}

pub(crate) async fn perform(args: &DoArgs) -> CommandResult {
    let shelf = load(args.overrides())?.workflows();
    let mut shelved = shelf.find(&args.workflow).map_err(HostError::from)?;
    // The parameters are known now, so that options can be told apart from them.
    let names: Vec<&str> = shelved.workflow.parameters.keys().map(String::as_str).collect();
    let args = &args.told_apart(&names).map_err(CliError::usage)?;
    let host = load(args.overrides())?;
    let shown = SessionPrintOptions::of(&args.work, host.config());
    let values = args.parameters().map_err(CliError::usage)?;
    // What is wrong with the values is said before anything is asked.
    shelved.workflow.values(&values).map_err(|problem| {
        HostError::from(WorkflowFileError::Unfit { name: shelved.workflow.name.clone(), problem })
    })?;
    admit_workflow(&host, &mut shelved, &values, (args.trust, ConsentChoice::GoOn))?;
    let shelf = host.workflows();
    let perform = Perform {
        shelved: shelved.clone(),
        values,
        heal: host.config().workflows.heal.to_heal(),
        session: request(&args.work, None, args.screenshot.as_ref()),
    };
    let session = host.perform(perform)?;
    carry_out_then(session, &shown, /*history*/ None, |ended| propose(&shelf, &shelved, ended)).await
}

/// Writes what the run of a workflow proposes to change, and says how to look at it.
pub(super) fn propose(
    shelf: &WorkflowFolder,
    shelved: &StoredWorkflow,
    ended: &EndedSession,
) -> Result<(), HostError> {
    ended.workflows.iter().try_for_each(|end| propose_one(shelf, shelved, end))
}

/// The same for the workflows that agents ran. One that is gone from the folder is left out.
pub(super) fn propose_all(host: &Host, ended: &EndedSession) -> Result<(), HostError> {
    let shelf = host.workflows();
    for end in &ended.workflows {
        if let Ok(shelved) = shelf.find(&end.name) {
            propose_one(&shelf, &shelved, end)?;
        }
    }
    Ok(())
}

fn propose_one(shelf: &WorkflowFolder, shelved: &StoredWorkflow, end: &WorkflowEnd) -> Result<(), HostError> {
    let notes = Output::to(OutputStream::Error);
    let step = end.stopped_at.as_ref().map(|step| format!(", stopped at step {step}")).unwrap_or_default();
    notes.line(&StyledLine::of(
        OutputTone::Plain,
        format!("{} calls of {} done{step}", end.done, shelved.workflow.name),
    ));
    if end.unseen > 0 {
        let text = format!(
            "the effect of {} of them was not seen, as it was when they were learnt: look at the result",
            end.unseen
        );
        notes.line(&StyledLine::of(OutputTone::Doubtful, text));
    }
    if end.changes.is_empty() || shelf.propose(shelved, &end.changes)?.is_none() {
        return Ok(());
    }
    for change in &end.changes {
        change.to_string().lines().for_each(|line| notes.line(&StyledLine::of(OutputTone::Doubtful, line)));
    }
    let name = &shelved.workflow.name;
    let text = format!(
        "look at it with `deskhand workflow diff {name}`, take it over with `deskhand workflow accept {name}`"
    );
    notes.line(&StyledLine::of(OutputTone::Plain, text));
    Ok(())
}

pub(crate) fn workflow(args: &WorkflowArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let shelf = host.workflows();
    let out = Output::to(OutputStream::Out);
    let find = |name: &str| shelf.find(name).map_err(HostError::from);
    match &args.command {
        WorkflowCommand::List => list(&shelf, &out)?,
        WorkflowCommand::Show { name } => out.text(find(name)?.text().map_err(HostError::from)?.trim_end()),
        WorkflowCommand::Edit { name } => edit(&host, name)?,
        WorkflowCommand::Trust { name } => trust(&host, &mut find(name)?)?,
        WorkflowCommand::Test { name } => test(&host, &find(name)?, &out)?,
        WorkflowCommand::Diff { name } => diff(&shelf, &find(name)?, &out)?,
        WorkflowCommand::Accept { name } => {
            let provenance = shelf.accept(&find(name)?).map_err(HostError::from)?;
            if !provenance.is_users() {
                Output::to(OutputStream::Error)
                    .line(&StyledLine::of(OutputTone::Doubtful, not_trusted(name)));
            }
        }
        WorkflowCommand::Discard { name } => {
            shelf.discard(&find(name)?).map_err(HostError::from)?;
        }
        WorkflowCommand::Export { name, file } => {
            let text = find(name)?.text().map_err(HostError::from)?;
            if file == Path::new("-") {
                out.text(text.trim_end());
            } else {
                fs::write(file, text)
                    .map_err(|error| CliError::failed_to(format!("write {}", file.display()), error))?;
            }
        }
    }
    Ok(Exit::Success)
}

fn list(shelf: &WorkflowFolder, out: &Output) -> Result<(), CliError> {
    let names = shelf.names().map_err(HostError::from)?;
    if names.is_empty() {
        let text = "there is no workflow yet; `deskhand learn SESSION` makes one of a finished session";
        Output::to(OutputStream::Error).text(text);
    }
    for name in names {
        match shelf.find(&name) {
            Ok(found) => {
                let parameters: Vec<String> =
                    found.workflow.parameters.keys().map(|name| format!("--{name}")).collect();
                let proposed = if found.is_proposed { "  (a change is proposed)" } else { "" };
                let trusted = if found.file.provenance.is_users() { "" } else { "  (not trusted)" };
                let line = StyledLine::of(OutputTone::Strong, format!("{name:<28} "))
                    .with(OutputTone::Plain, parameters.join(" "))
                    .with(OutputTone::Faint, format!("  {}", found.workflow.about))
                    .with(OutputTone::Doubtful, proposed)
                    .with(OutputTone::Doubtful, trusted);
                out.line(&line);
            }
            Err(error) => out.line(&StyledLine::of(OutputTone::Bad, format!("{name:<28} {error}"))),
        }
    }
    Ok(())
}

/// Describes a workflow that is not trusted.
fn not_trusted(name: &str) -> String {
    format!("{name} is not trusted: `deskhand workflow trust {name}` shows what it does and trusts it")
}

/// Shows what a workflow does, and trusts it.
fn trust(host: &Host, found: &mut StoredWorkflow) -> Result<(), CliError> {
    let notes = Output::to(OutputStream::Error);
    notes.line(&StyledLine::of(OutputTone::Strong, format!("What {} does:", found.path.display())));
    show(&notes, &found.workflow.summary(&BTreeMap::new(), &host.workflow_tools()));
    host.workflows().trust(found).map_err(HostError::from)?;
    notes.line(&StyledLine::of(OutputTone::Good, "It is trusted until it changes."));
    Ok(())
}

fn edit(host: &Host, name: &str) -> Result<(), CliError> {
    let shelf = host.workflows();
    let found = shelf.find(name);
    // A file that is no workflow any more can be edited, too.
    let path = found.as_ref().map_or_else(|_| shelf.path_of(name), |found| found.path.clone());
    if let Err(error) = found
        && !path.exists()
    {
        return Err(HostError::from(error).into());
    }
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok());
    let editor = editor.filter(|editor| !editor.trim().is_empty()).unwrap_or_else(|| EDITOR.to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(EDITOR);
    let status = Command::new(program).args(words).arg(&path).status();
    let status = status.map_err(|error| {
        CliError::failed_to(format!("start the editor `{program}`"), error)
            .with_help("set EDITOR to another one")
    })?;
    if !status.success() {
        return Err(CliError::new(format!("the editor `{program}` ended with {status}")));
    }
    let edited = shelf.find(&path.to_string_lossy()).map_err(HostError::from)?;
    if !edited.file.provenance.is_users() {
        Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Doubtful, not_trusted(name)));
    }
    Ok(())
}

/// Checks that the tools of a workflow exist. The file itself was checked when it was read.
fn test(host: &Host, found: &StoredWorkflow, out: &Output) -> Result<(), CliError> {
    let known: Vec<String> = host.app_tools().into_iter().map(|tool| tool.name).collect();
    let missing = found.workflow.tools().into_iter().find(|tool| {
        !known.contains(tool) && !["launch_application", "close_application"].contains(&tool.as_str())
    });
    if let Some(tool) = missing {
        let help = "it may be a tool of an MCP server or program of the configuration";
        return Err(CliError::new(format!("there is no tool `{tool}`")).with_help(help));
    }
    let (calls, parameters) = (found.workflow.calls(), found.workflow.parameters.len());
    out.text(format!("{} is fine: {calls} calls, {parameters} parameters", found.workflow.name));
    Ok(())
}

/// Prints the proposed changes, step by step.
fn diff(shelf: &WorkflowFolder, found: &StoredWorkflow, out: &Output) -> Result<(), CliError> {
    let proposed = shelf.proposed(found).map_err(HostError::from)?;
    let (was, now) = (found.text().map_err(HostError::from)?, proposed.text().map_err(HostError::from)?);
    let lines = deskhand_machine::workflow::line_difference(&was, &now);
    for (sign, line) in lines {
        let tone = match sign {
            '+' => OutputTone::Good,
            '-' => OutputTone::Bad,
            _ => OutputTone::Faint,
        };
        out.line(&StyledLine::of(tone, format!("{sign}{line}")));
    }
    Ok(())
}

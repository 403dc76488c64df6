//! `deskhand run`: one request, or a conversation.

use deskhand_host::{
    Host, HostError, SessionRequest,
    config::history_file,
    workflows::{Perform, WorkflowFileError},
};
use deskhand_machine::workflow::WorkflowMatch;

use super::{
    host::load,
    print_options::SessionPrintOptions,
    session::{carry_out_then, request},
    workflow::{propose, propose_all, usage_of},
};
use crate::{
    args::RunArgs,
    exit::{CliError, CommandResult},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::Verbosity,
};

const WHAT_TO_SAY: &str =
    "describe what to do: deskhand run \"Make a chart of the sales table\" --open sales.ods";

pub(crate) async fn run(args: &RunArgs) -> CommandResult {
    if args.request.as_deref().map(str::trim) == Some("") {
        return Err(CliError::usage("the request is empty").with_help(WHAT_TO_SAY));
    }
    let host = load(args.overrides())?;
    let shown = SessionPrintOptions::of(&args.work, host.config());
    if let Some(text) = args.request.as_deref()
        && let Some(fitting) = host.fitting(text)
    {
        if host.config().workflows.auto && fitting.is_sure() {
            return run_fitting(&host, fitting, args, &shown).await;
        }
        if shown.verbosity > Verbosity::Quiet {
            Output::to(OutputStream::Error)
                .line(&StyledLine::of(OutputTone::Plain, proposal(&host, &fitting)));
        }
    }
    let converse = args.request.is_none();
    let wanted = request(&args.work, args.request.as_deref(), args.screenshot.as_ref());
    let session = host.start(SessionRequest { converse, ..wanted })?;
    if converse && !shown.asked.somebody() {
        return Err(CliError::usage("no request, and no terminal to ask for one")
            .with_help(WHAT_TO_SAY)
            .with_help("or send requests over standard input with `--json`"));
    }
    if shown.asked.at_terminal() && shown.verbosity > Verbosity::Quiet {
        let words = if converse {
            "Describe what to do; N or Ctrl-D ends. While a request runs, p and Enter pauses it, Ctrl-C stops it."
        } else {
            "p and Enter pauses; Ctrl-C stops at once and reports what was done."
        };
        Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Faint, words));
    }
    // Beside the folder of the sessions, which hold the same requests.
    let history = history_file(&host.sessions());
    let history = converse.then_some(history.as_path());
    carry_out_then(session, &shown, history, |ended| propose_all(&host, ended)).await
}

/// Runs the workflow that a request asks for, with its values shown first.
async fn run_fitting(
    host: &Host,
    fitting: WorkflowMatch,
    args: &RunArgs,
    shown: &SessionPrintOptions,
) -> CommandResult {
    let shelf = host.workflows();
    let shelved = shelf.find(&fitting.name).map_err(HostError::from)?;
    // It was trusted when it was compared with the request.
    if !shelved.file.provenance.is_users() {
        return Err(HostError::from(WorkflowFileError::NotTrusted { name: fitting.name }).into());
    }
    if shown.verbosity > Verbosity::Quiet {
        let words = format!("without a model: {}", usage_of(&fitting.name, &fitting.values));
        Output::to(OutputStream::Error).line(&StyledLine::of(OutputTone::Strong, words));
    }
    let session = request(&args.work, None, args.screenshot.as_ref());
    let heal = host.config().workflows.heal.to_heal();
    let session =
        host.perform(Perform { shelved: shelved.clone(), values: fitting.values, heal, session })?;
    carry_out_then(session, shown, /*history*/ None, |ended| propose(&shelf, &shelved, ended)).await
}

/// Describes a workflow that fits a request and is not run.
fn proposal(host: &Host, fitting: &WorkflowMatch) -> String {
    let usage = usage_of(&fitting.name, &fitting.values);
    let auto = host.config().workflows.auto;
    match &fitting.problem {
        None if fitting.is_exact => format!("this can be done without a model: {usage}"),
        Some(problem) if fitting.is_exact && auto => {
            format!("the workflow {} would do it, but {problem}; agents do it", fitting.name)
        }
        None | Some(_) => {
            format!("this may be done without a model: {usage} (deskhand workflow show {})", fitting.name)
        }
    }
}

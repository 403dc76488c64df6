//! Consent to running a file that the user neither wrote nor trusts: prints a summary of the file and asks the
//! user once.

use std::io::{self, BufRead as _, IsTerminal as _};

use deskhand_host::{Host, HostError, TaskFiles, workflows::StoredWorkflow};
use deskhand_machine::workflow::{StepConsequence, WorkflowSummary};
use std::collections::BTreeMap;

use crate::{
    args::TrustArgs,
    exit::CliError,
    output::{Output, OutputStream, OutputTone, StyledLine},
};

/// Decision of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// Run this time only; the texts of the file remain untrusted.
    Once,
    /// Trusted until the file changes.
    Trusted,
}

/// Option offered by the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsentChoice {
    /// To go on this once.
    GoOn,
    /// To trust it, because it is the user's own from then on.
    Trust,
}

/// Shows what a file does, and asks whether it may begin. With `--trust`, that is the answer.
///
/// # Errors
/// The user says no, or there is nobody to ask.
pub(super) fn consent(
    what: &str,
    summary: &WorkflowSummary,
    trust: TrustArgs,
    offer: ConsentChoice,
) -> Result<Consent, CliError> {
    let notes = Output::to(OutputStream::Error);
    let text =
        format!("{what} is not trusted: somebody else made it, or it was changed since. What it does:");
    notes.line(&StyledLine::of(OutputTone::Doubtful, text));
    show(&notes, summary);
    if trust.trust {
        return Ok(Consent::Trusted);
    }
    if !io::stdin().is_terminal() {
        let message = format!("{what} is not trusted, and there is no terminal to ask; nothing was started");
        return Err(CliError::refused(message).with_help(
            "read above what it does; if you want that, run the command again with --trust, which holds until the file changes",
        ));
    }
    let question = match offer {
        ConsentChoice::GoOn => {
            "Go on this once? You are asked about what it names; --trust trusts it until it changes. [y/N] "
        }
        ConsentChoice::Trust => "Trust it until it changes, and go on? [y/N] ",
    };
    notes.prompt(&StyledLine::of(OutputTone::Strong, question));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    match (read.is_ok() && answer.trim().to_lowercase().starts_with('y'), offer) {
        (true, ConsentChoice::GoOn) => Ok(Consent::Once),
        (true, ConsentChoice::Trust) => Ok(Consent::Trusted),
        (false, _) => Err(CliError::refused(format!("{what} was not started: you said no"))),
    }
}

/// Shows a summary. What comes from the file cannot move the cursor: the output takes that out.
pub(super) fn show(notes: &Output, summary: &WorkflowSummary) {
    for deed in StepConsequence::ALL {
        for (number, text) in summary.of(deed).enumerate() {
            if number == 0 {
                notes.line(&StyledLine::of(OutputTone::Strong, format!("  {}", deed.heading())));
            }
            notes.line(&StyledLine::of(OutputTone::Plain, format!("    {text}")));
        }
    }
    if summary.left_out > 0 {
        let text = format!("    … and {} more steps that enter or press something", summary.left_out);
        notes.line(&StyledLine::of(OutputTone::Faint, text));
    }
}

/// Sees to it that a workflow may run with these values.
///
/// # Errors
/// It is a stranger's, and the user says no, or nobody can be asked.
pub(super) fn admit_workflow(
    host: &Host,
    shelved: &mut StoredWorkflow,
    values: &BTreeMap<String, String>,
    (trust, offer): (TrustArgs, ConsentChoice),
) -> Result<(), CliError> {
    let shelf = host.workflows();
    shelf.recheck(shelved).map_err(HostError::from)?;
    if shelved.file.provenance.is_users() {
        return Ok(());
    }
    let summary = shelved.workflow.summary(values, &host.workflow_tools());
    let what = format!("the workflow {}", shelved.path.display());
    if consent(&what, &summary, trust, offer)? == Consent::Trusted {
        shelf.trust(shelved).map_err(HostError::from)?;
    }
    Ok(())
}

/// Sees to it that tasks or plans may run.
///
/// # Errors
/// One is a stranger's, and the user says no, or nobody can be asked.
pub(super) fn admit_tasks(
    host: &Host,
    files: &mut TaskFiles,
    (trust, offer): (TrustArgs, ConsentChoice),
) -> Result<(), CliError> {
    if files.are_users() {
        return Ok(());
    }
    let summary = files.summary().map_err(HostError::from)?;
    let what = files.path().display().to_string();
    if consent(&what, &summary, trust, offer)? == Consent::Trusted {
        files.trust(&host.seals()).map_err(HostError::from)?;
    }
    Ok(())
}

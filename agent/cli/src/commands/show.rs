//! `deskhand show`: prints a session step by step.

use deskhand_host::session::SessionError;
use deskhand_runtime::for_people;

use super::host::load;
use crate::{
    args::{NumberRange, ShowArgs},
    exit::{CommandResult, Exit},
    output::{Output, OutputStream, OutputTone, StyledLine},
    render::{record_lines, trajectory_lines},
};

pub(crate) fn show(args: &ShowArgs) -> CommandResult {
    let folder = load(args.store.overrides())?.find(&args.session)?;
    let journal =
        folder.read().and_then(|journal| for_people(journal, &folder)).map_err(SessionError::from)?;
    let out = Output::to(OutputStream::Out);
    let numbers = args.steps.unwrap_or(NumberRange::ALL);
    let mut lines =
        if args.records { record_lines(&journal, numbers) } else { trajectory_lines(&journal, numbers) };
    lines.push(StyledLine::of(OutputTone::Faint, folder.journal_path().display().to_string()));
    out.pages(&lines);
    Ok(Exit::Success)
}

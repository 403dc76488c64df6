//! `deskhand show`: prints a session step by step.

use deskhand_host::session::SessionError;

use super::host::load;
use crate::{
    args::ShowArgs,
    exit::{CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::{record_lines, trajectory_lines},
};

pub(crate) fn show(args: &ShowArgs) -> CommandResult {
    let folder = load(args.store.overrides())?.find(&args.session)?;
    let journal = folder.read().map_err(SessionError::from)?;
    let out = Output::to(Stream::Out);
    let lines = if args.records { record_lines(&journal) } else { trajectory_lines(&journal) };
    for line in lines {
        out.line(&line);
    }
    out.line(&Line::of(Tone::Faint, folder.journal_path().display().to_string()));
    Ok(Exit::Success)
}

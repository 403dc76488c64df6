//! `deskhand show`: a session step by step.

use super::store::{find, open_store};
use crate::{
    args::ShowArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::trajectory_lines,
};

pub(crate) fn show(args: &ShowArgs) -> CommandResult {
    let store = open_store(&args.store)?;
    let folder = find(&store, &args.session)?;
    let journal = folder.read().map_err(|error| CliError::from_error(&error))?;
    let out = Output::to(Stream::Out);
    for line in trajectory_lines(&journal) {
        out.line(&line);
    }
    out.line(&Line::of(Tone::Faint, folder.journal_path().display().to_string()));
    Ok(Exit::Success)
}

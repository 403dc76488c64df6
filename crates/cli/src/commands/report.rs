//! `deskhand report`: a session as a page, or as lines for other programs.

use std::path::Path;

use deskhand_runtime::{ReportError, write_report};

use super::host::load;
use crate::{
    args::ReportArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Output, Stream},
};

pub(crate) fn report(args: &ReportArgs) -> CommandResult {
    let folder = load(args.store.overrides())?.find(&args.session)?;
    let path = write_report(&folder, args.format, args.output.as_deref()).map_err(|error| {
        let help = match &error {
            ReportError::Write { .. } => Some("name another place with `--output PATH`"),
            ReportError::Journal(_)
            | ReportError::Template { .. }
            | ReportError::Encode(_)
            | ReportError::Picture(_) => None,
        };
        let error = CliError::failed_to("write the report", error);
        match help {
            Some(help) => error.with_help(help),
            None => error,
        }
    })?;
    // Where the report went to standard output, its path would be in the middle of it.
    let stream = if path == Path::new("/dev/stdout") { Stream::Error } else { Stream::Out };
    Output::to(stream).text(std::path::absolute(&path).unwrap_or(path).display());
    Ok(Exit::Success)
}

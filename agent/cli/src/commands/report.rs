//! `deskhand report`: a session as an HTML page, or as lines for other programs.

use std::path::Path;

use super::host::load;
use crate::{
    args::ReportArgs,
    exit::{CommandResult, Exit},
    output::{Output, OutputStream},
};

pub(crate) fn report(args: &ReportArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let path = host.report(&args.session, args.format, args.output.as_deref())?;
    // If the report went to standard output, the path would end up in the middle of it.
    let stream = if path == Path::new("/dev/stdout") { OutputStream::Error } else { OutputStream::Out };
    Output::to(stream).text(std::path::absolute(&path).unwrap_or(path).display());
    Ok(Exit::Success)
}

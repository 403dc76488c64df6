//! `deskhand resume`: continues a session that was stopped or whose process died.

use super::{
    host::load,
    print_options::SessionPrintOptions,
    session::{carry_out_then, request, unsealed},
    workflow::propose_all,
};
use crate::{
    args::ResumeArgs,
    exit::{CliError, CommandResult},
    output::{Output, OutputStream},
};

pub(crate) async fn resume(args: &ResumeArgs) -> CommandResult {
    let host = load(args.work.overrides())?;
    let wanted = request(&args.work, args.request.as_deref(), args.screenshot.as_ref());
    let session = host
        .resume(&args.session, unsealed(args.unsealed), wanted)
        .map_err(|error| CliError::of_session(error, &format!("deskhand resume {} \"…\"", args.session)))?;
    if let Some(record) = session.cut_off() {
        let words = format!("removed record {record}, which was incomplete because the process died");
        Output::to(OutputStream::Error).text(words);
    }
    let shown = SessionPrintOptions::of(&args.work, host.config());
    carry_out_then(session, &shown, /*history*/ None, |ended| propose_all(&host, ended)).await
}

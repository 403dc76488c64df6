//! `deskhand fork`: a new session with the first records of another one.

use deskhand_host::ForkRequest;

use super::{
    host::load,
    print_options::SessionPrintOptions,
    session::{carry_out, request, unsealed},
};
use crate::{
    args::ForkArgs,
    exit::{CliError, CommandResult},
    output::{Output, OutputStream},
};

pub(crate) async fn fork(args: &ForkArgs) -> CommandResult {
    let host = load(args.work.overrides())?;
    let wanted = ForkRequest {
        session: args.session.clone(),
        at: args.at,
        unsealed: unsealed(args.unsealed),
        prompts: args.prompts.clone(),
        request: request(&args.work, args.request.as_deref(), args.screenshot.as_ref()),
    };
    let again = format!("deskhand fork {} --at {} \"…\"", args.session, args.at);
    let session = host.fork(wanted).map_err(|error| CliError::of_session(error, &again))?;
    if let Some(id) = session.id() {
        Output::to(OutputStream::Error).text(format!("forked as session {id}"));
    }
    carry_out(session, &SessionPrintOptions::of(&args.work, host.config()), /*history*/ None).await
}

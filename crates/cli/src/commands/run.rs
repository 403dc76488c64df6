//! `deskhand run`: one request, or a conversation.

use deskhand_host::SessionRequest;

use super::{
    host::load,
    session::{Shown, carry_out, request},
};
use crate::{
    args::RunArgs,
    exit::{CliError, CommandResult},
    output::{Line, Output, Stream, Tone},
    render::Verbosity,
};

const WHAT_TO_SAY: &str =
    "describe what to do: deskhand run \"Make a chart of the sales table\" --open sales.ods";

pub(crate) async fn run(args: &RunArgs) -> CommandResult {
    if args.request.as_deref().map(str::trim) == Some("") {
        return Err(CliError::usage("the request is empty").with_help(WHAT_TO_SAY));
    }
    let host = load(args.work.overrides())?;
    let shown = Shown::of(&args.work, host.config());
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
            "p and Enter pauses; Ctrl-C stops after the current action, a second Ctrl-C stops at once."
        };
        Output::to(Stream::Error).line(&Line::of(Tone::Faint, words));
    }
    // Beside the folder of the sessions, which hold the same requests.
    let history = host.sessions().root().with_file_name("history");
    carry_out(session, &shown, converse.then_some(history.as_path())).await
}

//! `deskhand run`: one request, or one after the other.

use deskhand_runtime::people::Request;

use super::{
    configuration::load,
    session::{SessionPlan, keep_of},
};
use crate::{
    args::RunArgs,
    exit::{CliError, CommandResult},
    output::{Line, Output, Stream, Tone},
    render::Verbosity,
};

const WHAT_TO_SAY: &str = "say what to do: deskhand run \"Make a chart of the sales table\" --open sales.ods";

pub(crate) async fn run(args: &RunArgs) -> CommandResult {
    let request = args.request.as_deref().map(str::trim);
    if request == Some("") {
        return Err(CliError::usage("the request is empty").with_help(WHAT_TO_SAY));
    }
    let loaded = load(args.work.overrides())?;
    let keep = keep_of(&loaded.config);
    let mut plan = SessionPlan::of(&args.work, &loaded.config)?;
    plan.keep = keep;
    plan.screenshot.clone_from(&args.screenshot);
    plan.requests = request.map(Request::from).into_iter().collect();
    plan.converse = plan.requests.is_empty();
    if plan.converse && !plan.asked.somebody() {
        return Err(CliError::usage("there is no request, and no terminal to ask for one")
            .with_help(WHAT_TO_SAY)
            .with_help("or send requests to standard input with `--json`"));
    }
    if plan.asked.at_terminal() && plan.verbosity > Verbosity::Quiet {
        let words = if plan.converse {
            "Say what to do; N or Ctrl-D ends. While it works, p and Enter pauses; Ctrl-C stops the request."
        } else {
            "p and Enter pauses; Ctrl-C stops after the action that is going on, once more at once."
        };
        Output::to(Stream::Error).line(&Line::of(Tone::Faint, words));
    }
    plan.carry_out().await
}

//! `deskhand replay`: the same journal in, the same effects out.

use super::host::load;
use crate::{
    args::ReplayArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::number,
};

pub(crate) fn replay(args: &ReplayArgs) -> CommandResult {
    let folder = load(args.store.overrides())?.find(&args.session)?;
    let journal = folder.read().map_err(|error| CliError::from_error(&error))?;
    let prompts =
        folder.prompts(&journal.header.prompts_sha256).map_err(|error| CliError::from_error(&error))?;
    let replay = deskhand_runtime::replay(&journal, prompts);
    let out = Output::to(Stream::Out);
    let equal = format!("{} effects equal", number(replay.effects_equal));
    match replay.difference {
        Some(difference) => {
            out.line(&Line::of(Tone::Bad, "different: ").with(Tone::Plain, difference.to_string()));
            out.line(&Line::of(Tone::Faint, format!("{equal} before it")));
            Ok(Exit::Negative)
        }
        None => {
            let line = Line::of(Tone::Good, equal);
            let end = if replay.complete { "" } else { "; the journal ends before the session does" };
            out.line(&line.with(Tone::Plain, end));
            Ok(Exit::Success)
        }
    }
}

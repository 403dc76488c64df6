//! `deskhand replay`: checks that a journal produces the same effects again.

use super::host::load;
use crate::{
    args::ReplayArgs,
    exit::{CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
    render::number,
};

pub(crate) fn replay(args: &ReplayArgs) -> CommandResult {
    let replay = load(args.store.overrides())?.replay(&args.session)?;
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
            let end = if replay.complete { "" } else { "; the journal ends before the session did" };
            out.line(&line.with(Tone::Plain, end));
            Ok(Exit::Success)
        }
    }
}

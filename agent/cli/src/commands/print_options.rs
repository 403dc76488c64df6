//! Print options of the commands that run sessions.

use deskhand_host::config::{ChannelSetting, Config};

use crate::{
    args::WorkArgs,
    output::{Output, OutputStream},
    people::Answerer,
    render::Verbosity,
};

/// Print options of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionPrintOptions {
    pub(super) asked: Answerer,
    pub(super) json: bool,
    /// `true` if the control socket alone steers the session.
    pub(super) detached: bool,
    pub(super) verbosity: Verbosity,
}

impl SessionPrintOptions {
    pub(super) fn of(args: &WorkArgs, config: &Config) -> Self {
        let verbosity = match (args.output.quiet, args.output.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, 1) => Verbosity::Thoughts,
            (false, _) => Verbosity::Everything,
        };
        let detached = config.people.channel == ChannelSetting::Socket;
        Self { asked: Answerer::of(config, args.output.json), json: args.output.json, detached, verbosity }
    }

    /// The stream for people: standard output, unless `--json` uses it.
    pub(super) fn people(&self) -> Output {
        Output::to(if self.json { OutputStream::Error } else { OutputStream::Out })
    }
}

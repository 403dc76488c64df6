//! Arguments of `deskhand serve`.

use clap::Args;
use deskhand_host::config::Overrides;

use super::{RunArgs, settings::StoreArgs};

/// The port that is taken if none is named.
const PORT: u16 = 4587;

#[derive(Debug, Args)]
#[command(after_help = "\
The first line that is printed is the address with a token: open it in a browser on this machine. The browser keeps a cookie, so the
address without the token is enough from then on. Programs send `Authorization: Bearer TOKEN`.

The service listens on the loopback address only. From another machine, go through SSH:
  ssh -L 4587:127.0.0.1:4587 you@machine

Sessions run in processes of their own: they go on when the service ends, and it finds them again. Sessions that were started in a
terminal are there, too.

Examples:
  deskhand serve
  deskhand serve --port 0 -- --model openai:gpt-5-mini --max-cost 1")]
pub(crate) struct ServeArgs {
    /// The port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub(crate) port: u16,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Options of `deskhand run` for the sessions that are started from the page.
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
}

impl ServeArgs {
    /// The settings that the options for sessions stand for, and the folder of the sessions.
    ///
    /// # Errors
    /// What `deskhand run` would say about the options.
    pub(crate) fn overrides(&self) -> Result<Overrides, String> {
        let state = self.store.state_dir().map(|folder| format!("--state-dir={folder}"));
        Ok(RunArgs::of_words(state.into_iter().chain(self.options.iter().cloned()))?.overrides())
    }
}

//! Arguments of `deskhand serve`.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
};

use clap::Args;
use deskhand_host::config::Overrides;

use super::{FleetServerArgs, RunArgs, SignArgs, settings::StoreArgs};

/// The port that is taken if none is named.
const PORT: u16 = 4587;

#[derive(Debug, Args)]
#[command(after_help = "\
The first line that is printed is the address with a token: open it in a browser on this machine. The browser keeps a cookie, so the
address without the token is enough from then on. Programs send `Authorization: Bearer TOKEN`.

The service listens on the loopback address. From another machine, go through SSH:
  ssh -L 4587:127.0.0.1:4587 you@machine
Another address needs a certificate, and the names by which it is asked for.

--install makes it a unit of your systemd, with the options that are given; `deskhand serve --url` says its address then.

Sessions run in processes of their own: they go on when the service ends, and it finds them again. Sessions that were started in a
terminal are there, too.

Examples:
  deskhand serve
  deskhand serve --port 0 -- --model openai:gpt-5-mini --max-cost 1
  deskhand serve --install
  deskhand serve --fleet nats://hub:4222
  deskhand serve --address 0.0.0.0 --host desk.example.org --tls-certificate desk.pem --tls-key desk.key")]
pub(crate) struct ServeArgs {
    /// The port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    pub(crate) port: u16,
    /// The address to listen on; any but a loopback address needs a certificate.
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) address: IpAddr,
    /// A further name by which the service is asked for; may be repeated.
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// The certificate and those that it was signed with, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, as PEM.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Print the address, with its token, of the service that runs, and end.
    #[arg(long, conflicts_with_all = ["install", "uninstall"])]
    pub(crate) url: bool,
    /// Let your systemd run the service, now and whenever you log in.
    #[arg(long, conflicts_with = "uninstall")]
    pub(crate) install: bool,
    /// Stop the service that systemd runs, and remove it. Sessions go on.
    #[arg(long)]
    pub(crate) uninstall: bool,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    /// Options of `deskhand run` for the sessions that are started from the page.
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<String>,
    #[command(flatten)]
    pub(crate) fleet: FleetServerArgs,
    #[command(flatten)]
    pub(crate) sign: SignArgs,
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

//! `deskhand serve`: the page.

use std::env;

use deskhand_serve::page::{PageOptions, PageServer};

use super::{host::load, signals::Signals};
use crate::{
    args::ServeArgs,
    exit::{CliError, CommandResult, Exit},
    output::{Line, Output, Stream, Tone},
};

pub(crate) async fn serve(args: &ServeArgs) -> CommandResult {
    let host = load(args.store.overrides())?;
    let program =
        env::current_exe().map_err(|error| CliError::failed_to("find the path of this program", error))?;
    let state = args.store.state_dir().map(|folder| format!("--state-dir={folder}"));
    let defaults = load(args.overrides().map_err(CliError::usage)?)?.config().clone();
    let options = PageOptions {
        port: args.port,
        program,
        arguments: state.into_iter().chain(args.options.iter().cloned()).collect(),
        defaults,
        // Beside the folder of the sessions.
        folder: host.sessions().root().with_file_name("serve"),
    };
    let server = PageServer::bind(host, options).await.map_err(|error| {
        CliError::failed_to(format!("listen on 127.0.0.1:{}", args.port), error)
            .with_help("choose another port with --port, or 0 for a free one")
    })?;
    Output::to(Stream::Out).text(&server.url);
    let words = "Open this address in a browser on this machine; Ctrl-C ends the page, and no session.";
    Output::to(Stream::Error).line(&Line::of(Tone::Faint, words));
    let mut signals = Signals::catch()?;
    let ending = async move {
        let _ = signals.next().await;
    };
    server.serve(ending).await.map_err(|error| CliError::failed_to("serve the page", error))?;
    Ok(Exit::Success)
}

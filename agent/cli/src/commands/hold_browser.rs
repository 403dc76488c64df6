//! `deskhand hold-browser`, internal: the process that starts a browser on a virtual desktop and answers calls about its pages.

use deskhand_browser::{BrowserLaunchOptions, BrowserProtocol, hold};

use crate::{
    args::{BrowserEngine, HoldBrowserArgs},
    exit::{CliError, CommandResult, Exit},
};

pub(crate) async fn hold_browser(args: HoldBrowserArgs) -> CommandResult {
    let HoldBrowserArgs { confined, engine, socket, profile, program, arguments } = args;
    let engine = match engine {
        BrowserEngine::Chromium => BrowserProtocol::Chromium,
        BrowserEngine::Firefox => BrowserProtocol::Firefox,
    };
    let code = hold(BrowserLaunchOptions { confined, engine, socket, profile, program, arguments }).await;
    code.map(Exit::Program).map_err(|error| CliError::failed_to("start a browser", error))
}

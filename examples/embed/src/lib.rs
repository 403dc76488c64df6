//! Runs a session on a desktop and a model of your own. A program that needs neither uses `deskhand_host`, as `main.rs`
//! does.

use std::{error::Error, path::Path};

use deskhand_desktop::Desktop;
use deskhand_desktop_act::ActLimits;
use deskhand_machine::{prompt::PromptSet, session::SessionConfig};
use deskhand_model::Model;
use deskhand_runtime::{
    RunEnd, SessionRunOptions, SessionStore, StopSwitch, Toolbox, Waits, agents::EnabledAgents,
    people::People, run,
};

/// Carries out one request on a desktop and leaves its journal in `state`, beside the key that seals it. Nobody is asked: agents decide for
/// themselves, and what needs approval is not done.
///
/// # Errors
/// When the journal cannot be written. What goes wrong with the request is in its outcome.
pub async fn carry_out<D: Desktop, M: Model>(
    request: &str,
    desktop: &D,
    model: &M,
    state: &Path,
) -> Result<RunEnd, Box<dyn Error + Send + Sync>> {
    let options = SessionRunOptions {
        id: None,
        store: &SessionStore::at(state.join("sessions"), state.join("seals")),
        desktop,
        desktop_name: "embedded".to_owned(),
        model,
        tools: &Toolbox::standard(ActLimits::default())?,
        agents: EnabledAgents::default(),
        config: SessionConfig::default(),
        prompts: PromptSet::default(),
        requests: vec![request.into()],
        people: People::nobody(),
        stop: StopSwitch::new(),
        waits: Waits::default(),
        ranker: None,
        retrieve: None,
        program: concat!("embed ", env!("CARGO_PKG_VERSION")).to_owned(),
        setup: serde_json::Value::Null,
    };
    Ok(run(options, &mut |_| {}).await?)
}

//! Starts sessions, goes on with them, and forks them.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Json,
    extract::{Path, State},
};
use deskhand_core::ids::SessionId;
use deskhand_host::ForkRequest;
use deskhand_runtime::{Unsealed, new_id};
use schemars::JsonSchema;
use serde::Deserialize;

use super::api::{Created, OfSession, Started};
use crate::page::{Service, error::PageError};

/// What the API says of starting.
pub(super) const STARTING: &str = "It runs in a process of its own, on a virtual desktop. The answer comes once it has begun, or says why it did not.";

/// A session to start.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "StartSession")]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    /// What to do.
    request: String,
    /// Documents and addresses to open first.
    open: Vec<String>,
    /// The model: `PROVIDER:MODEL`, `script:FILE`, or a name of the configuration.
    model: Option<String>,
    /// The size of the desktop: `1920x1080`.
    size: Option<String>,
    /// The most US dollars.
    max_cost: Option<f64>,
    /// The most steps.
    max_steps: Option<u32>,
    /// The most minutes.
    max_minutes: Option<u32>,
    /// Variables of a script.
    script_variables: std::collections::BTreeMap<String, String>,
}

impl Wanted {
    /// The arguments of the program. What begins with a dash is no option.
    fn arguments(&self) -> Result<Vec<String>, PageError> {
        let request = self.request.trim();
        if request.is_empty() {
            return Err(PageError::wrong("say what to do: the request is empty"));
        }
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: &str| arguments.push(format!("--{name}={value}"));
        self.open.iter().for_each(|document| add("open", document));
        self.options(&mut add);
        for (name, value) in &self.script_variables {
            add("script-var", &format!("{name}={value}"));
        }
        arguments.extend(["--".to_owned(), request.to_owned()]);
        Ok(arguments)
    }

    fn options(&self, add: &mut dyn FnMut(&str, &str)) {
        let given = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
        let numbers = [
            ("max-cost", self.max_cost.map(|value| value.to_string())),
            ("max-steps", self.max_steps.map(|value| value.to_string())),
            ("max-minutes", self.max_minutes.map(|value| value.to_string())),
        ];
        for (name, value) in
            [("model", given(&self.model)), ("size", given(&self.size))].into_iter().chain(numbers)
        {
            if let Some(value) = value {
                add(name, &value);
            }
        }
    }
}

/// Starts a session.
pub(super) async fn start(
    State(service): State<Arc<Service>>,
    Json(wanted): Json<Wanted>,
) -> Result<Created<Started>, PageError> {
    let id = new_id();
    let mut arguments = vec![format!("--as={}", id.0), "--desktop=virtual".to_owned()];
    arguments.extend(wanted.arguments()?);
    service.workers.start("run", &arguments, &id).await?;
    Ok(Created(Started { id: id.0 }))
}

/// What a session goes on with.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ResumeSession")]
#[serde(default, deny_unknown_fields)]
pub(super) struct GoOn {
    /// A further request; none goes on with the one that is not over.
    request: String,
    /// Another model.
    model: Option<String>,
}

impl GoOn {
    fn arguments(&self, id: &str) -> Vec<String> {
        let model = self.model.as_deref().filter(|model| !model.trim().is_empty());
        let mut arguments: Vec<String> = model.map(|model| format!("--model={model}")).into_iter().collect();
        arguments.extend(["--".to_owned(), id.to_owned()]);
        let request = self.request.trim();
        if !request.is_empty() {
            arguments.push(request.to_owned());
        }
        arguments
    }
}

/// Goes on with a session that does not run.
pub(super) async fn resume(
    State(service): State<Arc<Service>>,
    Path(OfSession { id }): Path<OfSession>,
    Json(wanted): Json<GoOn>,
) -> Result<Created<Started>, PageError> {
    let folder = service.hub.folder(&id)?;
    if folder.is_in_use().unwrap_or(true) {
        return Err(PageError::conflict("the session runs already"));
    }
    let session = SessionId(id.clone());
    service.workers.start("resume", &wanted.arguments(&id), &session).await?;
    Ok(Created(Started { id }))
}

/// Where to fork a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ForkSession")]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    /// The last record to keep.
    at: u64,
    /// What to do once the request in progress there is done.
    #[serde(default)]
    request: String,
    /// Another model.
    #[serde(default)]
    model: Option<String>,
    /// A policy to use instead.
    #[serde(default)]
    policy: Option<PathBuf>,
}

/// Forks a session, and goes on with the fork.
pub(super) async fn fork(
    State(service): State<Arc<Service>>,
    Path(OfSession { id }): Path<OfSession>,
    Json(wanted): Json<Fork>,
) -> Result<Created<Started>, PageError> {
    service.hub.folder(&id)?;
    let Fork { at, request, model, policy } = wanted;
    let forked =
        ForkRequest { session: id, at, unsealed: Unsealed::Refuse, policy, ..ForkRequest::default() };
    let forking = Arc::clone(&service);
    let fork =
        tokio::task::spawn_blocking(move || forking.host.fork(forked).map(|session| session.id())).await;
    let fork = fork.map_err(|error| PageError::failed("fork the session", &error))??;
    let fork = fork.ok_or_else(|| PageError::conflict("the fork has no id"))?;
    let go_on = GoOn { request, model };
    service.workers.start("resume", &go_on.arguments(&fork.0), &fork).await?;
    Ok(Created(Started { id: fork.0 }))
}

//! Starts sessions, goes on with them, and forks them.

use std::{collections::BTreeMap, fs, sync::Arc};

use axum::extract::{Path, State};
use deskhand_host::ForkRequest;
use deskhand_runtime::{InstructionKind, UnsealedJournalPolicy};
use deskhand_ui::ids::SessionId;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::json;

use super::{
    api::{CreatedResponse, CreatedSession, OfSession},
    options::SessionOptions,
};
use crate::page::{
    PageService, error::PageApiError, fleet::task_of, json::JsonBody, once::IdempotentAttempt,
};

/// The API description of starting a session.
pub(super) const STARTING: &str = "It runs in a process of its own, on a virtual desktop. The answer comes once it has begun, or says why it did not.";

/// The folder of the plans that sessions follow, in that of the service.
const PLANS: &str = "plans";

/// A session to start.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "StartSession", transform = needs_request)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StartSessionRequest {
    /// The request to run.
    #[schemars(regex(pattern = r"\S"))]
    request: String,
    /// Steps to follow, in order; without them, agents find their own way.
    steps: Vec<String>,
    /// Documents and addresses to open first.
    open: Vec<String>,
    /// Variables of a script.
    script_variables: BTreeMap<String, String>,
    #[serde(flatten)]
    options: SessionOptions,
}

/// A session without a request is refused, with the field that is missing.
fn needs_request(schema: &mut Schema) {
    schema.insert("required".to_owned(), json!(["request"]));
}

impl StartSessionRequest {
    /// The arguments of the program before the request. What begins with a dash is no option.
    fn arguments(&self) -> Result<Vec<String>, PageApiError> {
        if self.request.trim().is_empty() {
            return Err(PageApiError::in_field("request", "say what to do: the request is empty"));
        }
        let mut arguments: Vec<String> =
            self.open.iter().map(|document| format!("--open={document}")).collect();
        arguments.extend(self.options.arguments()?);
        let variables = self.script_variables.iter();
        arguments.extend(variables.map(|(name, value)| format!("--script-var={name}={value}")));
        Ok(arguments)
    }

    fn steps(&self) -> Vec<&str> {
        self.steps.iter().map(|step| step.trim()).filter(|step| !step.is_empty()).collect()
    }

    /// The command: steps make a plan, which is followed.
    fn command(&self) -> &'static str {
        if self.steps().is_empty() { "run" } else { "follow" }
    }

    /// Returns the argument of the command: the request, or the file of the plan.
    fn argument(&self, service: &PageService) -> Result<String, PageApiError> {
        let (request, steps) = (self.request.trim(), self.steps());
        if steps.is_empty() {
            return Ok(request.to_owned());
        }
        let plan = json!({"task": request, "steps": steps});
        let folder = service
            .workers
            .new_folder(PLANS)
            .map_err(|error| PageApiError::failed("keep the plan", &error))?;
        let file = folder.join("plan.json");
        let plan = plan.to_string();
        fs::write(&file, &plan).map_err(|error| PageApiError::failed("keep the plan", &error))?;
        service.seal(InstructionKind::Plan, plan.as_bytes())?;
        Ok(file.to_string_lossy().into_owned())
    }
}

/// Starts a session.
pub(super) async fn start(
    State(service): State<Arc<PageService>>,
    attempt: IdempotentAttempt,
    JsonBody(wanted): JsonBody<StartSessionRequest>,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    let id = begin(&service, attempt, wanted).await?;
    Ok(CreatedResponse(CreatedSession { id }))
}

/// Starts a session, and answers with its id once it runs.
///
/// # Errors
/// It says nothing to do, or does not begin.
pub(super) async fn begin(
    service: &PageService,
    attempt: IdempotentAttempt,
    wanted: StartSessionRequest,
) -> Result<String, PageApiError> {
    let id = attempt.session;
    let mut arguments = vec![format!("--as={}", id.0), "--desktop=virtual".to_owned()];
    arguments.extend(wanted.arguments()?);
    let command = wanted.command();
    let is_done = attempt.before.is_some() && service.hub.folder(&id.0).is_ok();
    if attempt.before.is_some() && service.workers.runs(command, &id) {
        service.workers.begun(&id).await?;
    } else if !is_done {
        arguments.extend(["--".to_owned(), wanted.argument(service)?]);
        service.workers.start(command, &arguments, &id).await?;
    }
    Ok(id.0)
}

/// The input with which a session resumes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "ResumeSession")]
#[serde(default, deny_unknown_fields)]
pub(super) struct GoOn {
    /// A further request; none goes on with the one that is not over.
    request: String,
    #[serde(flatten)]
    options: SessionOptions,
}

impl GoOn {
    /// Checks that the request contains nothing that a worker would not receive.
    fn is_empty(&self) -> Result<(), PageApiError> {
        if self.request.trim().is_empty() && self.options.arguments()?.is_empty() {
            return Ok(());
        }
        Err(PageApiError::wrong(
            "a task of a fleet is sent again as it was: give it no other request and no options",
        ))
    }

    fn arguments(&self, id: &str) -> Result<Vec<String>, PageApiError> {
        let mut arguments = self.options.arguments()?;
        arguments.extend(["--".to_owned(), id.to_owned()]);
        let request = self.request.trim();
        if !request.is_empty() {
            arguments.push(request.to_owned());
        }
        Ok(arguments)
    }
}

/// Goes on with a session that does not run.
pub(super) async fn resume(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    attempt: IdempotentAttempt,
    JsonBody(wanted): JsonBody<GoOn>,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    if let (Some(fleet), Some(task)) = (&service.fleet, task_of(&id)) {
        wanted.is_empty()?;
        return Ok(CreatedResponse(CreatedSession { id: fleet.once_more(&task).await? }));
    }
    let folder = service.hub.folder(&id)?;
    let session = SessionId(id.clone());
    if let Some(before) = attempt.before {
        let went_on = fs::metadata(folder.journal_path()).and_then(|journal| journal.modified());
        if went_on.is_ok_and(|at| at > before) {
            return Ok(CreatedResponse(CreatedSession { id }));
        }
        if service.workers.runs("resume", &session) {
            service.workers.begun(&session).await?;
            return Ok(CreatedResponse(CreatedSession { id }));
        }
    }
    if folder.is_in_use().unwrap_or(true) {
        return Err(PageApiError::conflict("the session runs already"));
    }
    service.workers.start("resume", &wanted.arguments(&id)?, &session).await?;
    Ok(CreatedResponse(CreatedSession { id }))
}

/// The place at which to fork a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ForkSession")]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    /// The last record to keep.
    #[schemars(range(max = u64::MAX))]
    at: u64,
    /// The request to run once the one in progress there is done.
    #[serde(default)]
    request: String,
    /// Another model.
    #[serde(default)]
    model: Option<String>,
    /// A file of rules to use instead; its whole path.
    #[serde(default)]
    policy: Option<String>,
}

/// Forks a session, and goes on with the fork.
pub(super) async fn fork(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    _attempt: IdempotentAttempt,
    JsonBody(wanted): JsonBody<Fork>,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    service.hub.folder(&id)?;
    let Fork { at, request, model, policy } = wanted;
    let go_on = GoOn { request, options: SessionOptions { model, policy, ..SessionOptions::default() } };
    // Checked before anything is created.
    go_on.options.arguments()?;
    let forked =
        ForkRequest { session: id, at, unsealed: UnsealedJournalPolicy::Refuse, ..ForkRequest::default() };
    let forking = Arc::clone(&service);
    let fork =
        tokio::task::spawn_blocking(move || forking.host.fork(forked).map(|session| session.id())).await;
    let fork = fork.map_err(|error| PageApiError::failed("fork the session", &error))??;
    let fork = fork.ok_or_else(|| PageApiError::conflict("the fork has no id"))?;
    service.workers.start("resume", &go_on.arguments(&fork.0)?, &fork).await?;
    Ok(CreatedResponse(CreatedSession { id: fork.0 }))
}

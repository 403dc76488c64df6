//! Workflows: the list of them with their parameters as forms, runs of them, and learning one from a session.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    extract::{Path, State},
    response::Html,
};
use deskhand_host::{
    HostError,
    workflows::{Learn, StoredWorkflow, WorkflowFileError},
};
use deskhand_machine::{
    command::ToolSpec,
    provenance::Provenance,
    workflow::{Parameter, ParameterKind, Workflow},
};
use deskhand_runtime::{learn::WorkflowDraft, new_id};
use deskhand_ui::text::error_chain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    api::{CreatedResponse, CreatedSession, OfSession},
    options::{Defaults, SessionOptions},
};
use crate::page::{PageService, error::PageApiError, json::JsonBody, once::IdempotentAttempt};

/// The most workflows that are listed.
const LISTED_MAX: usize = 500;

/// A workflow of the list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Workflow")]
pub(super) struct WorkflowView {
    /// Its name.
    name: String,
    /// The description of the workflow.
    about: String,
    /// The request that it fulfils.
    request: String,
    /// The parameters, which differ from run to run.
    parameters: Vec<ParameterView>,
    /// The number of its calls.
    calls: usize,
    /// The session that it was learnt from.
    learnt_from: Option<String>,
    /// `true` if a run proposes to change the workflow.
    is_proposed: bool,
    /// The origin of the workflow, or its trust: `made here`, `trusted` or `not trusted`.
    provenance: &'static str,
    /// The actions of the workflow, if it is not trusted: to be displayed before `trust` is sent.
    does: Vec<String>,
    /// The digest of the file as it is now, for `trust`.
    digest: String,
    /// Why it cannot be run, if its file is none.
    problem: Option<String>,
}

/// A parameter of a workflow.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Parameter")]
pub(super) struct ParameterView {
    /// Its name.
    name: String,
    /// The purpose of the parameter.
    about: String,
    /// The kind of the parameter.
    #[schemars(with = "String", extend("enum" = ["text", "number", "file"]))]
    kind: ParameterKind,
    /// Its value in the session that the workflow was learnt from.
    example: String,
    /// Its value if none is given; without one it has to be given.
    default: Option<String>,
}

impl WorkflowView {
    /// One that is named by its file, whatever stands in it.
    fn of(name: String, found: Result<StoredWorkflow, WorkflowFileError>, tools: &[ToolSpec]) -> Self {
        match found {
            Ok(StoredWorkflow { workflow, is_proposed, file, .. }) => {
                let (calls, provenance, digest) = (workflow.calls(), file.provenance, file.digest());
                let summary = (!provenance.is_users()).then(|| workflow.summary(&BTreeMap::new(), tools));
                let does = summary.map(|summary| summary.to_string().lines().map(str::to_owned).collect());
                let (provenance, does) = (provenance.word(), does.unwrap_or_default());
                let Workflow { about, request, parameters, learnt, .. } = workflow;
                let parameters = parameters.into_iter().map(ParameterView::of).collect();
                let learnt_from = learnt.filter(|learnt| !learnt.demonstrated).map(|learnt| learnt.session);
                Self {
                    name,
                    about,
                    request,
                    parameters,
                    calls,
                    learnt_from,
                    is_proposed,
                    provenance,
                    does,
                    digest,
                    problem: None,
                }
            }
            Err(error) => Self {
                name,
                about: String::new(),
                request: String::new(),
                parameters: Vec::new(),
                calls: 0,
                learnt_from: None,
                is_proposed: false,
                provenance: Provenance::Stranger.word(),
                does: Vec::new(),
                digest: String::new(),
                problem: Some(error_chain(&error)),
            },
        }
    }
}

impl ParameterView {
    fn of((name, parameter): (String, Parameter)) -> Self {
        let Parameter { about, kind, example, default } = parameter;
        Self { name, about, kind, example, default }
    }
}

/// All workflows. Blocking.
pub(super) fn shelf(service: &PageService) -> Result<Vec<WorkflowView>, PageApiError> {
    let shelf = service.host.workflows();
    let names = shelf.names().map_err(|error| PageApiError::failed("list the workflows", &error))?;
    let tools = service.host.workflow_tools();
    let views = names.into_iter().take(LISTED_MAX).map(|name| {
        let found = shelf.find(&name);
        WorkflowView::of(name, found, &tools)
    });
    Ok(views.collect())
}

/// The workflow of a name; never another file. Blocking.
fn named(service: &PageService, name: &str) -> Result<StoredWorkflow, PageApiError> {
    let missing = || PageApiError::missing(format!("there is no workflow {name}"));
    match service.host.workflows().named(name) {
        Ok(found) => Ok(found),
        Err(WorkflowFileError::Missing { .. }) => Err(missing()),
        Err(error) => Err(PageApiError::conflict(error_chain(&error))),
    }
}

#[derive(Serialize)]
struct WorkflowsPageView {
    title: &'static str,
    here: &'static str,
    workflows: Vec<WorkflowView>,
    folder: String,
    defaults: Defaults,
}

/// The page.
pub(super) async fn page(State(service): State<Arc<PageService>>) -> Result<Html<String>, PageApiError> {
    let workflows = listed(&service).await?;
    let view = WorkflowsPageView {
        title: "Workflows – Deskhand",
        here: "/workflows",
        workflows,
        folder: service.host.workflows().folder().display().to_string(),
        defaults: Defaults::of(&service.defaults),
    };
    service.views.page("workflows", &view)
}

/// The workflows as data.
pub(super) async fn list(
    State(service): State<Arc<PageService>>,
) -> Result<Json<Vec<WorkflowView>>, PageApiError> {
    Ok(Json(listed(&service).await?))
}

async fn listed(service: &Arc<PageService>) -> Result<Vec<WorkflowView>, PageApiError> {
    let shelved = Arc::clone(service);
    let listed = spawn_blocking(move || shelf(&shelved)).await;
    listed.map_err(|error| PageApiError::failed("list the workflows", &error))?
}

/// A workflow.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OfWorkflow {
    /// The name of the workflow.
    name: String,
}

/// A run of a workflow.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "RunWorkflow")]
#[serde(default, deny_unknown_fields)]
pub(super) struct RunWorkflowRequest {
    /// The values of its parameters, by name.
    parameters: BTreeMap<String, String>,
    /// Documents and addresses to open besides its own.
    open: Vec<String>,
    /// The `digest` of a workflow that is not trusted, once somebody has looked at what it does and trusts it until it changes.
    trust: Option<String>,
    #[serde(flatten)]
    options: SessionOptions,
}

/// Trusts a workflow, if what was looked at is what is there. Blocking.
fn trusted(
    service: &PageService,
    found: &mut StoredWorkflow,
    trust: Option<&str>,
) -> Result<(), PageApiError> {
    if found.file.provenance.is_users() {
        return Ok(());
    }
    let name = &found.workflow.name;
    match trust {
        Some(digest) if digest == found.file.digest() => {
            let trusted = service.host.workflows().trust(found);
            trusted.map_err(|error| PageApiError::failed("trust the workflow", &error))
        }
        Some(_) => {
            let words = format!("the workflow {name} was changed since you looked at it; look at it again");
            Err(PageApiError::conflict(words).about("trust"))
        }
        None => {
            let words = format!(
                "the workflow {name} is not trusted: somebody else made it, or it was changed since; look at what it does, and send \
                 `trust` with its digest"
            );
            Err(PageApiError::conflict(words).about("trust"))
        }
    }
}

/// The arguments of `deskhand do` for a workflow, with its values checked. What begins with a dash is no option.
///
/// # Errors
/// A value is missing, no number, or of no parameter.
pub(super) fn values_of(
    workflow: &Workflow,
    given: &BTreeMap<String, String>,
) -> Result<Vec<String>, PageApiError> {
    workflow.values(given).map_err(|problem| PageApiError::conflict(error_chain(&problem)))?;
    Ok(given.iter().map(|(name, value)| format!("--{name}={value}")).collect())
}

/// Runs a workflow in a session of its own.
pub(super) async fn run(
    State(service): State<Arc<PageService>>,
    Path(OfWorkflow { name }): Path<OfWorkflow>,
    _attempt: IdempotentAttempt,
    JsonBody(wanted): JsonBody<RunWorkflowRequest>,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    let (reading, wanted_name) = (Arc::clone(&service), name.clone());
    let (parameters, trust) = (wanted.parameters.clone(), wanted.trust.clone());
    let read = spawn_blocking(move || {
        let mut found = named(&reading, &wanted_name)?;
        let values = values_of(&found.workflow, &parameters)?;
        trusted(&reading, &mut found, trust.as_deref())?;
        Ok::<_, PageApiError>(values)
    });
    let values = read.await.map_err(|error| PageApiError::failed("read the workflow", &error))??;
    let id = new_id();
    let mut arguments = vec![format!("--as={}", id.0), "--desktop=virtual".to_owned()];
    arguments.extend(wanted.options.arguments()?);
    arguments.extend(wanted.open.iter().map(|document| format!("--open={document}")));
    arguments.push(name);
    arguments.extend(values);
    service.workers.start("do", &arguments, &id).await?;
    Ok(CreatedResponse(CreatedSession { id: id.0 }))
}

/// The request to learn a workflow from a session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "LearnWorkflow")]
#[serde(default, deny_unknown_fields)]
pub(super) struct LearnWorkflowRequest {
    /// The name of the workflow; without one, it is made of the request.
    name: String,
    /// If `true`, a workflow of this name may be replaced.
    replace: bool,
    /// Texts of which it is not sure whether they are parameters, and which are: their names, as `unsure` has them.
    parameters: Vec<String>,
}

/// The result of learning a workflow.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LearntWorkflow")]
pub(super) struct LearnedWorkflow {
    /// The name of the workflow.
    name: String,
    /// The names of its parameters.
    parameters: Vec<String>,
    /// The number of its calls.
    calls: usize,
    /// Parts that were left out, or may not hold.
    notes: Vec<String>,
    /// Texts that may be parameters.
    unsure: Vec<UnsureView>,
}

/// A text that may be a parameter.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Unsure")]
pub(super) struct UnsureView {
    /// The proposed name of the parameter.
    name: String,
    /// The text.
    value: String,
    /// The place of the text in the workflow.
    place: String,
}

/// Makes a workflow of a session.
pub(super) async fn learn(
    State(service): State<Arc<PageService>>,
    Path(OfSession { id }): Path<OfSession>,
    JsonBody(lesson): JsonBody<LearnWorkflowRequest>,
) -> Result<CreatedResponse<LearnedWorkflow>, PageApiError> {
    service.hub.folder(&id)?;
    let learnt = spawn_blocking(move || learn_now(&service, &id, &lesson)).await;
    let learnt = learnt.map_err(|error| PageApiError::failed("learn from the session", &error))??;
    Ok(CreatedResponse(learnt))
}

fn learn_now(
    service: &PageService,
    id: &str,
    lesson: &LearnWorkflowRequest,
) -> Result<LearnedWorkflow, PageApiError> {
    let shelf = service.host.workflows();
    let refused = |error: WorkflowFileError| PageApiError::conflict(error_chain(&error)).about("name");
    let name = Some(lesson.name.trim().to_owned()).filter(|name| !name.is_empty());
    if let Some(name) = &name {
        shelf.check_new(name, lesson.replace).map_err(refused)?;
    }
    let draft = service.host.learn(id, &Learn { name, round: None });
    let mut draft = draft.map_err(|error: HostError| PageApiError::conflict(error_chain(&error)))?;
    let unsure = draft.unsure.clone();
    let (chosen, left): (Vec<_>, Vec<_>) =
        unsure.into_iter().partition(|unsure| lesson.parameters.contains(&unsure.name));
    chosen.iter().for_each(|unsure| draft.accept(unsure));
    shelf.add_learnt(&draft, lesson.replace).map_err(refused)?;
    let WorkflowDraft { workflow, notes, .. } = draft;
    let unsure =
        left.into_iter().map(|one| UnsureView { name: one.name, value: one.value, place: one.place });
    Ok(LearnedWorkflow {
        calls: workflow.calls(),
        parameters: workflow.parameters.into_keys().collect(),
        name: workflow.name,
        notes,
        unsure: unsure.collect(),
    })
}

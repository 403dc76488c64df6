//! Schedules: a form, and a table of what is due when and what became of the last time.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use axum::{
    Json,
    extract::{Path, Query, State},
    response::{Html, NoContent},
};
use deskhand_host::{
    HostError,
    schedules::{Keeper, LastRun, Schedule, ScheduleError, ScheduledWork},
};
use deskhand_runtime::{Catalogue, new_id, now_ms, words::local_time};
use deskhand_ui::text::{clip, error_chain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::{
    api::{CreatedResponse, CreatedSession},
    options::{Defaults, SessionOptions},
    workflows::{WorkflowView, shelf},
};
use crate::page::{PageService, error::PageApiError, json::JsonBody, once::IdempotentAttempt};

/// The API description of adding a schedule.
pub(super) const ADDING: &str =
    "A timer of the systemd user manager keeps it where one answers, else this service.";

/// Maximum length of a displayed request, in characters.
const REQUEST_MAX: usize = 160;

/// A schedule.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct OfSchedule {
    /// The name of the schedule.
    name: String,
}

/// A schedule to add.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "AddSchedule")]
#[serde(default, deny_unknown_fields)]
pub(super) struct AddScheduleRequest {
    /// Its name: letters, digits, `-` and `_`.
    name: String,
    /// When it is due: `daily`, `Mon..Fri 07:00`, `*-*-01 09:30`, `*:00/15`.
    when: String,
    /// If `true`, a time that passed while the schedule was inactive is made up for, once.
    catch_up: bool,
    /// The request to run.
    request: String,
    /// The workflow to run in place of a request.
    workflow: Option<String>,
    /// The values of its parameters, by name.
    parameters: BTreeMap<String, String>,
    /// Documents and addresses to open first.
    open: Vec<PathBuf>,
    #[serde(flatten)]
    options: SessionOptions,
}

impl AddScheduleRequest {
    /// The name and the schedule.
    fn schedule(self) -> Result<(String, Schedule), PageApiError> {
        let workflow = self.workflow.filter(|name| !name.is_empty());
        let work = match workflow {
            Some(name) => ScheduledWork::Workflow { name, parameters: self.parameters },
            None if self.request.trim().is_empty() => {
                return Err(PageApiError::conflict("say what to do, or choose a workflow").about("request"));
            }
            None => ScheduledWork::Request(self.request.trim().to_owned()),
        };
        let options = self.options.arguments()?;
        let schedule = Schedule::new(&self.when, work, Keeper::Service)
            .map_err(|error| PageApiError::conflict(error.to_string()).about("when"))?;
        Ok((self.name, Schedule { catch_up: self.catch_up, open: self.open, options, ..schedule }))
    }
}

/// A schedule of the table.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Schedule")]
pub(super) struct ScheduleRow {
    /// Its name.
    name: String,
    /// The description of the work.
    what: String,
    /// When it is due, as a calendar expression of systemd.
    when: String,
    /// The next time.
    next: String,
    /// If `true`, a time that passed is made up for.
    catch_up: bool,
    /// Who begins it: `systemd` or `service`.
    #[schemars(with = "Option<String>")]
    keeper: Option<Keeper>,
    /// `true` if the schedule is running.
    running: bool,
    /// When it ran last.
    last: String,
    /// The result of that run: an outcome, or why there was none.
    outcome: String,
    /// The colour of the outcome.
    tone: &'static str,
    /// The session of the last time.
    session: Option<String>,
    /// Why its file is none.
    problem: Option<String>,
}

impl ScheduleRow {
    fn of(service: &PageService, catalogue: &Catalogue, name: String) -> Self {
        let schedules = service.host.schedules();
        let last = schedules.last(&name);
        let running = schedules.is_running(&name);
        let session = last.as_ref().and_then(|last| catalogue.row(&last.session)).map(|row| row.to_row());
        let ended = session.as_ref().and_then(|row| row.facts.outcome);
        let (outcome, tone) = match (&last, ended) {
            (None, _) => (String::new(), "plain"),
            _ if running => ("running".to_owned(), "plain"),
            (Some(LastRun { problem: Some(problem), .. }), _) => (problem.clone(), "bad"),
            (Some(_), Some(outcome)) if outcome.exit_code() == 0 => (outcome.word().to_owned(), "good"),
            (Some(_), Some(outcome)) => (outcome.word().to_owned(), "bad"),
            (Some(_), None) => ("interrupted".to_owned(), "doubtful"),
        };
        let found = schedules.find(&name);
        let problem = found.as_ref().err().map(|error| error_chain(error));
        let schedule = found.ok();
        let what = schedule.as_ref().map(|schedule| match &schedule.work {
            ScheduledWork::Request(request) => clip(request, REQUEST_MAX),
            ScheduledWork::Workflow { name, .. } => format!("the workflow {name}"),
        });
        let next = schedule.as_ref().and_then(|schedule| schedule.due_after(now_ms()));
        Self {
            what: what.unwrap_or_default(),
            next: next.map(local_time).unwrap_or_default(),
            when: schedule.as_ref().map(|schedule| schedule.when.clone()).unwrap_or_default(),
            catch_up: schedule.as_ref().is_some_and(|schedule| schedule.catch_up),
            keeper: schedule.as_ref().map(|schedule| schedule.keeper),
            running,
            last: last.map(|last| local_time(last.begun_ms)).unwrap_or_default(),
            outcome,
            tone,
            session: session.map(|row| row.id),
            problem,
            name,
        }
    }
}

/// The prefilled fields of the form, as in an address.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ScheduleFormQuery {
    workflow: String,
}

#[derive(Serialize)]
struct SchedulesPageView {
    title: &'static str,
    here: &'static str,
    schedules: Vec<ScheduleRow>,
    workflows: Vec<WorkflowView>,
    chosen: String,
    defaults: Defaults,
}

/// The page.
pub(super) async fn page(
    State(service): State<Arc<PageService>>,
    Query(filled): Query<ScheduleFormQuery>,
) -> Result<Html<String>, PageApiError> {
    let schedules = rows(&service).await?;
    let shelving = Arc::clone(&service);
    let workflows = spawn_blocking(move || shelf(&shelving)).await;
    let workflows = workflows.map_err(|error| PageApiError::failed("list the workflows", &error))??;
    let view = SchedulesPageView {
        title: "Schedules – Deskhand",
        here: "/schedules",
        schedules,
        workflows,
        chosen: filled.workflow,
        defaults: Defaults::of(&service.defaults),
    };
    service.views.page("schedules", &view)
}

/// The schedules as data.
pub(super) async fn list(
    State(service): State<Arc<PageService>>,
) -> Result<Json<Vec<ScheduleRow>>, PageApiError> {
    Ok(Json(rows(&service).await?))
}

async fn rows(service: &Arc<PageService>) -> Result<Vec<ScheduleRow>, PageApiError> {
    let reading = Arc::clone(service);
    let rows = service.looking_back(move |catalogue| {
        let names = reading.host.schedules().names();
        let rows = |names: Vec<String>| {
            names.into_iter().map(|name| ScheduleRow::of(&reading, catalogue, name)).collect()
        };
        names.map(rows)
    });
    rows.await?.map_err(|error| PageApiError::failed("list the schedules", &error))
}

/// Adds a schedule.
pub(super) async fn add(
    State(service): State<Arc<PageService>>,
    _attempt: IdempotentAttempt,
    JsonBody(wanted): JsonBody<AddScheduleRequest>,
) -> Result<CreatedResponse<OfSchedule>, PageApiError> {
    let (name, schedule) = wanted.schedule()?;
    let made = OfSchedule { name: name.clone() };
    let added = spawn_blocking(move || service.host.add_schedule(&name, schedule)).await;
    let added = added.map_err(|error| PageApiError::failed("add the schedule", &error))?;
    added.map(|_| CreatedResponse(made)).map_err(|error| {
        let is_name =
            matches!(error, HostError::Schedule(ScheduleError::Name { .. } | ScheduleError::Exists { .. }));
        let is_workflow = matches!(error, HostError::Workflow(_));
        let field = if is_name {
            "name"
        } else if is_workflow {
            "workflow"
        } else {
            "when"
        };
        let help = error.help().map(|help| format!("; {help}")).unwrap_or_default();
        PageApiError::conflict(format!("{}{help}", error_chain(&error))).about(field)
    })
}

/// Converts the error of a schedule's lookup.
fn missing_or_wrong(error: &HostError) -> PageApiError {
    let is_missing =
        matches!(error, HostError::Schedule(ScheduleError::Missing { .. } | ScheduleError::Name { .. }));
    let words = error_chain(error);
    if is_missing { PageApiError::missing(words) } else { PageApiError::conflict(words) }
}

/// Removes a schedule.
pub(super) async fn remove(
    State(service): State<Arc<PageService>>,
    Path(OfSchedule { name }): Path<OfSchedule>,
) -> Result<NoContent, PageApiError> {
    let removed = spawn_blocking(move || service.host.remove_schedule(&name)).await;
    let removed = removed.map_err(|error| PageApiError::failed("remove the schedule", &error))?;
    removed.map(|()| NoContent).map_err(|error| missing_or_wrong(&error))
}

/// Runs a schedule now.
pub(super) async fn run(
    State(service): State<Arc<PageService>>,
    Path(OfSchedule { name }): Path<OfSchedule>,
    _attempt: IdempotentAttempt,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    let schedules = service.host.schedules();
    let found = schedules.find(&name).map_err(|error| missing_or_wrong(&error.into()))?;
    if !found.provenance.is_users() {
        return Err(PageApiError::conflict(format!(
            "the schedule {name} is not trusted: it was changed, or was not added here; `deskhand schedule run {name} --trust` shows \
             what it does and trusts it"
        )));
    }
    let id = new_id();
    service.workers.start_schedule(&name, &id).await?;
    Ok(CreatedResponse(CreatedSession { id: id.0 }))
}

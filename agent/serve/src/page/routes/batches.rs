//! Batches: a form for many tasks, the list of batches, and each one's tasks as they go. A batch is a process of its own; what is shown is
//! read from its note, its results and its sessions.

use std::{
    collections::HashMap,
    convert::Infallible,
    ffi::OsStr,
    fs,
    path::{self, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::{
    Json,
    extract::{Path, State},
    response::{
        Html, NoContent, Sse,
        sse::{Event, KeepAlive},
    },
};
use deskhand_host::Batch;
use deskhand_runtime::{InstructionKind, new_id};
use deskhand_ui::ids::SessionId;
use futures_util::stream;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::{
    task::spawn_blocking,
    time::{Interval, MissedTickBehavior, interval},
};

use super::{
    api::{AcceptedResponse, CreatedResponse, CreatedSession, Events},
    options::{Defaults, SessionOptions},
    tasks::{BatchRow, BatchTable},
};
use crate::page::{PageService, error::PageApiError, json::JsonBody, once::IdempotentAttempt};

/// The folder of the batches that are started from the page, in that of the service.
const BATCHES: &str = "batches";
/// Its tasks, and what it was started with.
const TASKS: &str = "tasks.jsonl";
const STARTED: &str = "started.json";
/// The most tasks that run at once.
const PARALLEL_MAX: u16 = 64;
/// Interval between news to a watcher of a batch.
const NEWS_EVERY: Duration = Duration::from_secs(1);

/// The API descriptions of resuming, stopping, forgetting and following.
pub(super) const RESUMING: &str = "With the tasks that have no result, if it was started here.";
pub(super) const STOPPING: &str =
    "What runs is cancelled, in the middle of an action too, and reports what it did; nothing more begins.";
pub(super) const FORGETTING: &str = "One that does not run. Its results and sessions stay.";
pub(super) const FOLLOWING: &str = "Events `tasks` with the element of the page that shows the tasks, whenever it changes, and `end` once nothing more comes.";

/// A batch.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct OfBatch {
    /// The id of the batch.
    id: String,
}

/// A batch to start.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "StartBatch", transform = needs_tasks)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StartBatchRequest {
    /// Its tasks, as a task file has them: `{"request", "id", "open", "limits", "steps"}`, of which only the request is required.
    #[schemars(length(min = 1))]
    tasks: Vec<Map<String, Value>>,
    /// Number of tasks that run at once, each on its own desktop.
    #[schemars(range(max = 64))]
    parallel: u16,
    /// Documents that were kept by the service, to lie beside the tasks, which open them by their names.
    documents: Vec<PathBuf>,
    #[serde(flatten)]
    options: SessionOptions,
}

/// A batch without tasks is refused, with the field that is missing.
fn needs_tasks(schema: &mut Schema) {
    schema.insert("required".to_owned(), json!(["tasks"]));
}

impl StartBatchRequest {
    /// The arguments of `deskhand batch` before the tasks.
    fn arguments(&self, id: &SessionId) -> Result<Vec<String>, PageApiError> {
        if self.parallel > PARALLEL_MAX {
            return Err(PageApiError::in_field(
                "parallel",
                format!("at most {PARALLEL_MAX} tasks run at once"),
            ));
        }
        let parallel = self.parallel.max(1);
        let mut arguments =
            vec![format!("--as={}", id.0), "--desktop=virtual".to_owned(), format!("--parallel={parallel}")];
        arguments.extend(self.options.arguments()?);
        Ok(arguments)
    }

    /// Writes the tasks with their documents into a folder of their own, and returns it. Blocking.
    fn keep(&self, service: &PageService) -> Result<PathBuf, PageApiError> {
        let failed = |error: &std::io::Error| PageApiError::failed("keep the tasks", error);
        let folder = service.workers.new_folder(BATCHES).map_err(|error| failed(&error))?;
        let documents = self.kept_documents(service.workers.documents())?;
        let lines = self.tasks.iter().map(|task| {
            let mut task = task.clone();
            opened_in_place(&mut task, &documents);
            format!("{}\n", Value::Object(task))
        });
        let lines = lines.collect::<String>();
        fs::write(folder.join(TASKS), &lines).map_err(|error| failed(&error))?;
        service.seal(InstructionKind::Tasks, lines.as_bytes())?;
        let started = serde_json::to_vec(self).unwrap_or_default();
        fs::write(folder.join(STARTED), started).map_err(|error| failed(&error))?;
        Ok(folder)
    }
}

impl StartBatchRequest {
    /// The documents by the names that tasks open them by. They stay where applications can write, apart from the tasks.
    fn kept_documents(&self, kept: &path::Path) -> Result<HashMap<&str, &path::Path>, PageApiError> {
        let known = self.documents.iter().map(|document| {
            let is_kept = document.parent().and_then(path::Path::parent) == Some(kept);
            let name = document.file_name().and_then(OsStr::to_str).filter(|_| is_kept);
            name.map(|name| (name, document.as_path())).ok_or_else(|| {
                let words = format!("{} is no document that was dropped into the page", document.display());
                PageApiError::conflict(words).about("documents")
            })
        });
        known.collect()
    }
}

/// Puts the paths of documents in place of their names where a task opens them.
fn opened_in_place(task: &mut Map<String, Value>, documents: &HashMap<&str, &path::Path>) {
    let in_place = |value: &mut Value| {
        if let Some(path) = value.as_str().and_then(|name| documents.get(name)) {
            *value = Value::from(path.to_string_lossy());
        }
    };
    match task.get_mut("open") {
        Some(Value::Array(all)) => all.iter_mut().for_each(in_place),
        Some(one) => in_place(one),
        None => {}
    }
}

#[derive(Serialize)]
struct ListView {
    title: &'static str,
    here: &'static str,
    batches: Vec<BatchRow>,
    defaults: Defaults,
}

/// The page with all batches.
pub(super) async fn page(State(service): State<Arc<PageService>>) -> Result<Html<String>, PageApiError> {
    let batches = rows(&service).await?;
    let defaults = Defaults::of(&service.defaults);
    let view = ListView { title: "Batches – Deskhand", here: "/batches", batches, defaults };
    service.views.page("batches", &view)
}

/// All batches as data.
pub(super) async fn list(
    State(service): State<Arc<PageService>>,
) -> Result<Json<Vec<BatchRow>>, PageApiError> {
    Ok(Json(rows(&service).await?))
}

async fn rows(service: &Arc<PageService>) -> Result<Vec<BatchRow>, PageApiError> {
    let reading = Arc::clone(service);
    let rows = spawn_blocking(move || BatchRow::all(&reading)).await;
    rows.map_err(|error| PageApiError::failed("list the batches", &error))?
}

/// Starts a batch.
pub(super) async fn start(
    State(service): State<Arc<PageService>>,
    _attempt: IdempotentAttempt,
    JsonBody(wanted): JsonBody<StartBatchRequest>,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    if wanted.tasks.is_empty() {
        return Err(PageApiError::in_field("tasks", "give at least one task, one a line"));
    }
    let id = new_id();
    let arguments = wanted.arguments(&id)?;
    let keeping = Arc::clone(&service);
    let folder = spawn_blocking(move || wanted.keep(&keeping)).await;
    let folder = folder.map_err(|error| PageApiError::failed("keep the tasks", &error))??;
    begin(&service, &id, arguments, &folder.join(TASKS)).await
}

async fn begin(
    service: &PageService,
    id: &SessionId,
    mut arguments: Vec<String>,
    tasks: &std::path::Path,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    arguments.extend(["--".to_owned(), tasks.to_string_lossy().into_owned()]);
    let note = service.host.batches().file(id);
    let begun = service.workers.start_until("batch", &arguments, &id.0, &[&note]).await;
    let folder = tasks.parent().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    begun.map_err(|error| error.without(&folder).about("tasks"))?;
    Ok(CreatedResponse(CreatedSession { id: id.0.clone() }))
}

/// Goes on with a batch that was started from the page and does not run: with the tasks that have no result.
pub(super) async fn resume(
    State(service): State<Arc<PageService>>,
    Path(OfBatch { id }): Path<OfBatch>,
) -> Result<CreatedResponse<CreatedSession>, PageApiError> {
    let batch = found(&service, id).await?;
    if batch.is_running {
        return Err(PageApiError::conflict("the batch runs already"));
    }
    let started = batch.note.source.parent().map(|folder| folder.join(STARTED));
    let text = started.and_then(|file| fs::read(file).ok());
    let wanted =
        text.and_then(|text| serde_json::from_slice::<StartBatchRequest>(&text).ok()).ok_or_else(|| {
            let source = batch.note.source.display();
            PageApiError::conflict(format!(
                "it was not started from the page: `deskhand batch {source} --resume` goes on"
            ))
        })?;
    let id = new_id();
    let mut arguments = wanted.arguments(&id)?;
    arguments.push("--resume".to_owned());
    begin(&service, &id, arguments, &batch.note.source).await
}

/// A batch by its id.
async fn found(service: &Arc<PageService>, id: String) -> Result<Batch, PageApiError> {
    let batches = service.host.batches();
    let missing = PageApiError::missing(format!("there is no batch {id}"));
    let found = spawn_blocking(move || batches.find(&id)).await;
    found.map_err(|error| PageApiError::failed("read the batch", &error))?.ok_or(missing)
}

#[derive(Serialize)]
struct OneView {
    title: String,
    here: &'static str,
    table: BatchTable,
    rows: String,
}

/// The page of one batch.
pub(super) async fn one(
    State(service): State<Arc<PageService>>,
    Path(OfBatch { id }): Path<OfBatch>,
) -> Result<Html<String>, PageApiError> {
    let table = table_of(&service, id).await?;
    let rows = service.views.text("tasks", &table)?;
    let title = format!("Batch of {} tasks – Deskhand", table.count());
    service.views.page("batch", &OneView { title, here: "/batches", table, rows })
}

/// One batch as data.
pub(super) async fn data(
    State(service): State<Arc<PageService>>,
    Path(OfBatch { id }): Path<OfBatch>,
) -> Result<Json<BatchTable>, PageApiError> {
    Ok(Json(table_of(&service, id).await?))
}

async fn table_of(service: &Arc<PageService>, id: String) -> Result<BatchTable, PageApiError> {
    let batch = found(service, id).await?;
    service.looking_back(move |catalogue| BatchTable::of(&batch, catalogue)).await
}

/// Stops a batch: what runs is cancelled, and nothing more begins.
pub(super) async fn stop(
    State(service): State<Arc<PageService>>,
    Path(OfBatch { id }): Path<OfBatch>,
) -> Result<AcceptedResponse, PageApiError> {
    let batch = found(&service, id).await?;
    let stopped = batch.stop().map_err(|error| PageApiError::failed("stop the batch", &error))?;
    if stopped { Ok(AcceptedResponse) } else { Err(PageApiError::conflict("the batch does not run")) }
}

/// Takes a batch that does not run off the list. Its results and sessions stay.
pub(super) async fn forget(
    State(service): State<Arc<PageService>>,
    Path(OfBatch { id }): Path<OfBatch>,
) -> Result<NoContent, PageApiError> {
    let batch = found(&service, id).await?;
    batch.remove().map_err(|error| PageApiError::conflict(format!("it stays on the list: {error}")))?;
    Ok(NoContent)
}

/// The tasks of a batch as an element of the page, whenever they change, until it has ended.
struct BatchEventStream {
    service: Arc<PageService>,
    id: String,
    ticks: Interval,
    shown: String,
    over: bool,
}

impl BatchEventStream {
    async fn next(&mut self) -> Option<String> {
        while !self.over {
            self.ticks.tick().await;
            let table = table_of(&self.service, self.id.clone()).await.ok()?;
            self.over = !table.is_running();
            let rows = self.service.views.text("tasks", &table).ok()?;
            if rows != self.shown {
                self.shown.clone_from(&rows);
                return Some(rows);
            }
        }
        None
    }
}

/// The tasks of a batch as they go, as server-sent events: `tasks` with the element of the page, and `end` once nothing more comes.
pub(super) async fn events(
    State(service): State<Arc<PageService>>,
    Path(OfBatch { id }): Path<OfBatch>,
) -> Result<Events<String>, PageApiError> {
    found(&service, id.clone()).await?;
    let mut ticks = interval(NEWS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watching = Some(BatchEventStream { service, id, ticks, shown: String::new(), over: false });
    let events = stream::unfold(watching, |watching| async {
        let mut watching = watching?;
        let next = watching.next().await;
        let event = match &next {
            Some(html) => Event::default().event("tasks").json_data(html).unwrap_or_default(),
            None => Event::default().event("end").data("{}"),
        };
        Some((Ok::<_, Infallible>(event), next.map(|_| watching)))
    });
    Ok(Events::of(Sse::new(events).keep_alive(KeepAlive::default())))
}

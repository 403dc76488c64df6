//! From files of tasks to tasks of a fleet.
//!
//! A file has what a task of a batch has, and what only a fleet asks for (`written`). A task with a table becomes one task for each row.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use deskhand_fleet::{
    holder::task_key,
    nats::{FILE_BYTES_MAX, NatsStore},
    plan::{ForEach, TaskPayload, fill_name, name_results, row_task},
    signed::FleetSigningKey,
    store::{FleetStore as _, StoreError},
    task::{TaskId, TaskRecord, TaskSpec},
};
use deskhand_host::{Task, TaskFiles, WrittenTask};
use deskhand_ui::text::error_chain;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Map, Value};

pub use super::submit_error::SubmitError;
use super::{
    stays_inside,
    written::{FleetTaskFields, TaskRowSource, read_table, wrong},
};

/// The most documents of a task.
pub(super) const DOCUMENTS_MAX: usize = 1_000;
/// Maximum number of tasks sent at once.
const AT_ONCE: usize = 32;
/// Maximum number of documents sent at once: they may be large.
const FILES_AT_ONCE: usize = 4;

/// A task that can be submitted.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskSubmission {
    spec: TaskSpec,
    /// The work for the worker; `None` for a task that stands for rows, which are sent as well.
    work: Option<TaskPayload>,
    /// Its documents, each with its name on the worker.
    documents: BTreeMap<String, PathBuf>,
    /// `true` if the deadline runs from now on.
    is_timed: bool,
    place: String,
}

impl TaskSubmission {
    /// Its id in the fleet.
    pub const fn id(&self) -> &TaskId {
        &self.spec.id
    }
}

/// The tasks of files as `deskhand batch` reads them. Ids get `batch` before them, if there is one.
///
/// # Errors
/// [`SubmitError`] with the file and the field. Nothing was sent.
pub fn prepare(files: &TaskFiles, batch: Option<&str>) -> Result<Vec<TaskSubmission>, SubmitError> {
    let all: Result<Vec<Vec<TaskSubmission>>, SubmitError> =
        files.written().iter().map(|written| prepare_one(written, batch)).collect();
    let all: Vec<TaskSubmission> = all?.into_iter().flatten().collect();
    let ids: BTreeSet<&TaskId> = all.iter().map(TaskSubmission::id).collect();
    for prepared in &all {
        if let Some(after) = prepared.spec.after.iter().find(|after| !ids.contains(after)) {
            return Err(SubmitError::After { place: prepared.place.clone(), after: after.to_string() });
        }
    }
    if ids.len() < all.len() {
        let mut seen = BTreeSet::new();
        let twice = all.iter().find(|prepared| !seen.insert(prepared.id()));
        if let Some(twice) = twice {
            let problem = format!("`id`: {} is the id of another task, too", twice.id());
            return Err(SubmitError::Field { place: twice.place.clone(), problem });
        }
    }
    Ok(all)
}

/// A task of a file, and those of its rows if it has a table here.
fn prepare_one(written: &WrittenTask, batch: Option<&str>) -> Result<Vec<TaskSubmission>, SubmitError> {
    let place = &written.place;
    let mut task: Map<String, Value> = serde_json::from_str(&written.text)
        .map_err(|error| SubmitError::Field { place: place.clone(), problem: error.to_string() })?;
    let asked = FleetTaskFields::take(place, &mut task)?;
    // It is checked here and not on a worker, hours later.
    let checked = Task::of_json(&Value::Object(task.clone()), place, &written.name, written.folder())?;
    let id_of = |id: &str| {
        let named = batch.map_or_else(|| id.to_owned(), |batch| format!("{batch}-{id}"));
        TaskId::new(named).map_err(|source| SubmitError::Id { place: place.clone(), source })
    };
    task.insert("id".to_owned(), checked.id().into());
    let mut spec = asked.spec(place, id_of(checked.id())?, &id_of)?;
    spec.batch = batch.map(ToOwned::to_owned);
    let inputs = asked.inputs(place, &id_of)?;
    // What a task takes from another one is there once that has finished.
    spec.after.extend(inputs.iter().map(|input| input.of.clone()));
    let mut work = TaskPayload { task: Value::Object(task), inputs, ..TaskPayload::default() };
    let rows = asked.rows(place, &id_of)?;
    if let Some(TaskRowSource::Of(table)) = &rows {
        spec.after.extend(table.of.clone());
    }
    name_results(&mut work, |name| {
        let id = id_of(name)?;
        if spec.after.contains(&id) {
            return Ok(id);
        }
        Err(wrong(place, "after", &format!("`{{result:{name}}}` is used, and {name} is not in it")))
    })?;
    match rows {
        None => Ok(vec![prepared(spec, work, &asked, written)?]),
        Some(TaskRowSource::Of(table)) => {
            spec.for_each = Some(table);
            Ok(vec![prepared(spec, work, &asked, written)?])
        }
        Some(TaskRowSource::Here(document)) => rows_of(spec, &work, document, &asked, written),
    }
}

/// The tasks of the rows of a table that is here, and the one that stands for all.
fn rows_of(
    mut spec: TaskSpec,
    work: &TaskPayload,
    document: String,
    asked: &FleetTaskFields,
    written: &WrittenTask,
) -> Result<Vec<TaskSubmission>, SubmitError> {
    let place = &written.place;
    let failed = |problem: String| wrong(place, "for_each", &format!("{document}: {problem}"));
    let damaged = |error: serde_json::Error| failed(error.to_string());
    let table = read_table(place, &written.folder().join(&document))?;
    spec.work = serde_json::to_value(work).map_err(damaged)?;
    let mut all = Vec::with_capacity(table.rows.len() + 1);
    for (row, cells) in (1..).zip(&table.rows) {
        let made = row_task(&spec, &table.columns, cells, row);
        let mut made = made.map_err(|error| failed(error.to_string()))?;
        let mut work: TaskPayload =
            serde_json::from_value(std::mem::take(&mut made.work)).map_err(damaged)?;
        fill_open(&mut work, &table.columns, cells)
            .map_err(|problem| failed(format!("row {row}: {problem}")))?;
        all.push(prepared(made, work, asked, written)?);
    }
    let rows = u32::try_from(all.len()).ok();
    let group = TaskSpec {
        for_each: Some(ForEach { of: None, document, rows }),
        labels: spec.labels,
        batch: spec.batch,
        ..TaskSpec::new(spec.id)
    };
    let place = place.clone();
    all.push(TaskSubmission { spec: group, work: None, documents: BTreeMap::new(), is_timed: false, place });
    Ok(all)
}

/// Puts the cells of a row into the names of documents. A cell leads to nothing but what is beside the table.
fn fill_open(work: &mut TaskPayload, columns: &[String], cells: &[String]) -> Result<(), String> {
    let Some(Value::Array(open)) = work.task.get_mut("open") else { return Ok(()) };
    for name in open {
        let Value::String(text) = name else { continue };
        let filled = fill_name(text, columns, cells).map_err(|error| format!("`open`: {error}"))?;
        if filled != *text && !stays_inside(&filled) {
            return Err(format!("`open`: `{filled}` is not beside the table"));
        }
        *text = filled;
    }
    Ok(())
}

/// A task with its documents.
fn prepared(
    spec: TaskSpec,
    mut work: TaskPayload,
    asked: &FleetTaskFields,
    written: &WrittenTask,
) -> Result<TaskSubmission, SubmitError> {
    let place = written.place.clone();
    let checked = Task::of_json(&work.task, &place, &written.name, written.folder())?;
    let mut documents = BTreeMap::new();
    for path in checked.documents() {
        let name = name_of(&path).filter(|name| work.inputs.iter().any(|input| input.name == *name));
        if name.is_none() {
            let (name, path) = document(&place, path)?;
            if documents.insert(name, path.clone()).is_some_and(|other| other != path) {
                let problem = "another document of the task has the same name".to_owned();
                return Err(SubmitError::Document { place, path, problem });
            }
        }
    }
    if documents.len() > DOCUMENTS_MAX {
        return Err(wrong(&place, "open", &format!("more than {DOCUMENTS_MAX} documents")));
    }
    // On the worker all of them are in one folder.
    for (key, value) in work.task.as_object_mut().into_iter().flatten() {
        let rename = |value: &mut Value| {
            let name = value.as_str().and_then(|path| Path::new(path).file_name()?.to_str());
            if let Some(name) = name.filter(|name| documents.contains_key(*name)) {
                *value = name.into();
            }
        };
        match (key.as_str(), value) {
            ("open", Value::Array(paths)) => paths.iter_mut().for_each(rename),
            ("object", value) => rename(value),
            _ => {}
        }
    }
    Ok(TaskSubmission { spec, work: Some(work), documents, is_timed: asked.is_timed(), place })
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

/// A document that can be sent, with its name.
fn document(place: &str, path: PathBuf) -> Result<(String, PathBuf), SubmitError> {
    let refused = |problem: &str| SubmitError::Document {
        place: place.to_owned(),
        path: path.clone(),
        problem: problem.to_owned(),
    };
    let Some(name) = name_of(&path) else { return Err(refused("it has no name")) };
    let facts = fs::metadata(&path).map_err(|error| refused(&error_chain(&error)))?;
    if !facts.is_file() {
        return Err(refused("only files can be sent"));
    }
    if facts.len() > FILE_BYTES_MAX {
        return Err(refused("it is larger than 256 MiB"));
    }
    Ok((name, path))
}

/// Sends tasks with their documents, several at once and signed if there is a key, and reports each that was sent, in order. A task that was
/// sent already, with the same content, is sent once.
///
/// # Errors
/// [`SubmitError`]: another task has the id of one, a document cannot be read, or the server does not answer. What was reported is sent.
pub async fn submit_all(
    store: &NatsStore,
    prepared: Vec<TaskSubmission>,
    key: Option<&FleetSigningKey>,
    mut sent: impl FnMut(&TaskId),
) -> Result<(), SubmitError> {
    // Rows of a table mostly have the same documents.
    let files: BTreeMap<&PathBuf, &str> = prepared
        .iter()
        .flat_map(|one| one.documents.values().map(|path| (path, one.place.as_str())))
        .collect();
    let stored = stream::iter(files).map(|(path, place)| send_file(store, place, path));
    let stored: BTreeMap<PathBuf, String> = stored.buffer_unordered(FILES_AT_ONCE).try_collect().await?;
    let mut all = stream::iter(prepared).map(|one| submit(store, one, &stored, key)).buffered(AT_ONCE);
    while let Some(id) = all.next().await {
        sent(&id?);
    }
    Ok(())
}

async fn send_file(store: &NatsStore, place: &str, path: &Path) -> Result<(PathBuf, String), SubmitError> {
    let bytes = read_document(path).map_err(|error| SubmitError::Document {
        place: place.to_owned(),
        path: path.to_owned(),
        problem: error.to_string(),
    })?;
    Ok((path.to_owned(), store.put_file(&bytes).await?))
}

/// A task with its signature, if there is a key.
fn signed(
    store: &NatsStore,
    spec: &TaskSpec,
    key: Option<&FleetSigningKey>,
) -> Result<TaskSpec, SubmitError> {
    let Some(key) = key else { return Ok(spec.clone()) };
    let signed = key.sign(store.fleet(), spec.clone());
    signed.map_err(|source| SubmitError::Sign { id: spec.id.clone(), source })
}

/// Sends a task whose documents are stored under these hashes.
async fn submit(
    store: &NatsStore,
    prepared: TaskSubmission,
    stored: &BTreeMap<PathBuf, String>,
    key: Option<&FleetSigningKey>,
) -> Result<TaskId, SubmitError> {
    let TaskSubmission { mut spec, work, documents, is_timed, place } = prepared;
    let documents =
        documents.into_iter().filter_map(|(name, path)| Some((name, stored.get(&path)?.clone()))).collect();
    let damaged =
        |error: serde_json::Error| SubmitError::Field { place: place.clone(), problem: error.to_string() };
    if let Some(work) = work {
        spec.work = serde_json::to_value(TaskPayload { documents, ..work }).map_err(damaged)?;
    }
    let id = spec.id.clone();
    let record = TaskRecord { spec: signed(store, &spec, key)?, released: 0 };
    let value = serde_json::to_vec(&record).map_err(damaged)?;
    match store.put(&task_key(&id), 0, &value).await {
        Ok(_) => return Ok(id),
        Err(StoreError::Changed) => {}
        Err(error @ StoreError::Unknown(_)) => return Err(error.into()),
    }
    let known = store.get(&task_key(&id)).await?;
    let known = known.and_then(|known| known.read::<TaskRecord>());
    let Some(known) = known else { return Err(SubmitError::Known { id }) };
    if is_timed {
        spec.deadline_ms = known.spec.deadline_ms;
    }
    if let (Some(table), Some(known)) = (&mut spec.for_each, &known.spec.for_each) {
        // The rows of a table that came later may be made by now.
        table.rows = table.rows.or(known.rows);
    }
    if known.spec == signed(store, &spec, key)? { Ok(id) } else { Err(SubmitError::Known { id }) }
}

fn read_document(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read as _;
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! Inputs of a task from earlier tasks: their documents, and the texts of their results.

use std::collections::BTreeMap;

use deskhand_fleet::{
    holder::outcome_key,
    journal::TaskOutcome,
    nats::NatsStore,
    plan::{DocumentInput, TaskPayload, TaskResultFacts, fill_results, name_results, no_document, row_id},
    store::{FleetStore as _, StoreError},
    task::TaskId,
};
use serde_json::Value;

/// The most documents that a task takes from others.
const TAKEN_MAX: usize = 1_000;

/// Why a task cannot have what it takes.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    /// The input does not exist, and will not.
    #[error("{0}")]
    Missing(String),
    /// The server does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The outcomes of tasks that were read.
struct PredecessorOutcomes<'a> {
    store: &'a NatsStore,
    known: BTreeMap<TaskId, TaskResultFacts>,
}

impl PredecessorOutcomes<'_> {
    async fn facts(&mut self, id: &TaskId) -> Result<TaskResultFacts, InputError> {
        if let Some(facts) = self.known.get(id) {
            return Ok(facts.clone());
        }
        let record = self.store.get(&outcome_key(id)).await?;
        let outcome = record.and_then(|record| record.read::<TaskOutcome>());
        // It has one. A server that is behind the others may not know it yet.
        let outcome =
            outcome.ok_or_else(|| StoreError::Unknown(format!("the outcome of {id} is not there")))?;
        let facts = TaskResultFacts::of(&outcome);
        self.known.insert(id.clone(), facts.clone());
        Ok(facts)
    }

    /// The tasks of the rows of a task; itself if it has none.
    async fn tasks(&mut self, id: &TaskId) -> Result<(bool, Vec<TaskId>), InputError> {
        let Some(rows) = self.facts(id).await?.rows else { return Ok((false, vec![id.clone()])) };
        let ids = (1..=rows).map(|row| row_id(id, usize::try_from(row).unwrap_or(usize::MAX)));
        let ids = ids.collect::<Result<_, _>>();
        Ok((true, ids.map_err(|error| InputError::Missing(error.to_string()))?))
    }

    /// The text of the result of a task: of one with rows, a line for each.
    async fn text(&mut self, id: &TaskId) -> Result<String, InputError> {
        let (has_rows, ids) = self.tasks(id).await?;
        let mut lines = Vec::new();
        for id in ids {
            let reason = self.facts(&id).await?.reason;
            lines.push(if has_rows { format!("{id}: {reason}") } else { reason });
        }
        Ok(lines.join("\n"))
    }

    /// The documents of an input: their names in the task, and their hashes.
    async fn documents(&mut self, input: &DocumentInput) -> Result<Vec<(String, String)>, InputError> {
        let (has_rows, ids) = self.tasks(&input.of).await?;
        let mut found = Vec::new();
        for id in ids {
            let documents = self.facts(&id).await?.documents;
            let Some(hash) = documents.get(&input.document) else {
                let missing = no_document(&id, &input.document, documents.keys());
                return Err(InputError::Missing(format!("`inputs`: {missing}")));
            };
            let name = if has_rows { format!("{id}-{}", input.name) } else { input.name.clone() };
            found.push((name, hash.clone()));
        }
        Ok(found)
    }
}

/// Puts what a task takes from others among its documents and into its texts. It opens the documents in the order in which it names them in
/// `open`, and those that it does not name there after that.
pub(super) async fn take(store: &NatsStore, work: &mut TaskPayload) -> Result<(), InputError> {
    let mut read = PredecessorOutcomes { store, known: BTreeMap::new() };
    let mut ids = Vec::new();
    name_results(work, |name| {
        let id = TaskId::new(name);
        ids.extend(id.clone());
        id
    })
    .map_err(|error| InputError::Missing(error.to_string()))?;
    let mut results = BTreeMap::new();
    for id in ids {
        let text = read.text(&id).await?;
        results.insert(id, text);
    }
    fill_results(work, &results).map_err(|error| InputError::Missing(error.to_string()))?;
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for input in std::mem::take(&mut work.inputs) {
        for (name, hash) in read.documents(&input).await? {
            names.entry(input.name.clone()).or_default().push(name.clone());
            work.documents.insert(name, hash);
        }
    }
    if names.values().map(Vec::len).sum::<usize>() > TAKEN_MAX {
        return Err(InputError::Missing(format!("`inputs`: more than {TAKEN_MAX} documents")));
    }
    open(&mut work.task, names);
    Ok(())
}

/// Writes the names of documents in place of those of inputs. What is not named yet comes last.
fn open(task: &mut Value, mut names: BTreeMap<String, Vec<String>>) {
    let Some(task) = task.as_object_mut() else { return };
    let named = match task.remove("open") {
        Some(Value::Array(named)) => named,
        Some(_) | None => Vec::new(),
    };
    let mut all = Vec::new();
    for name in named {
        match name.as_str().and_then(|name| names.remove(name)) {
            Some(names) => all.extend(names.into_iter().map(Value::from)),
            None => all.push(name),
        }
    }
    all.extend(names.into_values().flatten().map(Value::from));
    if !all.is_empty() {
        task.insert("open".to_owned(), Value::Array(all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_opened_where_they_are_named_and_else_last() {
        let mut task = serde_json::json!({ "open": ["data.csv", "form.odt"] });
        let name = |name: &str| name.to_owned();
        let names = BTreeMap::from([
            (name("data.csv"), vec![name("all-0001-data.csv"), name("all-0002-data.csv")]),
            (name("more.csv"), vec![name("more.csv")]),
        ]);
        open(&mut task, names);
        assert_eq!(
            task["open"],
            serde_json::json!(["all-0001-data.csv", "all-0002-data.csv", "form.odt", "more.csv"])
        );
    }
}

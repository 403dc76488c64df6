//! The index of the experiences. It can be lost at any time: it is built anew from the records.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexReader, TantivyDocument, TantivyError, Term,
    schema::{Field, STORED, STRING, Schema},
};

use super::{
    error::ExperienceError,
    lock,
    log::{ExperienceLog, ExperienceRecord, Position},
    model::Experience,
    state::ExperienceSet,
};
use crate::{
    index::{self, IndexFields, stored},
    score::WeightedTerms,
};

/// The form of the index. An index of another form is built anew.
const FORM: u32 = 1;
/// The most experiences that are looked at after the index has chosen.
pub(crate) const CANDIDATES_MAX: usize = 50;

/// Payload of a commit: the records that are in it.
#[derive(Serialize, Deserialize)]
struct Payload {
    form: u32,
    position: Position,
}

/// The fields of an experience.
#[derive(Debug, Clone, Copy)]
struct ExperienceFields {
    id: Field,
    request: Field,
    text: Field,
    application: Field,
}

/// The index in a folder.
pub(crate) struct ExperienceIndex {
    folder: PathBuf,
    lock: PathBuf,
    schema: Schema,
    fields: ExperienceFields,
    /// Open index and its reader, if it could be opened.
    open: Mutex<Option<(Index, IndexReader)>>,
}

/// Result of an index search.
#[derive(Default)]
pub(crate) struct ExperienceIndexHits {
    /// Relevance and id, the best first.
    pub(crate) ids: Vec<(f32, String)>,
    pub(crate) weighted: WeightedTerms,
    /// The records that it knows; `None` if it cannot be used.
    pub(crate) position: Option<Position>,
}

impl ExperienceIndex {
    pub(crate) fn new(folder: &Path) -> Self {
        let mut schema = Schema::builder();
        let fields = ExperienceFields {
            id: schema.add_text_field("id", STRING | STORED),
            request: schema.add_text_field("request", index::searched()),
            text: schema.add_text_field("text", index::searched()),
            application: schema.add_text_field("application", STRING),
        };
        Self {
            folder: folder.join("index"),
            lock: folder.join("index.lock"),
            schema: schema.build(),
            fields,
            open: Mutex::new(None),
        }
    }

    /// Looks up stems. An index that cannot be used finds nothing and has no position.
    pub(crate) fn look_up(&self, words: &[String], application: Option<&str>) -> ExperienceIndexHits {
        let run = || -> Result<ExperienceIndexHits, TantivyError> {
            let (index, reader) = self.opened()?;
            // The position is read first: if another process commits in between, records are looked at twice, not never.
            let position = position(&index)?;
            reader.reload()?;
            let ExperienceFields { request: title, text, application: about, id } = self.fields;
            let fields = IndexFields { title, text, application: about };
            let found = index::look_up(&reader.searcher(), fields, words, application, CANDIDATES_MAX)?;
            let ids = found
                .documents
                .iter()
                .map(|(relevance, document)| (*relevance, stored(document, id)))
                .collect();
            Ok(ExperienceIndexHits { ids, weighted: found.weighted, position })
        };
        index::guarded(run).unwrap_or_else(|error| {
            tracing::debug!(%error, "the index of experiences cannot be used");
            self.close();
            ExperienceIndexHits::default()
        })
    }

    /// Brings the index up to the records. False if another process is doing so.
    pub(crate) fn catch_up(&self, log: &ExperienceLog) -> Result<bool, ExperienceError> {
        let Some(_lock) = lock::attempt(&self.lock)? else { return Ok(false) };
        let failed = |source| ExperienceError::Index { folder: self.folder.clone(), source };
        let known = index::guarded(|| position(&self.opened()?.0));
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                tracing::debug!(%error, "the index of experiences is built anew");
                self.clear()?;
                None
            }
        };
        let read = log.read_since(&known.clone().unwrap_or_default())?;
        let is_new = known.is_none() || read.is_all;
        if !is_new && read.records.is_empty() {
            return Ok(true);
        }
        if index::guarded(|| self.write(&read.records, is_new, &read.position)).is_ok() {
            return Ok(true);
        }
        // It is damaged where opening does not look.
        self.clear()?;
        let read = log.read_since(&Position::default())?;
        index::guarded(|| self.write(&read.records, /*is_new*/ true, &read.position)).map_err(failed)?;
        Ok(true)
    }

    fn write(
        &self,
        records: &[ExperienceRecord],
        is_new: bool,
        position: &Position,
    ) -> Result<(), TantivyError> {
        let (index, _) = self.opened()?;
        let mut writer = index::writer(&index, /*merges*/ true)?;
        if is_new {
            writer.delete_all_documents()?;
        }
        let mut state = ExperienceSet::default();
        // In a fixed order: the same records give the same index.
        let mut changed = BTreeSet::new();
        for record in records {
            changed.extend(ids(record).into_iter().map(ToOwned::to_owned));
            state.apply(record.clone());
        }
        for id in &changed {
            writer.delete_term(Term::from_field_text(self.fields.id, id));
            if let Some(experience) = state.get(id) {
                writer.add_document(self.document(experience))?;
            }
        }
        let payload = Payload { form: FORM, position: position.clone() };
        let payload = serde_json::to_string(&payload)
            .map_err(|error| TantivyError::InternalError(error.to_string()))?;
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        writer.wait_merging_threads()
    }

    fn document(&self, experience: &Experience) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.fields.id, &experience.id);
        document.add_text(self.fields.request, &experience.request);
        document.add_text(self.fields.text, format!("{}\n{}", experience.request, experience.body()));
        for application in &experience.applications {
            document.add_text(self.fields.application, application);
        }
        document
    }

    /// The index, opened on first use. Its files are compared with their checksums then.
    fn opened(&self) -> Result<(Index, IndexReader), TantivyError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((index, reader)) = open.as_ref() {
            return Ok((index.clone(), reader.clone()));
        }
        let index = index::open(&self.folder, &self.schema)?;
        if let Some(damaged) = index.validate_checksum()?.into_iter().next() {
            return Err(TantivyError::InternalError(format!("{} is damaged", damaged.display())));
        }
        let reader = index::reader(&index)?;
        *open = Some((index.clone(), reader.clone()));
        Ok((index, reader))
    }

    fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn clear(&self) -> Result<(), ExperienceError> {
        self.close();
        index::remove(&self.folder).map_err(|problem| ExperienceError::File {
            action: "remove",
            path: self.folder.clone(),
            problem,
        })
    }
}

/// The records that an index knows; `None` if it is new or has another form.
fn position(index: &Index) -> Result<Option<Position>, TantivyError> {
    let payload = index.load_metas()?.payload;
    let payload = payload.and_then(|payload| serde_json::from_str::<Payload>(&payload).ok());
    Ok(payload.filter(|payload| payload.form == FORM).map(|payload| payload.position))
}

/// The experiences whose texts a record changes.
pub(crate) fn ids(record: &ExperienceRecord) -> Vec<&str> {
    match record {
        ExperienceRecord::Add { experience, replaces } => {
            replaces.iter().map(String::as_str).chain([experience.id.as_str()]).collect()
        }
        ExperienceRecord::Forget { ids } => ids.iter().map(String::as_str).collect(),
        ExperienceRecord::Result { .. } => Vec::new(),
    }
}

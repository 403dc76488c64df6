//! The index of help.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use deskhand_machine::retrieval::Hit;
use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexReader, IndexWriter, TantivyDocument, TantivyError, Term,
    schema::{STORED, STRING, Schema},
};

use super::{
    document::document,
    error::HelpError,
    files::{HelpLimits, SKIPPED_MAX, SkippedHelpFile, files},
    language::Languages,
    rank::{CANDIDATES_MAX, HelpQuery, PassageFields, Reranker, ranked},
};
use crate::{
    clock::now_ms,
    index::{self, IndexFields},
    passages::passages,
    reading::DocumentTextReader,
    words,
};

/// The version of the list of sources.
const VERSION: u32 = 1;
/// The most sources.
const SOURCES_MAX: usize = 10_000;

/// Help to add: a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpSource {
    /// Path of the source.
    pub path: PathBuf,
    /// The root of the application that it is about, if it is about one.
    pub application: Option<String>,
    /// The languages that are wanted, where folders have several.
    pub languages: Languages,
}

impl HelpSource {
    /// Help at a path, in the language of this process.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), application: None, languages: Languages::of_environment() }
    }

    /// The same, about an application.
    #[must_use]
    pub fn about(self, application: &str) -> Self {
        Self { application: Some(application.to_owned()), ..self }
    }

    /// The same, in these languages.
    #[must_use]
    pub fn in_languages(self, languages: Languages) -> Self {
        Self { languages, ..self }
    }
}

/// Result of adding a source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HelpIndexUpdate {
    /// Number of files read.
    pub files: usize,
    /// Number of passages in the files.
    pub passages: usize,
    /// Files that were not read, the first 200.
    pub skipped: Vec<SkippedHelpFile>,
    /// Description of the content that a limit cut off.
    pub left_out: Option<String>,
}

/// A source in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedHelpSource {
    /// Path of the source.
    pub path: PathBuf,
    /// The root of the application that it is about.
    #[serde(default)]
    pub application: Option<String>,
    /// When it was added, in milliseconds since 1970.
    pub at_ms: u64,
    /// Number of files read.
    pub files: usize,
    /// Number of passages in the files.
    pub passages: usize,
    /// Number of files not read.
    pub skipped: usize,
}

/// Payload of the last commit: written together with the passages, or not at all.
#[derive(Serialize, Deserialize)]
struct HelpSourceList {
    version: u32,
    sources: BTreeMap<PathBuf, IndexedHelpSource>,
}

/// The index of help in a folder. Several processes may search at once; one at a time may add or remove.
pub struct HelpIndex {
    folder: PathBuf,
    index: Index,
    reader: IndexReader,
    fields: PassageFields,
    limits: HelpLimits,
    texts: DocumentTextReader,
}

impl HelpIndex {
    /// Opens the index in a folder, which is made if it is missing.
    ///
    /// # Errors
    /// The folder cannot be made or read, or what is in it is damaged.
    pub fn open(folder: &Path) -> Result<Self, HelpError> {
        let failed = |source| HelpError::Open { folder: folder.to_owned(), source };
        let mut schema = Schema::builder();
        let fields = PassageFields {
            source: schema.add_text_field("source", STRING),
            origin: schema.add_text_field("origin", STORED),
            title: schema.add_text_field("title", index::searched().set_stored()),
            text: schema.add_text_field("text", STORED),
            body: schema.add_text_field("body", index::searched()),
            application: schema.add_text_field("application", STRING | STORED),
        };
        let index = index::open(folder, &schema.build()).map_err(failed)?;
        let reader = index::guarded(|| index::reader(&index)).map_err(failed)?;
        let (limits, texts) = (HelpLimits::default(), DocumentTextReader::default());
        Ok(Self { folder: folder.to_owned(), index, reader, fields, limits, texts })
    }

    /// The same index, with other limits.
    #[must_use]
    pub fn with_limits(self, limits: HelpLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same index; files are read by `texts`.
    #[must_use]
    pub fn with_texts(self, texts: DocumentTextReader) -> Self {
        Self { texts, ..self }
    }

    /// Adds a source, in place of what was added from the same path before. Files that cannot be read are skipped and named.
    ///
    /// # Errors
    /// The source is missing, another process is writing, or the index cannot be written. Nothing is changed then.
    pub fn add(&self, source: &HelpSource) -> Result<HelpIndexUpdate, HelpError> {
        let unreadable = |problem| HelpError::Source { path: source.path.clone(), problem };
        let path = source.path.canonicalize().map_err(unreadable)?;
        let mut found = files(&path, &source.languages, &self.limits).map_err(unreadable)?;
        let writer = self.writer()?;
        let mut added = HelpIndexUpdate {
            skipped: std::mem::take(&mut found.skipped),
            left_out: found.left_out.take(),
            ..HelpIndexUpdate::default()
        };
        let mut list = self.read_list()?;
        self.change(|| {
            writer.delete_term(Term::from_field_text(self.fields.source, &path.to_string_lossy()));
            for file in &found.paths {
                if added.passages >= self.limits.passages_max {
                    added.left_out = Some(format!("all passages after the first {}", added.passages));
                    break;
                }
                self.add_file(&writer, &path, file, source.application.as_deref(), &mut added)?;
            }
            let listed = IndexedHelpSource {
                path: path.clone(),
                application: source.application.clone(),
                at_ms: now_ms(),
                files: added.files,
                passages: added.passages,
                skipped: added.skipped.len(),
            };
            if list.sources.len() < SOURCES_MAX || list.sources.contains_key(&path) {
                list.sources.insert(path.clone(), listed);
            }
            commit(writer, &list)
        })?;
        Ok(added)
    }

    fn add_file(
        &self,
        writer: &IndexWriter,
        source: &Path,
        file: &Path,
        application: Option<&str>,
        added: &mut HelpIndexUpdate,
    ) -> Result<(), TantivyError> {
        let document = match document(file, &self.texts, self.limits.file_bytes_max) {
            Ok(document) => document,
            Err(reason) => {
                if added.skipped.len() < SKIPPED_MAX {
                    added.skipped.push(SkippedHelpFile { path: file.to_owned(), reason });
                }
                return Ok(());
            }
        };
        added.files += 1;
        let room = self.limits.passages_max.saturating_sub(added.passages);
        for passage in passages(&document.text, &document.name).into_iter().take(room) {
            let mut entry = TantivyDocument::default();
            entry.add_text(self.fields.source, source.to_string_lossy());
            entry.add_text(self.fields.origin, file.to_string_lossy());
            // The words of the title count as words of the text, and once more as those of the title.
            entry.add_text(self.fields.body, format!("{}\n{}", passage.title, passage.text));
            entry.add_text(self.fields.title, passage.title);
            entry.add_text(self.fields.text, passage.text);
            if let Some(application) = application {
                entry.add_text(self.fields.application, application);
            }
            writer.add_document(entry)?;
            added.passages += 1;
        }
        Ok(())
    }

    /// Removes a source; false if it was not there.
    ///
    /// # Errors
    /// Another process is writing, or the index cannot be written.
    pub fn remove(&self, path: &Path) -> Result<bool, HelpError> {
        let writer = self.writer()?;
        let mut list = self.read_list()?;
        // What was added may be gone from the disk.
        let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if list.sources.remove(&resolved).is_none() {
            return Ok(false);
        }
        self.change(|| {
            writer.delete_term(Term::from_field_text(self.fields.source, &resolved.to_string_lossy()));
            commit(writer, &list)
        })?;
        Ok(true)
    }

    /// Lists the added sources, by path.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn list(&self) -> Result<Vec<IndexedHelpSource>, HelpError> {
        Ok(self.read_list()?.sources.into_values().collect())
    }

    /// The passages that fit best what is wanted, at most `hits_max`. Those about the application come first.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn search(
        &self,
        wanted: &str,
        application: Option<&str>,
        hits_max: usize,
    ) -> Result<Vec<Hit>, HelpError> {
        self.ranked(HelpQuery { wanted, application, reranker: None }, hits_max)
    }

    /// The same, ordered by words and by meaning. If the meaning cannot be told, by words alone.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn search_with(
        &self,
        reranker: &dyn Reranker,
        wanted: &str,
        application: Option<&str>,
        hits_max: usize,
    ) -> Result<Vec<Hit>, HelpError> {
        self.ranked(HelpQuery { wanted, application, reranker: Some(reranker) }, hits_max)
    }

    fn ranked(&self, asked: HelpQuery<'_>, hits_max: usize) -> Result<Vec<Hit>, HelpError> {
        let PassageFields { title, body, application, .. } = self.fields;
        let found = index::guarded(|| {
            self.reader.reload()?;
            let searched = IndexFields { title, text: body, application };
            let words = words::wanted(asked.wanted);
            index::look_up(&self.reader.searcher(), searched, &words, asked.application, CANDIDATES_MAX)
        });
        let found = found.map_err(|source| HelpError::Search { folder: self.folder.clone(), source })?;
        Ok(ranked(&found, self.fields, asked, hits_max))
    }

    fn writer(&self) -> Result<IndexWriter, HelpError> {
        index::guarded(|| index::writer(&self.index, /*merges*/ true)).map_err(|source| {
            let folder = self.folder.clone();
            if index::is_busy(&source) {
                HelpError::Busy { folder }
            } else {
                HelpError::Write { folder, source }
            }
        })
    }

    fn change<T>(&self, run: impl FnOnce() -> Result<T, TantivyError>) -> Result<T, HelpError> {
        index::guarded(run).map_err(|source| HelpError::Write { folder: self.folder.clone(), source })
    }

    fn read_list(&self) -> Result<HelpSourceList, HelpError> {
        let metas = index::guarded(|| self.index.load_metas());
        let metas = metas.map_err(|source| HelpError::Search { folder: self.folder.clone(), source })?;
        let Some(payload) = metas.payload else {
            return Ok(HelpSourceList { version: VERSION, sources: BTreeMap::new() });
        };
        let wrong = |problem| HelpError::List { folder: self.folder.clone(), problem };
        let list: HelpSourceList =
            serde_json::from_str(&payload).map_err(|error| wrong(error.to_string()))?;
        if list.version > VERSION {
            return Err(wrong(format!(
                "it has version {}, and {VERSION} is the newest that is known",
                list.version
            )));
        }
        Ok(list)
    }
}

/// Commits passages and list in one step, and waits for merges.
fn commit(mut writer: IndexWriter, list: &HelpSourceList) -> Result<(), TantivyError> {
    let payload =
        serde_json::to_string(list).map_err(|error| TantivyError::InternalError(error.to_string()))?;
    let mut prepared = writer.prepare_commit()?;
    prepared.set_payload(&payload);
    prepared.commit()?;
    writer.wait_merging_threads()
}

impl fmt::Debug for HelpIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HelpIndex").field("folder", &self.folder).finish_non_exhaustive()
    }
}

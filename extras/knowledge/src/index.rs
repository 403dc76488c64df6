//! Common parts of both indexes: opening, writing and searching.

use std::{
    any::Any,
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use tantivy::{
    DocAddress, Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
    collector::TopDocs,
    directory::MmapDirectory,
    indexer::{LogMergePolicy, NoMergePolicy},
    query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query, TermQuery},
    schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, Value as _},
};

use crate::{
    score::WeightedTerms,
    words::{ANALYZER, analyzer},
};

/// The memory of a writer, in bytes: the least that the library takes for one thread, doubled.
const WRITER_BYTES: usize = 30_000_000;
/// Factor by which a word counts more in a title.
const TITLE_BOOST: f32 = 2.0;
/// Boost of a text about the application in question.
const APPLICATION_BOOST: f32 = 4.0;

/// A text field that is searched by stems.
pub(crate) fn searched() -> TextOptions {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(ANALYZER)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    TextOptions::default().set_indexing_options(indexing)
}

/// Opens the index in a folder, which is made if it is missing.
pub(crate) fn open(folder: &Path, schema: &Schema) -> Result<Index, TantivyError> {
    guarded(|| {
        fs::create_dir_all(folder)?;
        let index = Index::open_or_create(MmapDirectory::open(folder)?, schema.clone())?;
        index.tokenizers().register(ANALYZER, analyzer());
        Ok(index)
    })
}

/// A reader that looks for changes on request.
pub(crate) fn reader(index: &Index) -> Result<IndexReader, TantivyError> {
    index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()
}

/// A writer with one thread. `merges` joins small segments in the background after a commit.
pub(crate) fn writer(index: &Index, merges: bool) -> Result<IndexWriter, TantivyError> {
    let writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
    if merges {
        writer.set_merge_policy(Box::new(LogMergePolicy::default()));
    } else {
        writer.set_merge_policy(Box::new(NoMergePolicy));
    }
    Ok(writer)
}

/// Returns `true` if an error says that another process is writing.
pub(crate) const fn is_busy(error: &TantivyError) -> bool {
    matches!(error, TantivyError::LockFailure(..))
}

/// Runs what reads index files. The library panics on some that are damaged.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, TantivyError>) -> Result<T, TantivyError> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|payload| Err(TantivyError::InternalError(message(payload.as_ref()))))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_owned()).chars().take(200).collect()
}

/// The fields that a look-up goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexFields {
    /// Words here count more.
    pub(crate) title: Field,
    /// The text.
    pub(crate) text: Field,
    /// The root of the application.
    pub(crate) application: Field,
}

/// Result of a look-up: texts by relevance, the best first, and the weights of the words.
pub(crate) struct IndexHits {
    /// Relevance and document.
    pub(crate) documents: Vec<(f32, TantivyDocument)>,
    /// The words that were looked up.
    pub(crate) weighted: WeightedTerms,
}

/// Looks up stems: at most `max` documents. Those about the application come first, if they have any of the words.
pub(crate) fn look_up(
    searcher: &Searcher,
    fields: IndexFields,
    words: &[String],
    application: Option<&str>,
    max: usize,
) -> Result<IndexHits, TantivyError> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let mut counted = Vec::new();
    for word in words {
        let text = Term::from_field_text(fields.text, word);
        counted.push((word.clone(), searcher.doc_freq(&text)?));
        let frequencies = IndexRecordOption::WithFreqs;
        clauses.push((Occur::Should, Box::new(TermQuery::new(text, frequencies))));
        let title = TermQuery::new(Term::from_field_text(fields.title, word), frequencies);
        clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(title), TITLE_BOOST))));
    }
    let weighted = WeightedTerms::new(counted, searcher.num_docs());
    if clauses.is_empty() || max == 0 || searcher.num_docs() == 0 {
        return Ok(IndexHits { documents: Vec::new(), weighted });
    }
    let mut query = BooleanQuery::new(clauses);
    if let Some(application) = application {
        let term = Term::from_field_text(fields.application, application);
        let about = TermQuery::new(term, IndexRecordOption::Basic);
        query = BooleanQuery::new(vec![
            (Occur::Must, Box::new(query)),
            (Occur::Should, Box::new(ConstScoreQuery::new(Box::new(about), APPLICATION_BOOST))),
        ]);
    }
    let found: Vec<(f32, DocAddress)> =
        searcher.search(&query, &TopDocs::with_limit(max).order_by_score())?;
    let documents: Result<Vec<_>, TantivyError> =
        found.into_iter().map(|(relevance, address)| Ok((relevance, searcher.doc(address)?))).collect();
    Ok(IndexHits { documents: documents?, weighted })
}

/// The stored text of a field; empty if there is none.
pub(crate) fn stored(document: &TantivyDocument, field: Field) -> String {
    document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// Removes an index that cannot be used.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

//! Asking the retrievers of a configuration: each within a bound, all at once.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, OnceLock,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use deskhand_knowledge::{
    experience::ExperienceStore,
    help::{HelpIndex, Reranker},
    online::{Online, Pages},
};
use deskhand_machine::{
    policy::Policy,
    retrieval::{Hit, Lookup, Retrieval, Retriever},
};
use deskhand_runtime::{Ranker, RetrievalResult, Retrieve, fitting};
use deskhand_ui::text::error_chain;
use futures_util::future::join_all;
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    Knowledge,
    engine::engine,
    pages::{Hosts, pages},
};
use crate::{
    HostError,
    config::{Config, knowledge_dir},
    local::LocalModels,
    ranker::ranker,
    sources::files,
};

/// Maximum time to compare passages by meaning.
const MEANING_BOUND: Duration = Duration::from_secs(8);
/// Maximum time for the search on this machine, including the comparison by meaning, and for the web search with
/// its pages.
const LOCAL_BOUND: Duration = Duration::from_secs(15);
const SEARCH_BOUND: Duration = Duration::from_secs(30);
/// The most hits of each retriever that are considered.
const HELP_MAX: usize = 6;
const EXPERIENCES_MAX: usize = 6;
const PASSAGES_MAX: usize = 2;
/// A passage of help that fits less is noise: it has few of the words that are wanted.
const HELP_SCORE_MIN: u16 = 350;

/// The retrievers of a configuration.
#[derive(Clone, Default)]
pub(crate) struct Retrievers {
    /// For whom each is asked.
    pub(crate) retrieval: Retrieval,
    /// Asks them; `None` if there is none.
    pub(crate) ask: Option<Retrieve>,
}

/// The retrievers that a configuration enables, of those that have something. Opens and sends nothing.
///
/// # Errors
/// The search engine is not configured as it must be, or its key cannot be read.
pub(crate) fn retrievers(
    config: &Config,
    helper: Option<&Path>,
    policy: &Policy,
) -> Result<Retrievers, HostError> {
    let settings = &config.knowledge;
    let knowledge = Knowledge::at(knowledge_dir(config));
    let engine = if settings.search.enabled { engine(&settings.engine)? } else { None };
    let has = |retriever: Retriever| match retriever {
        Retriever::Help => knowledge.has_help(),
        Retriever::Experience | Retriever::Demonstration => knowledge.has_experiences(),
        Retriever::Search => engine.is_some(),
    };
    let retrieval = settings.to_retrieval(&has);
    if retrieval.is_empty() {
        return Ok(Retrievers::default());
    }
    let search = engine.map(|online| OnlineRetriever {
        online,
        pages: pages(files(config, helper)),
        pages_max: usize::try_from(settings.engine.pages).unwrap_or(usize::MAX),
        hosts: Hosts::of(policy.clone(), settings.engine.private_hosts.clone()),
    });
    let embeddings = knowledge.has_help().then(|| LocalModels::of(config).embeddings()).flatten();
    let all = Arc::new(All { local: Arc::new(Local::new(knowledge, embeddings)), search });
    let ask: Retrieve = Arc::new(move |lookup| {
        let all = Arc::clone(&all);
        Box::pin(async move { all.find(lookup).await })
    });
    Ok(Retrievers { retrieval, ask: Some(ask) })
}

/// All retrievers.
struct All {
    local: Arc<Local>,
    search: Option<OnlineRetriever>,
}

impl All {
    async fn find(&self, lookup: Lookup) -> RetrievalResult {
        let local = {
            let (local, lookup) = (Arc::clone(&self.local), lookup.clone());
            spawn_blocking(move || local.find(&lookup))
        };
        let searched = async {
            match self.search.as_ref().filter(|_| lookup.retrievers.contains(&Retriever::Search)) {
                None => RetrievalResult::default(),
                Some(search) => timeout(SEARCH_BOUND, search.find(&lookup))
                    .await
                    .unwrap_or_else(|_| late(Retriever::Search, SEARCH_BOUND)),
            }
        };
        let (local, searched) = tokio::join!(timeout(LOCAL_BOUND, local), searched);
        let local = match local {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => problem(Retriever::Help, &error.to_string()),
            Err(_) => late(Retriever::Help, LOCAL_BOUND),
        };
        let hits = fitting([local.hits, searched.hits].concat(), lookup.tokens_max);
        RetrievalResult { hits, problems: [local.problems, searched.problems].concat() }
    }
}

fn problem(retriever: Retriever, why: &str) -> RetrievalResult {
    RetrievalResult { hits: Vec::new(), problems: vec![format!("{retriever}: {why}")] }
}

fn late(retriever: Retriever, bound: Duration) -> RetrievalResult {
    problem(retriever, &format!("it took more than {} s", bound.as_secs()))
}

/// Knowledge on this machine. Opened on first use.
struct Local {
    knowledge: Knowledge,
    help: OnceLock<Result<HelpIndex, String>>,
    experiences: OnceLock<Result<ExperienceStore, String>>,
    nearness: Option<Nearness>,
}

/// The model for embeddings. On a busy machine it may take longer than its help is worth: then words alone decide.
struct Nearness {
    ranker: Ranker,
    /// One at a time: what is late is still being computed.
    busy: Arc<Mutex<()>>,
}

impl Reranker for Nearness {
    fn nearness(&self, wanted: &str, texts: &[String]) -> Result<Vec<f32>, String> {
        let (ranker, busy) = (Arc::clone(&self.ranker), Arc::clone(&self.busy));
        let (wanted, texts) = (wanted.to_owned(), texts.to_vec());
        let (sender, near) = mpsc::channel();
        let compute = move || {
            if let Ok(_alone) = busy.try_lock() {
                sender.send(ranker(&wanted, &texts)).ok();
            }
        };
        thread::Builder::new()
            .name("meaning".to_owned())
            .spawn(compute)
            .map_err(|error| error.to_string())?;
        near.recv_timeout(MEANING_BOUND).unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => format!("it took more than {} s", MEANING_BOUND.as_secs()),
                RecvTimeoutError::Disconnected => "it is busy with an earlier question".to_owned(),
            })
        })
    }
}

impl Local {
    fn new(knowledge: Knowledge, embeddings: Option<PathBuf>) -> Self {
        let nearness = embeddings.map(|archive| Nearness { ranker: ranker(archive), busy: Arc::default() });
        Self { knowledge, help: OnceLock::new(), experiences: OnceLock::new(), nearness }
    }

    /// Blocking.
    fn find(&self, lookup: &Lookup) -> RetrievalResult {
        let mut found = RetrievalResult::default();
        let mut add = |retriever: Retriever, hits: Result<Vec<Hit>, String>| match hits {
            Ok(hits) => found.hits.extend(hits),
            Err(why) => found.problems.push(format!("{retriever}: {why}")),
        };
        let is_asked = |retriever: &Retriever| lookup.retrievers.contains(retriever);
        if is_asked(&Retriever::Help) {
            add(Retriever::Help, self.help(lookup));
        }
        let shown = [Retriever::Experience, Retriever::Demonstration].into_iter().find(is_asked);
        if let Some(first) = shown {
            let experiences = self.experiences(lookup);
            let is_for = |hit: &Hit| is_asked(&hit.retriever);
            add(first, experiences.map(|hits| hits.into_iter().filter(is_for).collect()));
        }
        found
    }

    fn help(&self, lookup: &Lookup) -> Result<Vec<Hit>, String> {
        let open = || self.knowledge.help().map_err(|error| error_chain(&error));
        let index = self.help.get_or_init(open).as_ref().map_err(Clone::clone)?;
        let (wanted, application) = (lookup.wanted.as_str(), lookup.application.as_deref());
        let hits = match &self.nearness {
            Some(nearness) => index.search_with(nearness, wanted, application, HELP_MAX),
            None => index.search(wanted, application, HELP_MAX),
        };
        let hits = hits.map_err(|error| error_chain(&error))?;
        Ok(hits.into_iter().filter(|hit| hit.score >= HELP_SCORE_MIN).collect())
    }

    fn experiences(&self, lookup: &Lookup) -> Result<Vec<Hit>, String> {
        let open = || self.knowledge.experiences().map_err(|error| error_chain(&error));
        let store = self.experiences.get_or_init(open).as_ref().map_err(Clone::clone)?;
        let found = store.find(&lookup.wanted, lookup.application.as_deref(), EXPERIENCES_MAX);
        found.map_err(|error| error_chain(&error))
    }
}

/// A search engine, and the pages that it names.
struct OnlineRetriever {
    online: Online,
    pages: Pages,
    pages_max: usize,
    hosts: Hosts,
}

impl OnlineRetriever {
    async fn find(&self, lookup: &Lookup) -> RetrievalResult {
        let results = match self.online.search(&lookup.wanted).await {
            Ok(results) => results,
            Err(error) => {
                return problem(Retriever::Search, &format!("failed to {}", error_chain(&error)));
            }
        };
        let read = results.iter().take(self.pages_max).map(|result| self.read(result, &lookup.wanted));
        let mut found = RetrievalResult::default();
        let mut read = join_all(read).await.into_iter();
        for result in results {
            match read.next() {
                Some(Ok(hits)) if !hits.is_empty() => found.hits.extend(hits),
                Some(Err(why)) => {
                    found.problems.push(format!("{}: {why}", Retriever::Search));
                    found.hits.push(result);
                }
                // Nothing on the page fits, or it was not read: what the engine says of it is left.
                Some(Ok(_)) | None => found.hits.push(result),
            }
        }
        found
    }

    /// Returns the matching passages of the page of a result.
    async fn read(&self, result: &Hit, wanted: &str) -> Result<Vec<Hit>, String> {
        let allows = |host: &str| self.hosts.allows(host);
        let page = self.pages.fetch_page(&result.origin, &allows).await;
        let page = page.map_err(|error| format!("failed to {}", error_chain(&error)))?;
        Ok(page.hits(wanted, PASSAGES_MAX))
    }
}

//! Settings of what agents look up: help, experience, demonstrations, and pages of the web.

use std::path::PathBuf;

use deskhand_machine::retrieval::{Retrieval, Retriever, RetrieverUse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::servers::ValueSource;

/// Sources that agents search before they work on something. Results go into their prompts as data, never as
/// instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KnowledgeSettings {
    /// The folder of the index of help and of the experiences. By default `$XDG_DATA_HOME/deskhand/knowledge`, usually
    /// `~/.local/share/deskhand/knowledge`.
    pub dir: Option<PathBuf>,
    /// About how many tokens of what is found a prompt may have.
    pub tokens_max: u32,
    /// Help and documents that `deskhand knowledge add` has put into the index.
    pub help: RetrieverSettings,
    /// Earlier sessions that were evaluated.
    pub experience: RetrieverSettings,
    /// Retrieval from your recorded demonstrations.
    pub demonstration: RetrieverSettings,
    /// The search engine. Nobody is asked until `knowledge.engine.kind` is set; requests and sub-tasks are sent there then.
    pub search: RetrieverSettings,
    /// The search engine to ask.
    pub engine: EngineSettings,
    /// If `true`, requests that were evaluated (`evaluation.enabled`) become experiences.
    pub learn: bool,
}

impl Default for KnowledgeSettings {
    fn default() -> Self {
        Self {
            dir: None,
            tokens_max: Retrieval::TOKENS_MAX,
            help: RetrieverSettings::default(),
            experience: RetrieverSettings::default(),
            demonstration: RetrieverSettings::default(),
            search: RetrieverSettings::default(),
            engine: EngineSettings::default(),
            learn: true,
        }
    }
}

/// For whom a retriever is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetrieverSettings {
    /// If `true`, the retriever is used.
    pub enabled: bool,
    /// The agents that it is asked for, by name or pattern: `HostAgent`, `AppAgent/*`. Empty for all.
    pub agents: Vec<String>,
    /// The applications that it is asked about, by name or pattern. Empty for all. The HostAgent has no application.
    pub applications: Vec<String>,
}

impl Default for RetrieverSettings {
    fn default() -> Self {
        Self { enabled: true, agents: Vec::new(), applications: Vec::new() }
    }
}

/// A kind of search engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// A SearXNG server that answers in JSON.
    Searxng,
    /// Brave Search. Needs a key.
    Brave,
    /// Tavily. Needs a key.
    Tavily,
    /// Any other one that answers in JSON.
    Json,
}

/// The search engine to ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineSettings {
    /// Its kind; without one, nobody is asked.
    pub kind: Option<EngineKind>,
    /// Its address. For `json` with `{query}` in place of what is searched for.
    pub url: Option<String>,
    /// Its key.
    pub key: Option<ValueSource>,
    /// The header that the key of a `json` engine stands in; by default `Authorization: Bearer`.
    pub key_header: Option<String>,
    /// JSON pointer (RFC 6901) to the list of results in the reply of a `json` engine. Empty if the whole reply is
    /// the list.
    pub results: String,
    /// Location of the title in a result of a `json` engine.
    pub title: String,
    /// Location of the address in a result of a `json` engine.
    pub address: String,
    /// Location of the snippet in a result of a `json` engine.
    pub snippet: String,
    /// Number of result pages to read; 0 for snippets alone. A page is only read if the policy allows opening its
    /// host.
    pub pages: u32,
    /// Hosts whose pages may also be read if they are in a private network or on this machine, by name or pattern.
    pub private_hosts: Vec<String>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            kind: None,
            url: None,
            key: None,
            key_header: None,
            results: "/results".to_owned(),
            title: "/title".to_owned(),
            address: "/url".to_owned(),
            snippet: "/content".to_owned(),
            pages: 2,
            private_hosts: Vec::new(),
        }
    }
}

impl KnowledgeSettings {
    /// The settings of a retriever.
    pub const fn of(&self, retriever: Retriever) -> &RetrieverSettings {
        match retriever {
            Retriever::Help => &self.help,
            Retriever::Search => &self.search,
            Retriever::Experience => &self.experience,
            Retriever::Demonstration => &self.demonstration,
        }
    }

    /// The retrievers for the session machine, of those that have something.
    pub(crate) fn to_retrieval(&self, has: &dyn Fn(Retriever) -> bool) -> Retrieval {
        let wanted =
            Retriever::ALL.into_iter().filter(|retriever| self.of(*retriever).enabled && has(*retriever));
        let uses = wanted.map(|retriever| {
            let settings = self.of(retriever);
            RetrieverUse {
                retriever,
                agents: settings.agents.clone(),
                applications: settings.applications.clone(),
            }
        });
        Retrieval { uses: uses.collect(), tokens_max: self.tokens_max }
    }
}

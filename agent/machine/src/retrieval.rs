//! Requests to retrievers, and their hits: help, pages of the web, experience, demonstrations.
//!
//! Core states the request and renders the result. Hits are data: their text stands between marks in a prompt,
//! whatever their trust.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agent::AgentRef;
use deskhand_ui::{AppInfo, pattern::matches, text::tokens};

/// A kind of retriever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retriever {
    /// Help and documents on this machine, out of an index.
    Help,
    /// A search engine, and the pages that it names.
    Search,
    /// Sessions that were finished and evaluated.
    Experience,
    /// Observed work of a person.
    Demonstration,
}

impl Retriever {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [Self::Help, Self::Search, Self::Experience, Self::Demonstration];

    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Search => "search",
            Self::Experience => "experience",
            Self::Demonstration => "demonstration",
        }
    }
}

impl fmt::Display for Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Who wrote a hit. The lowest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Anybody: a page of the web.
    Web,
    /// Who made a package or document of this machine.
    Installed,
    /// An earlier session of this user.
    Session,
    /// The user, who showed how.
    User,
}

impl Trust {
    /// The word that is printed and stored.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Installed => "installed",
            Self::Session => "session",
            Self::User => "user",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// For whom a retriever is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrieverUse {
    /// The retriever.
    pub retriever: Retriever,
    /// The agents, as patterns of their names: `HostAgent`, `AppAgent/*`. Empty for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The applications, as patterns of their roots or names. Empty for all of them. The HostAgent has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub applications: Vec<String>,
}

/// Which retrievers are asked for whom. None by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retrieval {
    /// For whom each is asked.
    pub uses: Vec<RetrieverUse>,
    /// The most tokens (estimated) of what they find, in a prompt.
    pub tokens_max: u32,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self { uses: Vec::new(), tokens_max: Self::TOKENS_MAX }
    }
}

impl Retrieval {
    /// The usual limit of tokens.
    pub const TOKENS_MAX: u32 = 1_500;

    /// Returns `true` if none is asked.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Returns the lookup for an agent that is to work in an application; `None` if no retriever serves it.
    pub fn lookup(&self, wanted: &str, agent: &AgentRef, application: Option<&AppInfo>) -> Option<Lookup> {
        let agent = agent.to_string();
        let is_named =
            |pattern: &String, app: &AppInfo| matches(pattern, &app.root) || matches(pattern, &app.name);
        let is_for = |used: &&RetrieverUse| {
            let agents = used.agents.is_empty() || used.agents.iter().any(|name| matches(name, &agent));
            let applications = used.applications.is_empty()
                || application.is_some_and(|app| used.applications.iter().any(|name| is_named(name, app)));
            agents && applications
        };
        let mut retrievers: Vec<Retriever> =
            self.uses.iter().filter(is_for).map(|used| used.retriever).collect();
        retrievers.sort();
        retrievers.dedup();
        (!retrievers.is_empty()).then(|| Lookup {
            wanted: wanted.to_owned(),
            application: application.map(|app| app.root.clone()),
            retrievers,
            tokens_max: self.tokens_max,
        })
    }
}

/// Request to retrievers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    /// Task, in the words of the user or of the HostAgent.
    pub wanted: String,
    /// The root of the application that it is to be done in; `None` for the HostAgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The retrievers to ask.
    pub retrievers: Vec<Retriever>,
    /// The most tokens (estimated) of all hits together.
    pub tokens_max: u32,
}

/// A text that a retriever found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Who found it.
    pub retriever: Retriever,
    /// Who wrote it.
    pub trust: Trust,
    /// Score of the match, 0 to 1000. Only comparable within one retriever.
    pub score: u16,
    /// Its title.
    pub title: String,
    /// Source of the hit: a path, an address, the id of a session.
    pub origin: String,
    /// The root of the application that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The text.
    pub text: String,
}

impl Hit {
    /// Its size in a prompt, in tokens (estimated).
    pub fn tokens(&self) -> usize {
        tokens(&self.text).saturating_add(tokens(&self.title)).saturating_add(tokens(&self.origin))
    }
}

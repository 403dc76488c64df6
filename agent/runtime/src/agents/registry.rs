//! Registered agent kinds, and those enabled for a session.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use deskhand_machine::{
    agent::{AgentDefinition, AgentHome, DefinitionError},
    prompt::RolePrompts,
};
use deskhand_ui::{ids::AgentId, suggest::nearest};

use super::{
    kind::{AgentKind, AnyKind},
    open::OpenAgents,
};
use crate::agents::AgentError;

/// The kinds present in every session: they work on the desktop and its windows.
pub const BUILT_IN: [&str; 2] = ["host", "app"];

/// A kind that cannot be registered or enabled.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The name is invalid.
    #[error(
        "register agent `{0}`: names consist of lower-case letters, digits, `-` and `_`, starting with a letter"
    )]
    Name(String),
    /// The name is taken.
    #[error("register agent `{0}`: the name is taken")]
    Duplicate(String),
    /// Its statuses or tools are inconsistent.
    #[error("register agent `{name}`")]
    Definition {
        /// The name.
        name: String,
        /// The inconsistency.
        #[source]
        source: DefinitionError,
    },
    /// No kind has that name.
    #[error("find agent `{name}`{}; registered agents: {known}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The requested name.
        name: String,
        /// The most similar registered name.
        nearest: Option<String>,
        /// Every registered name.
        known: String,
    },
    /// The name was given twice.
    #[error("enable agent `{0}`: given twice")]
    Twice(String),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// A summary of a kind, for listings.
#[derive(Debug, Clone, PartialEq)]
pub struct KindInfo {
    /// The name.
    pub name: String,
    /// Description of the agents.
    pub introduction: String,
    /// Place where its agents run.
    pub home: AgentHome,
}

/// All registered kinds of agents without a window.
#[derive(Clone, Default)]
pub struct AgentRegistry {
    kinds: BTreeMap<String, Arc<dyn AnyKind>>,
}

impl fmt::Debug for AgentRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.keys()).finish()
    }
}

impl AgentRegistry {
    /// Registers a kind.
    ///
    /// # Errors
    /// [`RegistryError`] if its name is invalid or taken, or its statuses and tools are inconsistent.
    pub fn register(&mut self, kind: impl AgentKind) -> Result<(), RegistryError> {
        let name = kind.name().to_owned();
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if !begins || !name.chars().all(letters) {
            return Err(RegistryError::Name(name));
        }
        if BUILT_IN.contains(&name.as_str()) || self.kinds.contains_key(&name) {
            return Err(RegistryError::Duplicate(name));
        }
        let definition = AgentDefinition {
            id: AgentId(1),
            name: name.clone(),
            introduction: kind.introduction(),
            home: kind.home(),
        };
        definition.check().map_err(|source| RegistryError::Definition { name: name.clone(), source })?;
        self.kinds.insert(name, Arc::new(kind));
        Ok(())
    }

    /// Every kind, by name.
    pub fn kinds(&self) -> Vec<KindInfo> {
        self.kinds
            .values()
            .map(|kind| KindInfo {
                name: kind.name().to_owned(),
                introduction: kind.introduction(),
                home: kind.home(),
            })
            .collect()
    }

    /// Checks if agents of a kind could work on a sub-task now; `None` if only opening one can tell.
    pub async fn standing(&self, name: &str) -> Option<Result<String, String>> {
        self.kinds.get(name)?.standing().await
    }

    /// Selects the kinds for a session, in this order.
    ///
    /// # Errors
    /// [`RegistryError`] for the first unregistered name, with a suggestion.
    pub fn enable(&self, names: &[String]) -> Result<EnabledAgents, RegistryError> {
        let mut kinds: Vec<Arc<dyn AnyKind>> = Vec::with_capacity(names.len());
        for name in names {
            let kind = self.kinds.get(name).ok_or_else(|| self.unknown(name))?;
            if kinds.iter().any(|known| known.name() == name) {
                return Err(RegistryError::Twice(name.clone()));
            }
            kinds.push(Arc::clone(kind));
        }
        Ok(EnabledAgents { kinds, ..EnabledAgents::default() })
    }

    fn unknown(&self, name: &str) -> RegistryError {
        let nearest = nearest(name, self.kinds.keys().map(String::as_str)).map(str::to_owned);
        let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        RegistryError::Unknown { name: name.to_owned(), nearest, known }
    }
}

/// The agent kinds enabled for a session, not yet opened. Cheap to clone; empty by default.
#[derive(Clone, Default)]
pub struct EnabledAgents {
    kinds: Vec<Arc<dyn AnyKind>>,
    /// Prompts that replace those of the kinds, by name.
    prompts: BTreeMap<String, RolePrompts>,
    /// The files that the session is begun with.
    documents: Vec<PathBuf>,
}

impl EnabledAgents {
    /// The names, in id order.
    pub fn names(&self) -> Vec<String> {
        self.kinds.iter().map(|kind| kind.name().to_owned()).collect()
    }

    /// Opens all agents for one session, with their files under `folder`. Ids are `a1`, `a2`, … in order.
    ///
    /// # Errors
    /// [`AgentError`] if one cannot be opened; the others are closed again.
    pub async fn open(&self, folder: &std::path::Path) -> Result<OpenAgents, AgentError> {
        let mut opened = OpenAgents::open(&self.kinds, folder, &self.documents).await?;
        opened.take_prompts(&self.prompts);
        Ok(opened)
    }

    /// The same for a session that is begun with these files.
    #[must_use]
    pub fn with_documents(self, documents: Vec<PathBuf>) -> Self {
        Self { documents, ..self }
    }

    /// The same with other prompts for agents of these names.
    #[must_use]
    pub fn with_prompts(self, prompts: BTreeMap<String, RolePrompts>) -> Self {
        Self { prompts, ..self }
    }
}

//! Kinds of agents by name, and which of them are enabled.

use std::{collections::BTreeMap, sync::Arc};

use deskhand_core::{
    agent::{AgentDefinition, AgentHome, DefinitionError},
    ids::AgentId,
};

use super::{
    kind::{AgentKind, AnyKind},
    open::OpenAgents,
};
use crate::agents::AgentError;

/// The names of the kinds that every session has: they own the desktop and its windows.
pub const BUILT_IN: [&str; 2] = ["host", "app"];

/// A kind that cannot be registered or enabled.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The name is no name.
    #[error(
        "register the agent `{0}`: a name is made of lower-case letters, digits, `-` and `_`, and begins with a letter"
    )]
    Name(String),
    /// There is one of that name.
    #[error("register the agent `{0}`: there is one of that name already")]
    Duplicate(String),
    /// Its statuses or tools do not fit together.
    #[error("register the agent `{name}`")]
    Definition {
        /// Its name.
        name: String,
        /// What does not fit.
        #[source]
        source: DefinitionError,
    },
    /// None is registered under that name.
    #[error("find the agent `{name}`{}; the agents are {known}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The registered name that is most like it.
        nearest: Option<String>,
        /// Every registered name.
        known: String,
    },
    /// It was named twice.
    #[error("enable the agent `{0}`: it is named twice")]
    Twice(String),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// A kind, for people who list them.
#[derive(Debug, Clone, PartialEq)]
pub struct KindInfo {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub introduction: String,
    /// Where its agents live.
    pub home: AgentHome,
}

/// All kinds of agents that can be assigned sub-tasks and own no window.
#[derive(Clone, Default)]
pub struct AgentRegistry {
    kinds: BTreeMap<String, Arc<dyn AnyKind>>,
}

impl AgentRegistry {
    /// Adds a kind.
    ///
    /// # Errors
    /// [`RegistryError`] when its name is taken or no name, or its statuses and tools do not fit together.
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

    /// The agents of a session: these kinds, in this order.
    ///
    /// # Errors
    /// [`RegistryError`] names the first that is not registered, with the nearest name.
    pub fn enable(&self, names: &[String]) -> Result<EnabledAgents, RegistryError> {
        let mut kinds: Vec<Arc<dyn AnyKind>> = Vec::with_capacity(names.len());
        for name in names {
            let kind = self.kinds.get(name).ok_or_else(|| self.unknown(name))?;
            if kinds.iter().any(|known| known.name() == name) {
                return Err(RegistryError::Twice(name.clone()));
            }
            kinds.push(Arc::clone(kind));
        }
        Ok(EnabledAgents { kinds })
    }

    fn unknown(&self, name: &str) -> RegistryError {
        let nearest = self
            .kinds
            .keys()
            .map(|known| (strsim::jaro_winkler(known, name), known))
            .filter(|(alike, _)| *alike > 0.75)
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .map(|(_, known)| known.clone());
        let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        RegistryError::Unknown { name: name.to_owned(), nearest, known }
    }
}

/// The agents that a session is run with, not opened yet. Cheap to clone; none by default.
#[derive(Clone, Default)]
pub struct EnabledAgents {
    kinds: Vec<Arc<dyn AnyKind>>,
}

impl EnabledAgents {
    /// Their names, in the order of their ids.
    pub fn names(&self) -> Vec<String> {
        self.kinds.iter().map(|kind| kind.name().to_owned()).collect()
    }

    /// Opens all of them for one session, which keeps their files in `folder`. They are `a1`, `a2`, … in order.
    ///
    /// # Errors
    /// [`AgentError`] when one cannot be opened; those that were are closed again.
    pub async fn open(&self, folder: &std::path::Path) -> Result<OpenAgents, AgentError> {
        OpenAgents::open(&self.kinds, folder).await
    }
}

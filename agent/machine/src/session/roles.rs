//! Which models answer whom.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    agent::AgentRef,
    model::ModelRequest,
    money::{Price, PriceTable},
};

/// Names of models, in the order in which they are asked: the next one where the one before fails.
pub type ModelChain = Vec<String>;

/// Which models answer whom, if a session has more than one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelRoles {
    /// Meaning of each name at its endpoint and in the price table: `gpt-5-mini`.
    pub names: BTreeMap<String, String>,
    /// The models for whatever has none of its own.
    pub all: ModelChain,
    /// The HostAgent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: ModelChain,
    /// The AppAgents'.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub app: ModelChain,
    /// The EvaluationAgent's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evaluation: ModelChain,
    /// Those that write a reply anew which could not be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repair: ModelChain,
    /// The AppAgents' of an application, by the root of its process or its name, in lower case.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub applications: BTreeMap<String, ModelChain>,
    /// Those of an agent without a window, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, ModelChain>,
    /// The models that make an AppAgent an operator ([`crate::operator`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<String>,
    /// The models that HostAgent and AppAgents ask short questions, with few things to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub small: Vec<String>,
}

impl ModelRoles {
    /// Returns `true` if the session has one model.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The models for a question of an agent, whose application has that name; `repairs` if it asks for a reply anew.
    pub fn of(&self, agent: &AgentRef, application_name: Option<&str>, repairs: bool) -> &[String] {
        let own = match agent {
            AgentRef::HostAgent => Some(&self.host),
            AgentRef::AppAgent { application, .. } => {
                let names = [Some(application.as_str()), application_name];
                let mut own = names
                    .into_iter()
                    .flatten()
                    .filter_map(|name| self.applications.get(&name.to_lowercase()));
                own.find(|chain| !chain.is_empty()).or(Some(&self.app))
            }
            AgentRef::Agent { name } => self.agents.get(name),
            AgentRef::EvaluationAgent => Some(&self.evaluation),
            AgentRef::Unnamed => None,
        };
        let chains = [Some(&self.repair).filter(|_| repairs), own, Some(&self.all)];
        chains.into_iter().flatten().find(|chain| !chain.is_empty()).map_or(&[], Vec::as_slice)
    }

    /// Returns `true` if the first model that is asked for an agent is an operator.
    pub(super) fn operates(&self, agent: &AgentRef, application_name: Option<&str>) -> bool {
        let first = self.of(agent, application_name, /*repairs*/ false).first();
        first.is_some_and(|name| self.operators.contains(name))
    }

    /// Returns `true` if the first model that is asked for an agent is a small one.
    pub(super) fn is_small(&self, agent: &AgentRef, application_name: Option<&str>) -> bool {
        let first = self.of(agent, application_name, /*repairs*/ false).first();
        first.is_some_and(|name| self.small.contains(name))
    }

    /// The name of a model in the price table; `usual` in a session of one model.
    pub fn priced<'a>(&'a self, name: Option<&'a str>, usual: &'a str) -> &'a str {
        name.map_or(usual, |name| self.names.get(name).map_or(name, String::as_str))
    }

    /// The prices of the models that a request may be answered by; a price is `None` if it is unknown.
    pub(super) fn prices<'a>(
        &'a self,
        request: &'a ModelRequest,
        usual: &'a str,
        prices: &'a PriceTable,
    ) -> Vec<Option<&'a Price>> {
        if request.models.is_empty() {
            return vec![prices.find(usual)];
        }
        request.models.iter().map(|name| prices.find(self.priced(Some(name), usual))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(names: &[&str]) -> ModelChain {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_nearest_role_decides() {
        let roles = ModelRoles {
            all: chain(&["big", "other"]),
            app: chain(&["eyes"]),
            repair: chain(&["small"]),
            applications: [("gimp".to_owned(), chain(&["artist"]))].into(),
            agents: [("shell".to_owned(), chain(&["coder"]))].into(),
            ..ModelRoles::default()
        };
        let named =
            |name: &str, shown, repairs| roles.of(&AgentRef::from_name(name), shown, repairs).join(" ");
        let of = |name: &str, repairs| named(name, Some("Text Editor"), repairs);
        assert_eq!(of("HostAgent", false), "big other");
        assert_eq!(of("AppAgent/gedit", false), "eyes");
        assert_eq!(of("AppAgent/GIMP", false), "artist");
        assert_eq!(named("AppAgent/gimp-3.0", Some("Gimp"), false), "artist");
        assert_eq!(of("shell", false), "coder");
        assert_eq!(of("robot", false), "big other");
        assert_eq!(of("EvaluationAgent", false), "big other");
        assert_eq!(of("AppAgent/GIMP", true), "small");
        assert_eq!(ModelRoles::default().of(&AgentRef::HostAgent, None, true), [""; 0]);
    }
}

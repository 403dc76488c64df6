//! The models of a configuration by role, with their backups.

use std::collections::BTreeMap;

use deskhand_core::session::{ModelChain, ModelRoles};
use serde::{Deserialize, Serialize};

use super::{ConfigError, ModelSettings, settings::Config};

/// Models besides the usual one, and which of all answer whom. Empty where the usual one answers everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Team {
    /// By the names that [`Team::roles`] gives them.
    pub(crate) others: BTreeMap<String, ModelSettings>,
    /// Which of them answer whom. What the names mean at their endpoints is not filled in.
    pub(crate) roles: ModelRoles,
}

impl Team {
    /// The name of the usual model. No specification is like it.
    pub(crate) const USUAL: &str = "model";

    /// Whether the usual model answers everything.
    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// The models that a configuration names.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] with the key whose model does not exist.
    pub(crate) fn of(config: &Config) -> Result<Self, ConfigError> {
        let mut team = Self::default();
        let mut all = vec![Self::USUAL.to_owned()];
        team.add_backups(config, &config.model, "model", &mut all)?;
        let mut chains = BTreeMap::new();
        for (key, spec) in config.roles.models() {
            let mut chain = ModelChain::new();
            team.add(config, &key, spec, &mut chain)?;
            // What is wrong with a special model may be right with the usual one.
            chain.extend(all.iter().filter(|name| !chain.contains(name)).cloned().collect::<Vec<_>>());
            chains.insert(key, chain);
        }
        if team.is_alone() {
            return Ok(team);
        }
        let mut take = |key: &str| chains.remove(key).unwrap_or_default();
        team.roles = ModelRoles {
            host: take("roles.host.model"),
            app: take("roles.app.model"),
            evaluation: take("roles.evaluation.model"),
            repair: take("roles.repair.model"),
            all,
            ..ModelRoles::default()
        };
        for (key, chain) in chains {
            let name = key.strip_suffix(".model").unwrap_or(&key);
            if let Some(name) = name.strip_prefix("roles.applications.") {
                team.roles.applications.insert(name.to_lowercase(), chain);
            } else if let Some(name) = name.strip_prefix("roles.agents.") {
                team.roles.agents.insert(name.to_owned(), chain);
            }
        }
        Ok(team)
    }

    /// Adds the model that a key names, and its backups, to a chain.
    fn add(
        &mut self,
        config: &Config,
        key: &str,
        spec: &str,
        chain: &mut ModelChain,
    ) -> Result<(), ConfigError> {
        let spec = spec.trim();
        if chain.iter().any(|name| name == spec) {
            return Ok(());
        }
        let settings = ModelSettings::from_spec(spec, &config.model, &config.models).map_err(|error| {
            ConfigError::Unfit { key: key.to_owned(), problem: error.to_string(), fix: error.help() }
        })?;
        chain.push(spec.to_owned());
        self.others.insert(spec.to_owned(), settings.clone());
        // A specification takes the settings of the usual model, whose backups are not those of another one.
        match config.models.get(spec) {
            Some(named) => self.add_backups(config, named, key, chain),
            None => Ok(()),
        }
    }

    fn add_backups(
        &mut self,
        config: &Config,
        settings: &ModelSettings,
        key: &str,
        chain: &mut ModelChain,
    ) -> Result<(), ConfigError> {
        let key = if key == "model" { "model.backups" } else { key };
        settings.backups.iter().try_for_each(|spec| self.add(config, key, spec, chain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Loaded, Overrides, Sources, load};

    fn loaded(text: &str, overrides: Overrides) -> Result<Loaded, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        load(&Sources { file: Some(file), overrides, ..Sources::default() })
    }

    const TEAM: &str = r#"
        [model]
        provider = "openai"
        model = "gpt-5-mini"
        backups = ["second", "ollama:qwen3"]
        [models.second]
        provider = "anthropic"
        model = "claude-sonnet-4-5"
        backups = ["second", "third"]
        [models.third]
        provider = "gemini"
        model = "gemini-2.5-flash"
        [roles.host]
        model = "second"
        [roles.repair]
        model = "ollama:qwen3"
        [roles.applications."LibreOffice Calc"]
        model = "openai:gpt-5"
    "#;

    #[test]
    fn each_role_has_its_models_and_their_backups_once() {
        let team = Team::of(&loaded(TEAM, Overrides::default()).unwrap().config).unwrap();
        let roles = &team.roles;
        assert_eq!(roles.all, ["model", "second", "third", "ollama:qwen3"]);
        assert_eq!(roles.host, ["second", "third", "model", "ollama:qwen3"]);
        assert_eq!(roles.repair, ["ollama:qwen3", "model", "second", "third"]);
        assert_eq!(roles.applications["libreoffice calc"][0], "openai:gpt-5");
        assert!(roles.app.is_empty() && roles.evaluation.is_empty() && roles.agents.is_empty());
        let others: Vec<&str> = team.others.keys().map(String::as_str).collect();
        assert_eq!(others, ["ollama:qwen3", "openai:gpt-5", "second", "third"]);
    }

    #[test]
    fn a_model_for_one_run_holds_for_all_roles() {
        let config = loaded(TEAM, Overrides::default().model("third", "the flag --model")).unwrap().config;
        assert_eq!(config.model.model.as_deref(), Some("gemini-2.5-flash"));
        let team = Team::of(&config).unwrap();
        assert!(team.roles.host.is_empty() && team.roles.applications.is_empty());
    }

    #[test]
    fn a_model_that_does_not_exist_is_an_error_with_its_key() {
        let wrong = |text: &str| {
            let error = loaded(&format!("{TEAM}\n{text}"), Overrides::default()).unwrap_err();
            format!("{error}: {}", error.help())
        };
        let said = wrong("[roles.app]\nmodel = \"secnd\"");
        assert_eq!(
            said,
            "`roles.app.model` cannot be used: there is no model `secnd`: did you mean `second`?"
        );
        let said = wrong("[models.fourth]\nbackups = [\"nobody\"]\n[roles.agents.shell]\nmodel = \"fourth\"");
        assert!(
            said.starts_with("`roles.agents.shell.model` cannot be used: there is no model `nobody`"),
            "{said}"
        );
    }
}

//! The models of a configuration by role, with their backups.

use std::collections::BTreeMap;

use deskhand_machine::session::{ModelChain, ModelRoles};
use serde::{Deserialize, Serialize};

use super::{
    ComputerUseSetting, ConfigError, ModelSettings, Provider, SmallSetting, roles::RoleSetting,
    settings::Config,
};

/// Models besides the usual one, and which of all answer whom. Empty where the usual one answers everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelTeamSettings {
    /// By the names that [`ModelTeamSettings::roles`] gives them.
    pub(crate) others: BTreeMap<String, ModelSettings>,
    /// Which of them answer whom. What the names mean at their endpoints is not filled in.
    pub(crate) roles: ModelRoles,
}

impl ModelTeamSettings {
    /// The name of the usual model. No specification is like it.
    pub(crate) const USUAL: &str = "model";

    /// Returns `true` if the usual model answers everything, in the usual way.
    pub(crate) fn is_alone(&self) -> bool {
        self.others.is_empty() && self.roles.is_empty()
    }

    /// The models that a configuration names.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] with the key whose model does not exist.
    pub(crate) fn of(config: &Config) -> Result<Self, ConfigError> {
        let mut team = Self::default();
        let mut all = vec![Self::USUAL.to_owned()];
        team.add_backups(config, &config.model, "model.backups", &mut all)?;
        let mut chain = |key: &str, model: &Option<String>| team.chain(config, key, model.as_deref(), &all);
        let roles = &config.roles;
        let (host, app) =
            (chain("roles.host.model", &roles.host.model)?, chain("roles.app.model", &roles.app.model)?);
        let evaluation = chain("roles.evaluation.model", &roles.evaluation.model)?;
        let repair = chain("roles.repair.model", &roles.repair.model)?;
        let mut of_group =
            |group: &str, settings: &BTreeMap<String, RoleSetting>, name_of: fn(&str) -> String| {
                let named = settings.iter().filter(|(_, role)| role.model.is_some());
                let chains = named.map(|(name, role)| {
                    Ok((name_of(name), chain(&format!("roles.{group}.{name}.model"), &role.model)?))
                });
                chains.collect::<Result<BTreeMap<_, _>, ConfigError>>()
            };
        let applications = of_group("applications", &roles.applications, str::to_lowercase)?;
        let agents = of_group("agents", &roles.agents, str::to_owned)?;
        let (operators, small) = (team.operators(config)?, team.small(config)?);
        if !team.is_alone() || !operators.is_empty() || !small.is_empty() {
            let names = BTreeMap::new();
            team.roles = ModelRoles {
                names,
                all,
                host,
                app,
                evaluation,
                repair,
                applications,
                agents,
                operators,
                small,
            };
        }
        Ok(team)
    }

    /// Every model with its name: the usual one first.
    fn named<'a>(&'a self, config: &'a Config) -> impl Iterator<Item = (&'a str, &'a ModelSettings)> {
        let others = self.others.iter().map(|(name, settings)| (name.as_str(), settings));
        std::iter::once((Self::USUAL, &config.model)).chain(others)
    }

    /// The names of the models that are operators.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] with one that cannot be one.
    fn operators(&self, config: &Config) -> Result<Vec<String>, ConfigError> {
        let mut operators = Vec::new();
        let all = self.named(config);
        for (name, settings) in all.filter(|(_, settings)| settings.computer_use != ComputerUseSetting::Off) {
            if let Some((problem, fix)) = settings.computer_use.lack(settings, config.view.pictures) {
                let (problem, fix) = (problem.to_owned(), fix.to_owned());
                return Err(ConfigError::Unfit { key: key_of(config, name, "computer_use"), problem, fix });
            }
            operators.push(name.to_owned());
        }
        Ok(operators)
    }

    /// The names of the models that are asked in the small-model mode.
    ///
    /// # Errors
    /// [`ConfigError::Unfit`] with one that is an operator.
    fn small(&self, config: &Config) -> Result<Vec<String>, ConfigError> {
        let is_small = |settings: &ModelSettings| match settings.small {
            SmallSetting::Auto => {
                settings.provider == Some(Provider::Local) && settings.computer_use == ComputerUseSetting::Off
            }
            SmallSetting::On => true,
            SmallSetting::Off => false,
        };
        let all = self.named(config);
        all.filter(|(_, settings)| is_small(settings))
            .map(|(name, settings)| {
                if settings.computer_use == ComputerUseSetting::Off {
                    return Ok(name.to_owned());
                }
                Err(ConfigError::Unfit {
                    key: key_of(config, name, "small"),
                    problem: "an operator works in pictures, and the small-model mode shows none".to_owned(),
                    fix: "set `small = \"off\"` or `computer_use = \"off\"`".to_owned(),
                })
            })
            .collect()
    }

    /// The models for a role: its own with their backups, then the usual ones. Empty if it has none of its own.
    fn chain(
        &mut self,
        config: &Config,
        key: &str,
        model: Option<&str>,
        all: &ModelChain,
    ) -> Result<ModelChain, ConfigError> {
        let mut chain = ModelChain::new();
        if let Some(spec) = model {
            self.add(config, key, spec, &mut chain)?;
            // What is wrong with a special model may be right with the usual one.
            let usual: ModelChain = all.iter().filter(|name| !chain.contains(name)).cloned().collect();
            chain.extend(usual);
        }
        Ok(chain)
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
        settings.backups.iter().try_for_each(|spec| self.add(config, key, spec, chain))
    }
}

/// The key of a setting of a model, which a specification takes from the usual one.
fn key_of(config: &Config, name: &str, setting: &str) -> String {
    if config.models.contains_key(name) {
        format!("models.{name}.{setting}")
    } else {
        format!("model.{setting}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, tests::load_with};

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
        let team =
            ModelTeamSettings::of(&load_with(TEAM, &[], Overrides::default()).unwrap().config).unwrap();
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
    fn operators_are_named_and_must_see_and_be_spoken_to() {
        const ONE: &str = "[model]\nprovider = \"openai\"\nmodel = \"m\"\n[models.eyes]\nmodel = \"e\"\n";
        let of = |more: &str| {
            let loaded = load_with(&format!("{ONE}{more}"), &[], Overrides::default()).unwrap();
            ModelTeamSettings::of(&loaded.config)
        };
        let eyes = "provider = \"anthropic\"\ncomputer_use = \"anthropic\"\n";
        let app = "[roles.app]\nmodel = \"eyes\"\n";
        let team = of(&format!("{eyes}{app}")).unwrap();
        assert_eq!(team.roles.operators, ["eyes"]);
        assert_eq!(team.roles.app, ["eyes", "model"]);
        // One that nobody uses is none.
        assert!(of(eyes).unwrap().roles.is_empty());
        let wrong = |more: &str| load_with(&format!("{ONE}{more}"), &[], Overrides::default()).unwrap_err();
        let said = wrong(&format!("provider = \"openai\"\ncomputer_use = \"openai\"\n{app}"));
        let key = "`models.eyes.computer_use` cannot be used";
        assert!(
            said.starts_with(&format!("{key}: its provider does not speak that protocol\nhelp: ")),
            "{said}"
        );
        let said = wrong(&format!("{eyes}vision = false\n{app}"));
        assert!(said.starts_with(&format!("{key}: it is sent no pictures\nhelp: ")), "{said}");
        // The only model of a session may be one.
        let alone = load_with(
            "[model]\nprovider = \"ollama\"\nmodel = \"m\"\ncomputer_use = \"json\"",
            &[],
            Overrides::default(),
        );
        let team = ModelTeamSettings::of(&alone.unwrap().config).unwrap();
        assert_eq!(
            (team.roles.operators.as_slice(), team.roles.all.as_slice()),
            (&["model".to_owned()][..], &["model".to_owned()][..])
        );
        assert!(!team.is_alone());
    }

    #[test]
    fn a_model_for_one_run_holds_for_all_roles() {
        let config =
            load_with(TEAM, &[], Overrides::default().model("third", "the flag --model")).unwrap().config;
        assert_eq!(config.model.model.as_deref(), Some("gemini-2.5-flash"));
        let team = ModelTeamSettings::of(&config).unwrap();
        assert!(team.roles.host.is_empty() && team.roles.applications.is_empty());
    }

    #[test]
    fn a_model_that_does_not_exist_is_an_error_with_its_key() {
        let wrong =
            |text: &str| load_with(&format!("{TEAM}\n{text}"), &[], Overrides::default()).unwrap_err();
        let said = wrong("[roles.app]\nmodel = \"secnd\"");
        assert_eq!(
            said,
            "`roles.app.model` cannot be used: there is no model `secnd`\nhelp: did you mean `second`?"
        );
        let said = wrong("[models.fourth]\nbackups = [\"nobody\"]\n[roles.agents.shell]\nmodel = \"fourth\"");
        assert!(
            said.starts_with("`roles.agents.shell.model` cannot be used: there is no model `nobody`"),
            "{said}"
        );
    }
}

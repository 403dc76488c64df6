//! Checks the words of policy rules: a rule with a misspelt name would match nothing, and nobody would notice.

use deskhand_desktop_act::ActLimits;
use deskhand_desktop_linux::LinuxDesktop;
use deskhand_machine::{
    intent::Does,
    known_tools::{DELEGATE, RUN_COMMAND, RUN_WORKFLOW},
};
use deskhand_runtime::Toolbox;
use deskhand_ui::{pattern::matches, suggest::nearest};

use super::{ConfigError, policy::RuleSettings, settings::Config};

/// Possible origins of a value.
const ORIGINS: [&str; 3] = ["user", "outside", "model"];
/// The agent that is always there.
const SHELL: &str = "shell";

/// Checks the tools, acts, origins and agents that rules name.
///
/// # Errors
/// [`ConfigError::Unfit`] with the rule, the word, and the name that it is most like.
pub(super) fn check_rules(config: &Config) -> Result<(), ConfigError> {
    if config.policy.rules.is_empty() {
        return Ok(());
    }
    let tools = tools();
    let acts: Vec<String> = Does::ALL.iter().map(|does| does.word().to_owned()).collect();
    let origins: Vec<String> = ORIGINS.map(str::to_owned).to_vec();
    let named = config.agents.programs.keys().chain(config.agents.machines.keys());
    let mut agents: Vec<String> = named.cloned().collect();
    agents.push(SHELL.to_owned());
    for (number, rule) in (1..).zip(&config.policy.rules) {
        let check = |key: &str, pattern: &str, known: &[String], strict: bool| {
            unknown(pattern, known).map_or(Ok(()), |word| refuse((number, rule), (key, word), known, strict))
        };
        // A tool that a program adds to those of Deskhand is known to that program alone.
        check("tool", &rule.tool, &tools, /*strict*/ false)?;
        check("does", &rule.does, &acts, /*strict*/ true)?;
        check("from", &rule.from, &origins, /*strict*/ true)?;
        if rule.tool.trim() == DELEGATE {
            check("label", &rule.label, &agents, /*strict*/ true)?;
        }
    }
    Ok(())
}

/// The tools of agents that this version has.
fn tools() -> Vec<String> {
    let standard = Toolbox::<LinuxDesktop>::standard(ActLimits::default());
    let specs = standard.map(|tools| [tools.host_specs(), tools.app_specs()].concat()).unwrap_or_default();
    let mut names: Vec<String> = specs.into_iter().map(|spec| spec.name).collect();
    names.extend([DELEGATE, RUN_COMMAND, RUN_WORKFLOW].map(str::to_owned));
    names
}

/// The first alternative of a pattern that matches no known name.
fn unknown<'a>(pattern: &'a str, known: &[String]) -> Option<&'a str> {
    let mut words = pattern.split('|').map(str::trim);
    words.find(|word| !known.iter().any(|name| matches(word, name)))
}

fn refuse(
    (number, rule): (usize, &RuleSettings),
    (key, word): (&str, &str),
    known: &[String],
    strict: bool,
) -> Result<(), ConfigError> {
    let meant = nearest(word, known.iter().map(String::as_str));
    let reason =
        if rule.reason.is_empty() { String::new() } else { format!(" (\u{201c}{}\u{201d})", rule.reason) };
    let problem = format!(
        "rule {number}{reason} names `{word}`, which is no {key} that Deskhand knows, so it would never match"
    );
    if meant.is_none() && !strict {
        tracing::warn!("policy.rules: {problem}");
        return Ok(());
    }
    let fix = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("use one of {}", known.join(", ")),
    };
    Err(ConfigError::Unfit { key: format!("policy.rules[{}].{key}", number - 1), problem, fix })
}

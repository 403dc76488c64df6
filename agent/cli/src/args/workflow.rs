//! Arguments of the commands for workflows.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Arg, Args, Command, FromArgMatches as _, Subcommand, ValueHint};
use deskhand_host::config::Overrides;

use super::{
    settings::StoreArgs,
    trust::TrustArgs,
    work::{StageArgs, WorkArgs},
};

const LEARN_EXAMPLES: &str = "\
What stands in the request and was typed becomes a parameter. What was read and used is read again. Steps that
were done for each row of a table are repeated for its rows. You are asked where it is unsure.

Examples:
  deskhand learn last                          learn from the last session
  deskhand learn last --name quarterly-chart   give it a name
  deskhand do quarterly-chart --quarter Q3     and do it again, without a model";

/// Learn a workflow from a finished session.
#[derive(Debug, Args)]
#[command(after_help = LEARN_EXAMPLES)]
pub(crate) struct LearnArgs {
    /// Session: its id, the start or end of it, or `last`.
    pub(crate) session: String,
    /// Request of the session, from 1 [default: the last one that was finished].
    #[arg(long, value_name = "NUMBER")]
    pub(crate) request: Option<u32>,
    #[command(flatten)]
    pub(crate) draft: DraftArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// Options for saving the draft of a workflow.
#[derive(Debug, Args)]
pub(crate) struct DraftArgs {
    /// Name of the workflow [default: the first words of the request].
    #[arg(long, short)]
    pub(crate) name: Option<String>,
    /// Make a parameter of everything that may be one, without asking.
    #[arg(long, conflicts_with = "no")]
    pub(crate) yes: bool,
    /// Make a parameter only of what is sure, without asking.
    #[arg(long)]
    pub(crate) no: bool,
    /// Replace a workflow of this name.
    #[arg(long)]
    pub(crate) force: bool,
}

const RECORD_EXAMPLES: &str = "\
Work as usual: clicks, menus, fields, texts and keys become steps. The key Pause pauses and goes on. Ctrl-C in this
terminal ends it. Passwords are never kept, nor texts that no application shows. What is done in this
terminal is not recorded.

Examples:
  deskhand record \"Send the order of Acme\" --name order       show it on this desktop
  deskhand record \"Chart sales.ods\" --open sales.ods         with a document that changes the next time
  deskhand record \"Fill in the form\" --desktop virtual       on a desktop of its own, for another program
  deskhand do order --name Globex                             and do it again, without a model";

/// Watch a person do something, and make a workflow of it.
#[derive(Debug, Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub(crate) struct RecordArgs {
    /// Description of the demonstration, in a sentence. Typed text that occurs in it becomes a parameter.
    pub(crate) request: String,
    #[command(flatten)]
    pub(crate) draft: DraftArgs,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}

const DO_EXAMPLES: &str = "\
Options of this command can stand anywhere. One that has the name of a parameter stands before the name of the workflow.

Examples:
  deskhand do quarterly-chart --quarter Q3 --document sales.ods
  deskhand do quarterly-chart --quarter Q3 --heal auto     ask a model about a step that cannot be done
  deskhand do ./workflows/order.toml --customer Acme       a file, such as one of a repository
  deskhand do --trust order.toml --customer Acme           one that you have read and trust

A workflow that you have neither learnt nor recorded here, or that was changed since, shows what it does and asks before
it begins. Without a terminal it does not begin, unless --trust says that you trust it.

Exit codes: as of `deskhand run`.";

/// Run a workflow, without a model.
#[derive(Debug, Args)]
#[command(after_help = DO_EXAMPLES)]
pub(crate) struct DoArgs {
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// Handling of a step that cannot be done as written: stop, ask a model and you, or ask a model.
    #[arg(long, value_name = "HOW", value_parser = ["off", "ask", "auto"])]
    heal: Option<String>,
    /// Save a picture of the screen at the end.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) screenshot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    /// Workflow: its name or file.
    pub(crate) workflow: String,
    /// Parameters, as --NAME VALUE or --NAME=VALUE.
    #[arg(value_name = "--PARAMETER VALUE", trailing_var_arg = true, allow_hyphen_values = true)]
    parameters: Vec<String>,
}

impl DoArgs {
    /// The settings that these flags stand for.
    pub(crate) fn overrides(&self) -> Overrides {
        self.work.overrides().set_if("workflows.heal", self.heal.clone(), "--heal")
    }

    /// The same arguments, told apart by the names of the parameters: after the name of the workflow, what is called like a parameter is
    /// one, and other options of this command are options.
    ///
    /// # Errors
    /// An option is used wrongly.
    pub(crate) fn told_apart(&self, names: &[&str]) -> Result<Self, String> {
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let words: Vec<String> = words.skip_while(|word| word != "do").skip(1).collect();
        Self::of_words(&words, names)
    }

    /// The arguments of these words.
    fn of_words(words: &[String], names: &[&str]) -> Result<Self, String> {
        let command = Self::augment_args(Command::new("do").no_binary_name(true).disable_help_flag(true));
        let mut words = words.iter().cloned();
        let (mut options, mut parameters, mut workflow) = (Vec::new(), Vec::new(), None);
        while let Some(word) = words.next() {
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            let is_parameter = workflow.is_some() && names.contains(&name.replace('-', "_").as_str());
            let option = option_of(&command, &word).filter(|_| !is_parameter);
            let takes_value = option.map_or(workflow.is_some(), |option| option.get_action().takes_values());
            let stands_apart = match word.starts_with("--") {
                true => !word.contains('='),
                false => is_short(&word) && word.chars().count() == 2,
            };
            let value = if takes_value && stands_apart { words.next() } else { None };
            match (option, &workflow) {
                (Some(_), _) => options.extend([Some(word), value].into_iter().flatten()),
                (None, None) if word.starts_with('-') => options.push(word),
                (None, None) => workflow = Some(word),
                (None, Some(_)) => parameters.extend([Some(word), value].into_iter().flatten()),
            }
        }
        options.extend(workflow);
        let parsed = command.try_get_matches_from(options).and_then(|found| Self::from_arg_matches(&found));
        let parsed = parsed.map_err(|error| {
            let text = error.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })?;
        Ok(Self { parameters, ..parsed })
    }

    /// The parameters by name.
    ///
    /// # Errors
    /// A word is no `--NAME`, or its value is missing.
    pub(crate) fn parameters(&self) -> Result<BTreeMap<String, String>, String> {
        let mut values = BTreeMap::new();
        let mut words = self.parameters.iter();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| format!("`{word}` is no parameter; give it as --NAME VALUE"))?;
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => {
                    let value = words.next().ok_or_else(|| format!("the parameter `{name}` has no value"))?;
                    (name, value.clone())
                }
            };
            values.insert(name.replace('-', "_"), value);
        }
        Ok(values)
    }
}

/// Returns `true` if a word is short options: `-q`, `-vv`.
fn is_short(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.len() > 1
}

/// The option that a word is, among those of a command.
fn option_of<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let long = word.strip_prefix("--").map(|word| word.split('=').next().unwrap_or_default());
    let short = word.strip_prefix('-').filter(|_| is_short(word)).and_then(|word| word.chars().next());
    command.get_arguments().find(|option| {
        (long.is_some() && option.get_long() == long) || (short.is_some() && option.get_short() == short)
    })
}

/// Look at workflows and change them.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    #[command(subcommand)]
    pub(crate) command: WorkflowCommand,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List the workflows with their parameters.
    List,
    /// Show the file of a workflow.
    Show {
        /// Name or file.
        name: String,
    },
    /// Open the file of a workflow in your editor, and check it.
    Edit {
        /// Name or file.
        name: String,
    },
    /// Check the file of a workflow without running it.
    Test {
        /// Name or file.
        name: String,
    },
    /// Show what a workflow does, and trust it until it changes.
    Trust {
        /// Name or file.
        name: String,
    },
    /// Show what the last run proposes to change.
    Diff {
        /// Name or file.
        name: String,
    },
    /// Take over what the last run proposes.
    Accept {
        /// Name or file.
        name: String,
    },
    /// Drop what the last run proposes.
    Discard {
        /// Name or file.
        name: String,
    },
    /// Write a workflow to a file.
    Export {
        /// Name or file.
        name: String,
        /// The file, or - for standard output.
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_parameters_are_told_apart() {
        let check =
            |line: &str, names: &[&str], heal: Option<&str>, quiet: bool, parameters: &[(&str, &str)]| {
                let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
                let parsed =
                    DoArgs::of_words(&words, names).unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!((parsed.workflow.as_str(), parsed.heal.as_deref()), ("order", heal), "{line}");
                assert_eq!(parsed.work.output.quiet, quiet, "{line}");
                let given = parsed.parameters().unwrap();
                let given: Vec<_> =
                    given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                assert_eq!(given, parameters, "{line}");
            };
        check("order --buyer Acme --heal ask", &["buyer"], Some("ask"), false, &[("buyer", "Acme")]);
        check("--heal ask order --buyer Acme", &["buyer"], Some("ask"), false, &[("buyer", "Acme")]);
        check("order --heal=auto --buyer=Acme -q", &["buyer"], Some("auto"), true, &[("buyer", "Acme")]);
        check("-q order --buyer -q --heal off", &["buyer"], Some("off"), true, &[("buyer", "-q")]);
        // A parameter of the same name is meant after the name, and the option before it.
        check("--heal ask order --heal all", &["heal"], Some("ask"), false, &[("heal", "all")]);
        check("order --heal-all x", &["heal_all"], None, false, &[("heal_all", "x")]);
        // The workflow says what is neither.
        check("order --colour red", &["buyer"], None, false, &[("colour", "red")]);
        let wrong = DoArgs::of_words(&["order".to_owned(), "--heal".to_owned(), "never".to_owned()], &[]);
        assert!(wrong.unwrap_err().contains("never"));
        let alone = DoArgs::of_words(&["order".to_owned(), "Acme".to_owned()], &["buyer"]).unwrap();
        assert!(alone.parameters().unwrap_err().contains("`Acme` is no parameter"));
    }
}

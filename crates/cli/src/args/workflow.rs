//! Arguments of the commands for workflows.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Args, Subcommand, ValueHint};
use deskhand_host::config::Overrides;

use super::{
    settings::StoreArgs,
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

/// What becomes of the draft of a workflow.
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
terminal ends it. Passwords are never kept, nor texts that no application shows. This terminal is no part of it.

Examples:
  deskhand record \"Send the order of Acme\" --name order       show it on this desktop
  deskhand record \"Chart sales.ods\" --open sales.ods         with a document that changes the next time
  deskhand record \"Fill in the form\" --desktop virtual       on a desktop of its own, for another program
  deskhand do order --name Globex                             and do it again, without a model";

/// Watch a person do something, and make a workflow of it.
#[derive(Debug, Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub(crate) struct RecordArgs {
    /// What is shown, in a sentence. What is typed and stands in it becomes a parameter.
    pub(crate) request: String,
    #[command(flatten)]
    pub(crate) draft: DraftArgs,
    #[command(flatten)]
    pub(crate) stage: StageArgs,
}

const DO_EXAMPLES: &str = "\
Options of this command stand before the parameters of the workflow.

Examples:
  deskhand do quarterly-chart --quarter Q3 --document sales.ods
  deskhand do --heal auto quarterly-chart --quarter Q3     ask a model about a step that cannot be done
  deskhand do ./workflows/order.toml --customer Acme       a file, such as one of a repository

Exit codes: as of `deskhand run`.";

/// Run a workflow, without a model.
#[derive(Debug, Args)]
#[command(after_help = DO_EXAMPLES)]
pub(crate) struct DoArgs {
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// What is done about a step that cannot be done as it is written: stop, ask a model and you, or ask a model.
    #[arg(long, value_name = "HOW", value_parser = ["off", "ask", "auto"])]
    heal: Option<String>,
    /// Save a picture of the screen at the end.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) screenshot: Option<PathBuf>,
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

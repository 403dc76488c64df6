//! Arguments of the commands for what agents look up.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

const KNOWLEDGE_EXAMPLES: &str = "\
Agents look into the index of help before they work on something, if it has anything. The search engine of the
configuration (`knowledge.engine`) and earlier sessions are asked as well.

Examples:
  deskhand knowledge add --app calc              the help of LibreOffice Calc on this machine
  deskhand knowledge add --app gedit             Mallard help, documents and man page of gedit
  deskhand knowledge add handbook.pdf wiki/      files and folders of your own
  deskhand knowledge search --app libreoffice-calc \"freeze the first row\"";

/// Add help that agents look up, and see what they would find.
#[derive(Debug, Args)]
#[command(after_help = KNOWLEDGE_EXAMPLES)]
pub(crate) struct KnowledgeArgs {
    #[command(subcommand)]
    pub(crate) command: KnowledgeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KnowledgeCommand {
    /// Put help into the index: files, folders, or what this machine has about an application.
    Add(KnowledgeAddArgs),
    /// Take help out of the index.
    Remove {
        /// The file or folder, as `list` names it.
        #[arg(value_hint = ValueHint::AnyPath)]
        path: PathBuf,
    },
    /// List what is in the index.
    List {
        /// Print one line of JSON per source.
        #[arg(long)]
        json: bool,
    },
    /// Show what an agent would get for a request or sub-task.
    Search(KnowledgeSearchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct KnowledgeAddArgs {
    /// Files (HTML, markdown, text, PDF, man pages, Mallard, DocBook, office documents) and folders of them.
    #[arg(required_unless_present = "app", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Application that they are about; without a path, what this machine has about it. Use the short name that
    /// `deskhand windows` prints, such as `libreoffice-calc`, for it to be found first in that application.
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Language of the help, such as de or pt_BR [default: that of this process].
    #[arg(long, value_name = "LOCALE")]
    pub(crate) language: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct KnowledgeSearchArgs {
    /// The request or sub-task.
    pub(crate) wanted: String,
    /// Application of the agent, by its short name; without it, the HostAgent asks.
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// Print the hits as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPERIENCE_EXAMPLES: &str = "\
A request that was evaluated (`evaluation.enabled`) becomes an experience: its plan, what worked, what failed and
why. Agents that are asked for something like it are shown it. Old ones and those that keep failing are forgotten.

Examples:
  deskhand experience list
  deskhand experience show 01a21a61-ed85-72e6-b458-e5ec0c572b86-1
  deskhand experience forget --app libreoffice-calc";

/// Look at what earlier sessions taught, or forget it.
#[derive(Debug, Args)]
#[command(after_help = EXPERIENCE_EXAMPLES)]
pub(crate) struct ExperienceArgs {
    #[command(subcommand)]
    pub(crate) command: ExperienceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExperienceCommand {
    /// List the experiences, newest first.
    List {
        /// Print one line of JSON per experience.
        #[arg(long)]
        json: bool,
    },
    /// Show an experience as agents see it.
    Show {
        /// Its id, or the start of it.
        id: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Forget experiences.
    Forget(ForgetArgs),
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ForgetArgs {
    /// Id of the experience.
    pub(crate) id: Option<String>,
    /// All about this application.
    #[arg(long, value_name = "NAME")]
    pub(crate) app: Option<String>,
    /// All that were neither made nor used for so many days.
    #[arg(long, value_name = "DAYS")]
    pub(crate) older_than: Option<u64>,
}
